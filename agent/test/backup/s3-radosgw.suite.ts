import { BucketPlace } from '../faults/bucket-place.ts';
import { Radosgw } from '../harness/radosgw.ts';
import { storeMatrix } from './store-matrix.ts';

storeMatrix<BucketPlace>(
  {
    name: "S3 (Ceph's radosgw)",
    async start() {
      const server = await Radosgw.start();
      return {
        make: () => BucketPlace.make(server),
        network: { endpointOf: () => server.endpoint, through: (place, endpoint) => place.through(endpoint) },
        [Symbol.asyncDispose]: () => server.stop(),
      };
    },
  },
  4,
);
