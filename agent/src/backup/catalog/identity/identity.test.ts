import { entryOf } from '../../../../test/support/entry-of.ts';
import { manifestOf } from '../../../../test/support/manifest-of.ts';
import { ExitCode } from '../../../lib/errors.ts';
import type { Finding } from '../../../lib/finding.ts';
import type { Entry } from '../catalog.ts';
import { newestVerified } from '../select.ts';
import { entriesAsked, linesOf, ownLine } from './identity.ts';

interface Changes {
  readonly lineage?: string[];
  readonly restoredAs?: string[];
  readonly namespace?: string;
  readonly name?: string;
  readonly verified?: false;
}

let count = 0;
/** Each one is newer than the one before. */
function snapshot(clusterId: string, { lineage, restoredAs = [], namespace, name = 'orders', verified }: Changes = {}) {
  count++;
  const id = `etcd-snapshot-20260101-000000-${String(count).padStart(6, '0')}`;
  const manifest = manifestOf(Buffer.alloc(64), undefined, {
    id,
    createdAt: new Date(Date.UTC(2026, 0, 1) + count * 1000).toISOString(),
    source: { clusterId },
    cluster: { name, ...(lineage && { lineage }), ...(namespace && { namespace }) },
    ...(verified === false && { verified: undefined }),
  });
  return entryOf(manifest, { restoredAs });
}

const newestFirst = (...entries: Entry[]) => entries.reverse();
const orders = { cluster: 'orders' };
const at = { now: new Date('2026-06-01T00:00:00Z') };
const newest = (entries: Entry[], wanted: Parameters<typeof newestVerified>[1] = orders) =>
  newestVerified(entries, wanted, 'the store', at).newest?.id;
const refused = (message: RegExp, finding?: Finding) =>
  expect.objectContaining({
    ...{ exitCode: ExitCode.refused, message: expect.stringMatching(message) },
    ...(finding && { finding }),
  });

test("another cluster's snapshots in the folder are never the newest and are not counted", () => {
  const [ours, staging, shop] = [
    snapshot('a'),
    snapshot('b', { namespace: 'staging' }),
    snapshot('a', { name: 'shop' }),
  ];
  const entries = newestFirst(ours, staging, shop);

  expect(newest(entries)).toBe(ours.id);
  expect(newest(entries, { ...orders, namespace: 'staging' })).toBe(staging.id);
  expect(ownLine(entries, orders, '', { isCandidate: () => true, isDated: () => true })?.entries).toEqual([ours]);
});

test('two etcds that no restore connects are listed and refused, unless a cluster id is given', () => {
  const [a, b, c] = [snapshot('a'), snapshot('b'), snapshot('a')];
  const entries = newestFirst(a, b, c);

  expect(() => newest(entries)).toThrow(
    refused(new RegExp(`2 etcd clusters named orders.*a \\(2, newest ${c.id}\\), b \\(1,[^;]*$`), {
      kind: 'severalEtcds',
      isApart: true,
    }),
  );
  expect(newest(entries, { ...orders, clusterId: 'b' })).toBe(b.id);
  expect(newest(entries, { ...orders, clusterId: 'c' })).toBeUndefined();
});

test.each([
  ['a note of the restore', snapshot('a', { restoredAs: ['b'] }), snapshot('b')],
  ['the lineage of a manifest', snapshot('a'), snapshot('b', { lineage: ['a'] })],
  ['a common past', snapshot('a', { lineage: ['z'] }), snapshot('b', { lineage: ['z'] })],
])('%s makes two cluster ids one line', (_name, before, after) => {
  expect(newest(newestFirst(before, after))).toBe(after.id);
});

test('the snapshot that connects two lines may be the last one', () => {
  const entries = newestFirst(snapshot('a', { restoredAs: ['c', 'b'] }), snapshot('b'), snapshot('c'));
  expect(linesOf(entries)).toHaveLength(1);
});

