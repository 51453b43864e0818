import type { Entry } from '../../backup/catalog/catalog.ts';
import { everySeen, servedIn } from './served-revisions.ts';

/** A snapshot of this hour with this revision. */
const backup = (id: string, content: object, hour = 0) =>
  ({
    id,
    objects: [],
    manifest: {
      createdAt: new Date(hour * 3_600_000).toISOString(),
      content,
      source: { clusterId: 'c0' },
      cluster: {},
    },
  }) as unknown as Entry;

test('the revision of a backup with and without a hash counts, and the time of the newest one', () => {
  const entries = [backup('a', { hashKV: { revision: 7 } }), backup('b', { revision: 9 }, 2), backup('c', {}, 1)];
  expect(servedIn(entries)).toEqual({
    inStore: [
      { revision: 7, where: 'the backup a', clusterId: 'c0' },
      { revision: 9, where: 'the backup b', clusterId: 'c0' },
    ],
    newest: { id: 'b', time: 2 * 3_600_000 },
  });
});

test('a backup whose manifest cannot be read counts for nothing', () => {
  const unread = { ...backup('b', {}), manifest: undefined, state: 'unreachable' } as unknown as Entry;
  expect(servedIn([unread])).toEqual({ inStore: [], newest: undefined });
});

test('revisions and times that cannot be true do not count', () => {
  const lie = backup('lie', { revision: Number.MAX_SAFE_INTEGER }, 8e7);
  expect(servedIn([lie, backup('a', { revision: 7 })])).toMatchObject({
    inStore: [{ revision: 7 }],
    newest: { id: 'a' },
  });
  const here = [
    { revision: 9.2e18, where: 'etcd at https://x' },
    { revision: 2 ** 52 + 5e8, where: 'the data' },
  ];
  // A revision above the highest one that is believed of a store is accepted from etcd itself.
  expect(everySeen({ inStore: [], here, notes: [], own: [] })).toEqual([here[1]]);
});

test('the beginnings of restored clusters count, by notes and by this node', () => {
  const notes = [
    { id: 'a', clusterId: 'c1', revision: 5 },
    { id: 'b', clusterId: 'c2' },
  ];
  const own = [{ id: 'c', clusterId: 'c3', revision: 6, bump: 1, token: 't', hasServed: true }];
  expect(everySeen({ inStore: [], here: [], notes, own }).map(({ revision }) => revision)).toEqual([5, 6]);
});
