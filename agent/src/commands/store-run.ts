import { type Entry, readCatalog, selectEntry } from '../backup/catalog.ts';
import { readExactEntry } from '../backup/exact-key.ts';
import type { Manifest } from '../backup/manifest.ts';
import { checkClusterName } from '../backup/snapshot-id.ts';
import type { CommandContext } from '../command.ts';
import { openStore } from '../store/open.ts';
import type { StoreSpec } from '../store/spec.ts';
import type { Store } from '../store/store.ts';

export interface OpenedStore {
  readonly cluster: string;
  readonly spec: StoreSpec;
  readonly store: Store;
  readonly entries: readonly Entry[];
}

/** Opens the one store of a command, reads what is there, and closes it in the end. */
export async function withStore<T>(
  { settings, signal }: CommandContext,
  work: (opened: OpenedStore) => Promise<T>,
  spec: StoreSpec = settings.store(),
): Promise<T> {
  const cluster = checkClusterName(settings.text('cluster'));
  const store = await openStore(spec);
  try {
    return await work({ cluster, spec, store, entries: await readCatalog(store, cluster, { signal }) });
  } finally {
    store.close();
  }
}

/** The snapshot that a command is about: `--object-key`, the id, or the newest verified one. */
export async function askedFor(
  { store, entries }: OpenedStore,
  { settings, signal }: CommandContext,
): Promise<Entry & { manifest: Manifest }> {
  const key = settings.text('objectKey');
  return key ? readExactEntry(store, key, { signal }) : selectEntry(entries, settings.args[0], store.url);
}
