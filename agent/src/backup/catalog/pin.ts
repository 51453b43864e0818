import { AgentError, ExitCode } from '../../lib/errors.ts';
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
    // A listing may show a pin that is gone, or leave one out.
    const changed = Boolean(await store.stat(pinKey(path, entry.id), { signal })) !== pinned;
    if (changed) await (pinned ? pin : unpin)(folder, entry);
    if (pinned) await refuseGoing(folder, entry);
    done.push({ id: entry.id, changed });
  }
  return done;
}

async function pin({ store, path, signal }: Folder, { id }: Entry): Promise<void> {
  await store.put(pinKey(path, id), (async function* () {})(), { signal, sizeHint: 0 });
}

async function unpin({ store, path, signal }: Folder, { id }: Entry): Promise<void> {
  const key = pinKey(path, id);
  if ((await store.delete(key, { signal })) === 'deleted') return;
  throw new AgentError(ExitCode.refused, `${store.url}: an object lock protects ${key}; wait until it ends`);
}

/** Throws if retention may not have seen the pin. It marks the deletion first, and then looks for a pin. */
async function refuseGoing(folder: Folder, { id, manifestKey }: Entry): Promise<void> {
  const { store, path, signal } = folder;
  const until = await folder.mayBeDeletedUntil(id);
  if (!(await store.stat(manifestKey, { signal }))) {
    // It would keep the rest of the snapshot for good.
    await store.delete(pinKey(path, id), { signal });
    throw new AgentError(ExitCode.nothingThere, `${store.url}: ${id} was deleted meanwhile, and is not pinned`);
  }
  if (until)
    throw new AgentError(
      ExitCode.refused,
      `${store.url}: ${id} is pinned, but retention may be deleting it; look after ${until} whether it is still there`,
    );
}
