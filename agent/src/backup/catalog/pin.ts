import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { type Entry, pinKey } from './catalog.ts';
import type { Folder } from './folder.ts';
import { anyEntry } from './select.ts';

export interface Pinning {
  readonly id: string;
  /** False if nothing had to be changed. */
  readonly changed: boolean;
}

/** Pins or unpins snapshots, including incomplete ones. Changes nothing if one of the ids is unknown. */
export async function setPins(folder: Folder, ids: readonly string[], pinned: boolean): Promise<Pinning[]> {
  const { store, path, signal } = folder;
  const found: Entry[] = [];
  for (const id of new Set(ids)) found.push(await anyEntry(folder, id));
  const done: Pinning[] = [];
  for (const entry of found) {
    const changed = entry.pinned !== pinned;
    if (changed) await (pinned ? pin : unpin)(store, pinKey(path, entry.id), { signal });
    done.push({ id: entry.id, changed });
  }
  return done;
}

async function pin(store: Store, key: string, options: CallOptions): Promise<void> {
  await store.put(key, (async function* () {})(), { ...options, sizeHint: 0 });
}

async function unpin(store: Store, key: string, options: CallOptions): Promise<void> {
  if ((await store.delete(key, options)) === 'deleted') return;
  throw new AgentError(ExitCode.refused, `${store.url}: an object lock protects ${key}; wait until it ends`);
}
