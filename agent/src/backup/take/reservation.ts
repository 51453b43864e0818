import type { CallOptions, Store } from '../../store/store.ts';
import { claim } from '../catalog/claim.ts';
import { manifestKey, pinKey } from '../catalog/keys.ts';
import { areOld, type Names, restsUnder } from '../catalog/names.ts';
import { newSnapshotId } from '../catalog/snapshot-id.ts';
import { discard } from './discard.ts';

const RESTS = /^\.(db(\.gz|\.zst)?(\.age)?|extra\.tar\.age)$/;

/** While a run writes a snapshot under a name of the caller's own, the name is its own by this. */
export const reservationKey = (folder: string, name: string) => `${folder}/${name}.reserved`;

/** False when another run has the name, or anything lies under it. */
export async function reserve(store: Store, folder: string, name: string, options: CallOptions): Promise<boolean> {
  const key = reservationKey(folder, name);
  if (!(await claim(store, key, { id: newSnapshotId(new Date()) }, options))) return false;
  for await (const object of store.list(`${folder}/${name}.`, options)) {
    if (object.key === key) continue;
    await discard(store, key);
    return false;
  }
  return true;
}

/** Removes what dead runs left under reserved names: nothing else can be known to be ours. */
export async function sweepReserved(
  store: Store,
  folder: string,
  { groups }: Names,
  age: number,
  options: CallOptions,
): Promise<string[]> {
  const swept: string[] = [];
  const now = await store.now(options);
  if (!now) return swept;
  const before = now.getTime() - age;
  for (const [name, listed] of groups) {
    if (!listed.some(({ key }) => key === reservationKey(folder, name)) || !areOld(listed, before)) continue;
    if (await store.stat(pinKey(folder, name), options)) continue;
    const committed = await store.stat(manifestKey(folder, name), options);
    const objects = (await restsUnder(store, folder, name, before, options)) ?? [];
    // Last, as without it nothing tells that the others are ours.
    const reservation = objects.filter(({ key }) => key === reservationKey(folder, name));
    if (reservation.length === 0) continue;
    const rests = objects.filter(({ key }) => RESTS.test(key.slice(folder.length + 1 + name.length)));
    for (const { key } of committed ? reservation : [...rests, ...reservation]) {
      if ((await store.delete(key, options)) === 'deleted') swept.push(key);
    }
  }
  return swept;
}
