import { BucketPlace } from '../faults/bucket-place.ts';
import { Versitygw } from '../harness/versitygw.ts';
import { storeMatrix } from './store-matrix.ts';

storeMatrix<BucketPlace>(
  {
    name: 'S3 (versitygw)',
    async start() {
      const server = await Versitygw.start();
      return {
        make: () => BucketPlace.make(server),
        network: { endpointOf: () => server.endpoint, through: (place, endpoint) => place.through(endpoint) },
        [Symbol.asyncDispose]: () => server.stop(),
      };
    },
  },
  5,
);
