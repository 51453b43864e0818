// A few of what `npm run test:mutations` does a thousand of.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newestEtcd } from './harness/etcd-binaries.ts';
import { kinds } from './mutations/mutate.ts';
import { runMutations, total } from './mutations/run.ts';
import { takeSpecimen } from './mutations/specimen.ts';

/** Every kind of damage, with the trailer made right and as it was. */
const COUNT = 2 * kinds.length;

test('mutated snapshots: each is refused, or an etcd on it has the same data', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'mutations-'));
  const tally = await runMutations(COUNT, 4, [await takeSpecimen(newestEtcd().minor, directory)]);
  await rm(directory, { recursive: true });

  expect(tally.mistakes).toEqual([]);
  expect(total(tally)).toBe(COUNT);
  const { HashKV = 0, structure = 0, 'proven equal': equal = 0 } = Object.fromEntries(tally.verdicts);
  expect(Math.min(HashKV, structure, equal)).toBeGreaterThan(0);
});
