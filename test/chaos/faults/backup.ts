import type { Fault } from '../fault';

export const backup: Fault = (draw) => {
  const nightly = draw.oneIn(2);
  return {
    what: nightly ? 'a nightly backup' : 'a backup on demand',
    run: ({ backups }) => (nightly ? backups.nightly() : backups.onDemand()),
  };
};
