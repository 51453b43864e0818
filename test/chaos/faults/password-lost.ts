import type { Fault } from '../fault';

export const passwordLost: Fault = () => ({
  what: 'the password of a user removed from its Secret',
  run: ({ passwords }) => passwords.lose(),
});
