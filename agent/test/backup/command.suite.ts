import { CommandPlace } from '../faults/command-place.ts';
import { Sshd } from '../harness/sshd.ts';
import { storeMatrix } from './store-matrix.ts';

storeMatrix<CommandPlace>(
  {
    name: 'a command (sh scripts that use ssh)',
    // Each call is a process with a connection of its own, and none depends on the version of etcd.
    isSlow: true,
    async start() {
      const server = await Sshd.start();
      return {
        make: () => CommandPlace.on(server),
        network: {
          endpointOf: () => server.endpoint,
          through: (place, endpoint) => place.through(Number(new URL(endpoint).port)),
        },
        [Symbol.asyncDispose]: () => server.stop(),
      };
    },
  },
  2,
);
