import { randomBytes } from 'node:crypto';
import type { CallOptions, Store } from '../store/store.ts';
import { groupObjects, manifestKey } from './catalog.ts';
import { isSnapshotId } from './snapshot-id.ts';

const CANARY = /^\.check-[0-9a-f]{16}$/;

/** What `check` writes and reads to try a store: a name that no snapshot can have. */
export const newCanary = (cluster: string) => `${cluster}/.check-${randomBytes(8).toString('hex')}`;

async function sweepCanaries(store: Store, cluster: string, before: number, options: CallOptions): Promise<string[]> {
  const swept: string[] = [];
  for await (const { key, modified } of store.list(`${cluster}/.check-`, options)) {
    if (!CANARY.test(key.slice(cluster.length + 1)) || modified.getTime() > before) continue;
    if ((await store.delete(key, options)) === 'deleted') swept.push(key);
  }
  return swept;
}

/**
 * Removes what dead runs left: unfinished uploads, and objects of a snapshot that has no manifest, when the newest of
 * them is older than `age` milliseconds by the store's clock. Without that clock nothing is removed.
 */
export async function sweep(store: Store, cluster: string, age: number, options: CallOptions): Promise<string[]> {
  const swept: string[] = [];
  const unfinished = await store.sweep(`${cluster}/`, age, options);
  if (unfinished > 0) swept.push(`${unfinished} unfinished uploads`);
  const now = await store.now(options);
  if (!now) return swept;
  swept.push(...(await sweepCanaries(store, cluster, now.getTime() - age, options)));
  for (const [id, objects] of await groupObjects(store, cluster, options)) {
    // Only our own names tell that it is ours.
    if (!isSnapshotId(id) || objects.some(({ key }) => key === manifestKey(cluster, id))) continue;
    // A pin is somebody's word: what it keeps is not ours to remove.
    if (objects.some(({ key }) => key.endsWith('.pin'))) continue;
    if (objects.some(({ modified }) => now.getTime() - modified.getTime() < age)) continue;
    for (const { key } of objects) {
      if ((await store.delete(key, options)) === 'deleted') swept.push(key);
    }
  }
  return swept;
}
