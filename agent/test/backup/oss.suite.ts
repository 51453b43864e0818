import { OssPlace } from '../faults/oss-place.ts';
import { storeMatrix } from './store-matrix.ts';

storeMatrix(
  {
    name: 'OSS (a strict stub)',
    start: async () => ({
      make: () => OssPlace.make(),
      network: {
        endpointOf: (place) => place.stub.endpoint,
        through: (place, endpoint) => place.through(endpoint),
      },
      [Symbol.asyncDispose]: async () => {},
    }),
  },
  1,
);
