import { entryOf } from '../../../../test/support/entry-of.ts';
import { manifestOf } from '../../../../test/support/manifest-of.ts';
import type { Entry } from '../catalog.ts';
import { noteKeyOf } from '../restore-notes.ts';
import { ownLine } from './identity.ts';
import { lineageOf, lineOf, livesOf } from './lineage.ts';

function snapshot(clusterId: string, lineage?: string[], restoredAs: string[] = []): Entry {
  const manifest = manifestOf(Buffer.alloc(64), undefined, { source: { clusterId }, cluster: { lineage } });
  return entryOf(manifest, { restoredAs });
}

test('a cluster that was never restored has no lineage', () => {
  expect(lineageOf([snapshot('a'), snapshot('b')], 'c')).toEqual([]);
});

test('the notes of restores say which cluster it was restored from, and which one before', () => {
  const entries = [snapshot('b', ['a'], ['c', 'd']), snapshot('x')];

  expect(lineageOf(entries, 'c')).toEqual(['b', 'a']);
});

test("the cluster's own snapshots say it after the snapshot that it was restored from is deleted", () => {
  expect(lineageOf([snapshot('c', ['b', 'a']), snapshot('b', ['a'])], 'c')).toEqual(['b', 'a']);
});

test('ids from the caller come first; there are no duplicates, not the cluster itself and no unknown one', () => {
  const entries = [snapshot('c', ['b']), snapshot('b', ['a'], ['c']), snapshot('unknown', [], ['c'])];

  expect(lineageOf(entries, 'c', ['z', 'c', 'b'])).toEqual(['z', 'b', 'a']);
});

test('a recorded beginning is not believed if an earlier snapshot of that etcd is there', () => {
  const taken = (createdAt: string, first?: string): Entry => {
    const family = first === undefined ? [] : [{ id: 'b', first }];
    const manifest = manifestOf(Buffer.alloc(64), undefined, {
      createdAt,
      source: { clusterId: 'b' },
      cluster: { family },
    });
    return { ...snapshot('b'), manifest };
  };
  const [before, late] = ['2026-11-10T00:00:00.000Z', '2026-11-20T00:00:00.000Z'];
  const wholeOf = (...entries: Entry[]) => livesOf(entries).get('b');
  expect(wholeOf(taken(late, late))).toMatchObject({ isWhole: true });
  expect(wholeOf(taken(late, late), taken(before))).toMatchObject({ first: Date.parse(before), isWhole: false });
  expect(wholeOf(taken(late, late), taken(before, before))).toMatchObject({ isWhole: true });
  expect(wholeOf(taken(late, late), taken('2026-11-19T23:58:00.000Z'))).toMatchObject({ isWhole: true });
});

describe('the note of a restore', () => {
  const named = { cluster: snapshot('a').manifest!.cluster.name };
  const stored = (id: string, clusterId: string, lineage?: string[]) => ({ ...snapshot(clusterId, lineage), id });
  const noted = (entry: Entry, entries: readonly Entry[], of = named) => noteKeyOf(entry, entries, of, 'c0ffee');

  test('lies beside the snapshot', () => {
    const entry = stored('x', 'a');
    expect(noted(entry, [stored('newer', 'a'), entry])).toBe(`${named.cluster}/x.restored-c0ffee.json`);
  });

  test('for an exact key lies beside the newest snapshot of its line, which the restored cluster then continues', () => {
    const entries = [stored('other', 'b'), stored('newest', 'a'), stored('older', 'a')];
    expect(noted(stored('keyed', 'a'), entries)).toBe(`${named.cluster}/newest.restored-c0ffee.json`);
    expect(noted(stored('keyed', 'z', ['a']), entries)).toBe(`${named.cluster}/newest.restored-c0ffee.json`);

    const after = [stored('mine', 'c0ffee'), { ...entries[1]!, restoredAs: ['c0ffee'] }, entries[2]!];
    expect(ownLine(after, named, 's3://b', { isCandidate: () => true, isDated: () => true })?.entries).toHaveLength(3);
  });

  test('is not written if there is nothing to connect', () => {
    expect(noted(stored('keyed', 'a'), [stored('other', 'b')])).toBeUndefined();
    expect(noted(stored('adopted', 'unknown'), [stored('another', 'unknown')])).toBeUndefined();
    expect(noted(stored('keyed', 'a'), [stored('newest', 'a')], { cluster: 'bills' })).toBeUndefined();
  });
});

test('a snapshot without a readable manifest adds nothing', () => {
  expect(lineageOf([{ ...snapshot('b', [], ['c']), manifest: undefined }], 'c')).toEqual([]);
});

describe('if etcd cannot be asked', () => {
  const owner = { now: new Date('2026-11-20T12:00:00Z'), clusterName: 'orders' };
  const dated = (clusterId: string, createdAt: string, name = 'orders'): Entry => {
    const { manifest, ...entry } = snapshot(clusterId, clusterId === 'b' ? ['a'] : undefined);
    return { ...entry, manifest: { ...manifest!, createdAt, cluster: { ...manifest!.cluster, name } } };
  };

  test('the newest snapshot says which cluster this is, and what it was restored from', () => {
    const entries = [
      dated('b', '2026-11-04T00:00:00Z'),
      dated('f', '2026-11-03T00:00:00Z'),
      dated('a', '2026-11-01T00:00:00Z'),
    ];
    expect(lineOf(entries, owner)).toMatchObject({ id: 'b', lineage: ['a'] });
  });

  test('a snapshot dated in the future or of another cluster does not count', () => {
    const strange = [dated('f', '2036-11-01T00:00:00Z'), dated('f', '2026-11-20T00:00:00Z', 'other')];
    expect(lineOf([...strange, dated('a', '2026-11-01T00:00:00Z')], owner)).toMatchObject({ id: 'a' });
    expect(lineOf([], owner)).toBeUndefined();
  });
});
