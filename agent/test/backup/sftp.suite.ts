import { SftpPlace } from '../faults/sftp-place.ts';
import { Sshd } from '../harness/sshd.ts';
import { storeMatrix } from './store-matrix.ts';

storeMatrix<SftpPlace>(
  {
    name: 'SFTP',
    async start() {
      const server = await Sshd.start();
      return {
        make: () => SftpPlace.on(server),
        network: { endpointOf: () => server.endpoint, through: (place, endpoint) => place.through(endpoint) },
        [Symbol.asyncDispose]: () => server.stop(),
      };
    },
  },
  3,
);
