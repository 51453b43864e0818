import { entryOf, silentEntry } from '../../../../test/support/entry-of.ts';
import { manifestOf } from '../../../../test/support/manifest-of.ts';
import type { Entry } from '../catalog.ts';
import type { Brief } from '../manifest.ts';
import { familyOf } from './family.ts';

const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}T00:00:00.000Z`;

function taken(clusterId: string, on: number, cluster: Partial<Brief['cluster']> = {}): Entry {
  const manifest = manifestOf(Buffer.alloc(64), undefined, { createdAt: day(on), source: { clusterId }, cluster });
  return entryOf(manifest);
}

const found = (entries: readonly Entry[], isListed = true) =>
  familyOf(entries, { clusterId: 'b', lineage: ['a'], at: new Date(day(20)) }, isListed);
const past = { id: 'a', last: day(8) };

test('the first snapshot of an etcd says so, and until when the one that it was restored from is known to have run', () => {
  expect(found([taken('x', 9), taken('a', 8), taken('a', 7)])).toEqual([{ id: 'b', first: day(20) }, past]);
});

test('a later one repeats it, whatever is left', () => {
  const family = [
    { id: 'b', first: day(10) },
    { ...past, first: day(1) },
  ];
  expect(found([taken('b', 19, { family })])).toEqual(family);
  expect(found([taken('c', 19, { lineage: ['a'], family }), taken('a', 12)])).toEqual([
    family[0],
    { id: 'a', first: day(1), last: day(12) },
    { id: 'c', last: day(19) },
  ]);
});

test('nothing is said of an etcd that may have had an earlier snapshot', () => {
  expect(found([taken('b', 19), taken('a', 8)])).toEqual([past]);
  expect(found([taken('b', 30), taken('a', 8)])).toEqual([past]);
  expect(found([taken('a', 8)], false)).toEqual([past]);
  expect(found([silentEntry('own-name'), taken('a', 8)])).toEqual([past]);
});

test('a manifest that the store does not give out may be the first', () => {
  expect(found([silentEntry('etcd-snapshot-20261115-000000-3f9c2a')])).toEqual([{ id: 'b', first: day(15) }]);
});

test('a date in the future does not count as the last', () => {
  expect(found([taken('a', 30), taken('a', 8)])[1]).toEqual(past);
});

test('nothing is said of an etcd whose id is not known, also if there was another one', () => {
  const salvaged = (entries: readonly Entry[]) =>
    familyOf(entries, { clusterId: 'unknown', lineage: [], at: new Date(day(20)) }, true);
  expect(salvaged([])).toEqual([]);
  expect(salvaged([taken('unknown', 19), taken('a', 8)])).toEqual([]);
});
