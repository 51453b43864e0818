import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { quotaNotes } from './free-space.ts';

test.each([
  [10, 9, 0],
  [10, 9.6, 1],
  [10, 10, 1],
  [10, 11, 1],
  [undefined, 100, 0],
])('an etcd with a quota of %s GiB for a database of %s GiB: %s notes', (quota, gibibytes, count) => {
  const content = { sizeBytes: gibibytes * 1024 ** 3 + 32 } as SnapshotManifest['content'];
  const notes = quotaNotes(quota === undefined ? {} : { quota: quota * 1024 ** 3 }, { id: 'a', content });
  expect(notes).toHaveLength(count);
  for (const note of notes) expect(note).toMatch(/^the database in a has \d+ MiB, and the quota .* is 10240 MiB/);
});
