import { type Entry, stateOf, type WholeEntry } from '../../src/backup/catalog/catalog.ts';
import type { SnapshotManifest } from '../../src/backup/catalog/manifest.ts';

/** Returns a snapshot as the catalog describes it. */
export const entryOf = (manifest: SnapshotManifest, more: Partial<WholeEntry> = {}): WholeEntry => ({
  ...{ id: manifest.id, manifestKey: `orders/${manifest.id}.json`, manifest },
  ...{ pinned: false, restoredAs: [], objects: [] },
  state: stateOf({ manifest, ...more }),
  ...more,
});

/** Returns a snapshot whose manifest the store does not give out. */
export const silentEntry = (id: string, problem = 'its manifest cannot be read'): Entry => ({
  ...{ id, manifestKey: `orders/${id}.json`, pinned: false, restoredAs: [], objects: [] },
  ...{ problem, state: 'unreachable' },
});
