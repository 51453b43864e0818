import { SftpPlace } from '../faults/sftp-place.ts';
import { legacySshd, Sshd } from '../harness/sshd.ts';
import { storeMatrix } from './store-matrix.ts';

storeMatrix<SftpPlace>(
  {
    name: 'SFTP (legacy algorithms)',
    async start() {
      const server = await Sshd.start(legacySshd);
      return {
        make: () => SftpPlace.on(server, { legacyAlgorithms: true }),
        network: { endpointOf: () => server.endpoint, through: (place, endpoint) => place.through(endpoint) },
        [Symbol.asyncDispose]: () => server.stop(),
      };
    },
  },
  0,
);
