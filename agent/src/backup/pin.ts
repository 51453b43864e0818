import { AgentError, ExitCode } from '../errors.ts';
import type { CallOptions, Store } from '../store/store.ts';
import { type Entry, pinKey, selectEntry } from './catalog.ts';

export interface Pinning {
  readonly id: string;
  /** False: it was so before. */
  readonly changed: boolean;
}

/** Pins or unpins snapshots; none of them when one is unknown. */
export async function setPins(
  store: Store,
  cluster: string,
  entries: readonly Entry[],
  ids: readonly string[],
  pinned: boolean,
  options: CallOptions,
): Promise<Pinning[]> {
  const found = [...new Set(ids)].map((id) => entryOf(entries, id, store.url));
  const done: Pinning[] = [];
  for (const entry of found) {
    const changed = entry.pinned !== pinned;
    if (changed) await (pinned ? pin : unpin)(store, pinKey(cluster, entry.id), options);
    done.push({ id: entry.id, changed });
  }
  return done;
}

/** Also one that is not whole: a pin asks for no more than a name. */
function entryOf(entries: readonly Entry[], id: string, where: string): Entry {
  return entries.find((entry) => entry.id === id) ?? selectEntry(entries, id, where);
}

async function pin(store: Store, key: string, options: CallOptions): Promise<void> {
  await store.put(key, (async function* () {})(), { ...options, sizeHint: 0 });
}

async function unpin(store: Store, key: string, options: CallOptions): Promise<void> {
  if ((await store.delete(key, options)) === 'deleted') return;
  throw new AgentError(ExitCode.refused, `${store.url}: an object lock holds ${key}; wait until it ends`);
}
