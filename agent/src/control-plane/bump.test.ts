import type { Entry } from '../backup/catalog.ts';
import { bumpOf } from './bump.ts';

const at = (revision?: number) =>
  ({ manifest: { content: revision === undefined ? {} : { hashKV: { revision } } } }) as unknown as Entry;

test.each<[string, Entry[], number]>([
  ['no snapshot tells a revision', [at(), { id: 'broken' } as unknown as Entry], 1e9],
  ['nothing was restored yet', [at(7), at(999_999_999)], 1e9],
  ['a later snapshot is of a restored cluster', [at(7), at(1_000_000_009)], 2e9],
  ['it was restored twice', [at(2_000_000_009), at(1_000_000_009)], 3e9],
])('the revision jumps beyond all that is known: %s', (_, entries, expected) => {
  expect(bumpOf(entries)).toBe(expected);
});