describe('an etcd that keeps running after another was restored from it', () => {
  const HOUR = 3600;
  const at_ = (clusterId: string, hours: number, changes: Changes = {}) => {
    count = hours * HOUR;
    return snapshot(clusterId, changes);
  };
  const noted = at_('d', 1, { restoredAs: ['r'] });
  const [r, d] = [at_('r', 2, { lineage: ['d'] }), at_('d', 3)];
  const of = (clusterId?: string) => ({ ...orders, clusterId });

  test.each([
    ['its lineage', at_('d', 1), r],
    ['the note alone', noted, at_('r', 2)],
  ])('is another one, by %s', (_, first, restored) => {
    const entries = newestFirst(first, restored, d);
    const both = new RegExp(
      `2 etcd clusters named orders, and one kept running after.*: d \\(2, newest ${d.id}\\), r \\(2, newest ${restored.id}\\)$`,
    );
    expect(() => newest(entries)).toThrow(refused(both, { kind: 'severalEtcds', isApart: false }));
    expect(newest(entries, of('r'))).toBe(restored.id);
    expect(newest(entries, of('d'))).toBe(d.id);
    const before = new Date(Date.parse(restored.manifest.createdAt) - 1);
    expect(newestVerified(entries, orders, '', { ...at, before }).newest?.id).toBe(first.id);
  });

  test('is the only line as long as the other has no snapshot', () => {
    expect(newest(newestFirst(noted, d))).toBe(d.id);
  });

  test('is not a line of its own if its last snapshot is within the clock allowance, unless its cluster id is given', () => {
    const late = at_('d', 2 + 1 / 60);
    const entries = newestFirst(noted, r, late);
    expect(newest(entries)).toBe(late.id);
    expect(newest(entries, of('r'))).toBe(r.id);
  });

  test('is not a line of its own if its snapshots are dated in the future', () => {
    const future = { ...d, manifest: { ...d.manifest, createdAt: '2027-01-01T00:00:00.000Z' } };
    expect(newest([future, r, noted])).toBe(r.id);
  });

  test('without a verified snapshot since, it is a line of its own only if it has the newest snapshot', () => {
    const bad = at_('d', 3, { verified: false });
    expect(() => newest(newestFirst(noted, r, bad))).toThrow(refused(/d \(1,/));
    const later = at_('r', 4, { lineage: ['d'] });
    expect(newest(newestFirst(noted, r, bad, later))).toBe(later.id);
  });

  test('restores in place, one after the other, stay one line, even if they use the same snapshot', () => {
    const chain = [noted, r, at_('s', 3, { lineage: ['r', 'd'] }), at_('t', 4, { lineage: ['d'] })];
    expect(linesOf(newestFirst(...chain))).toMatchObject([{ head: 't', entries: { length: 4 } }]);
  });

  test('the common past of two running etcds belongs to both lines', () => {
    const [s, later] = [at_('s', 4, { lineage: ['r', 'd'] }), at_('r', 5, { lineage: ['d'] })];
    const entries = newestFirst(noted, r, s, later);
    expect(newest(entries, of('d'))).toBe(noted.id);
    expect(newest(entries, of('s'))).toBe(s.id);
    expect(linesOf(entries).map((line) => line.entries.map(({ id }) => id))).toEqual([
      [s.id, r.id, noted.id],
      [later.id, r.id, noted.id],
    ]);
    expect(newest(newestFirst(noted, r, later))).toBe(later.id);
  });
});

test('a cluster id leads back to before a restore, not to what was restored from it', () => {
  const [first, a] = [snapshot('z', { restoredAs: ['a'] }), snapshot('a', { lineage: ['z'], restoredAs: ['b'] })];
  const [b, c] = [snapshot('b', { lineage: ['a', 'z'] }), snapshot('c', { lineage: ['a', 'z'] })];
  const entries = newestFirst(first, a, b, c);
  expect(newest(entries)).toBe(c.id);
  for (const [clusterId, ids] of Object.entries({ z: [first.id], a: [a.id, first.id], b: [b.id, a.id, first.id] })) {
    expect(newest(entries, { ...orders, clusterId })).toBe(ids[0]);
    expect(entriesAsked(entries, { ...orders, clusterId }).map(({ id }) => id)).toEqual(ids);
  }
});

test('an adopted snapshot, whose cluster is not known, belongs to every line', () => {
  const [adopted, a] = [snapshot('unknown'), snapshot('a')];
  expect(newest(newestFirst(a, adopted))).toBe(adopted.id);
  expect(newest(newestFirst(adopted))).toBe(adopted.id);
});

test('an older etcd without a verified snapshot does not compete', () => {
  const [b, a] = [snapshot('b', { verified: false }), snapshot('a')];
  expect(newest(newestFirst(b, a))).toBe(a.id);
});

test('a newer etcd competes even without a good snapshot, so that the data of the older are not used by accident', () => {
  const [a, b] = [snapshot('a'), snapshot('b', { verified: false })];
  const entries = newestFirst(a, b);
  const both = new RegExp(`2 etcd clusters.*b \\(none verified, newest ${b.id}\\), a \\(1, newest ${a.id}\\)`);
  expect(() => newest(entries)).toThrow(refused(both, { kind: 'severalEtcds', isApart: true }));
  expect(() => newest([{ ...b, problem: 'its payload is missing' }, a])).toThrow(
    refused(both, { kind: 'severalEtcds', isApart: true }),
  );
  expect(newest(entries, { ...orders, clusterId: 'a' })).toBe(a.id);
  // Before that etcd existed, there is only one line.
  const before = new Date(Date.parse(b.manifest.createdAt) - 1);
  expect(newestVerified(entries, orders, '', { ...at, before }).newest?.id).toBe(a.id);
});

test('a snapshot that is dated in the future does not make its etcd the newest', () => {
  const [a, b] = [snapshot('a'), snapshot('b', { verified: false })];
  const late = { ...b, manifest: { ...b.manifest, createdAt: '2027-01-01T00:00:00.000Z' } };
  expect(newest(newestFirst(a, late))).toBe(a.id);
});

test('a snapshot that is dated in the future is not the newest', () => {
  const [now, future] = [snapshot('a'), snapshot('a')];
  const late = { ...future, manifest: { ...future.manifest, createdAt: '2027-01-01T00:00:00.000Z' } };
  const found = newestVerified(newestFirst(now, late), orders, 'the store', at);
  expect(found.newest?.id).toBe(now.id);
  expect(found.future).toEqual([late]);
});
