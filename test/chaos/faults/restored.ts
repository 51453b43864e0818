import type { Fault } from '../fault';

export const restored: Fault = () => ({
  what: 'restored in place from the newest backup',
  run: (stage) => stage.backups.restore(),
});
