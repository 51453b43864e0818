import { manifestOf } from '../../test/manifest-of.ts';
import type { Entry } from './catalog.ts';
import { lineageOf } from './lineage.ts';

function snapshot(clusterId: string, lineage?: string[], restoredAs: string[] = []): Entry {
  const manifest = manifestOf(Buffer.alloc(64), undefined, { source: { clusterId }, cluster: { lineage } });
  return { id: manifest.id, manifestKey: '', manifest, pinned: false, restoredAs, objects: [] };
}

test('a cluster that nobody restored has none', () => {
  expect(lineageOf([snapshot('a'), snapshot('b')], 'c')).toEqual([]);
});

test('what restore left beside a snapshot tells where the cluster came from, and that one before it', () => {
  const entries = [snapshot('b', ['a'], ['c', 'd']), snapshot('x')];

  expect(lineageOf(entries, 'c')).toEqual(['b', 'a']);
});

test("the cluster's own snapshots tell it, after the one that it was restored from is gone", () => {
  expect(lineageOf([snapshot('c', ['b', 'a']), snapshot('b', ['a'])], 'c')).toEqual(['b', 'a']);
});

test('what the caller knows comes first; nothing comes twice, nor does the cluster itself or an unknown one', () => {
  const entries = [snapshot('c', ['b']), snapshot('b', ['a'], ['c']), snapshot('unknown', [], ['c'])];

  expect(lineageOf(entries, 'c', ['z', 'c', 'b'])).toEqual(['z', 'b', 'a']);
});

test('a snapshot whose manifest cannot be read tells nothing', () => {
  expect(lineageOf([{ ...snapshot('b', [], ['c']), manifest: undefined }], 'c')).toEqual([]);
});
