import { DirectoryPlace } from '../faults/directory-place.ts';
import { storeMatrix } from './store-matrix.ts';

storeMatrix(
  {
    name: 'a file system',
    start: async () => ({ make: () => DirectoryPlace.make(), [Symbol.asyncDispose]: async () => {} }),
  },
  0,
);
