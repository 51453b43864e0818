import { type Entry, PAYLOAD } from '../catalog/catalog.ts';
import { claim, HiddenWriteError } from '../catalog/claim.ts';
import { areOld, type Folder, type Listing } from '../catalog/folder.ts';
import { manifestKey, pinKey, reservationKey } from '../catalog/keys.ts';
import { newSnapshotId } from '../catalog/snapshot-id.ts';
import { clockForSweep } from '../retention/clock-difference.ts';
import { datedOf, stillVerified, successorOf, takenBy } from '../retention/superseded.ts';
import { discard } from './discard.ts';

const LEFTOVER = /^\.(db(\.gz|\.zst)?(\.age)?|extra\.tar\.age)$/;

/** Reserves a name. Returns false if another run has reserved it or an object exists under it. */
export async function reserve({ store, path, signal }: Folder, name: string): Promise<boolean> {
  const key = reservationKey(path, name);
  const isOurs = await claim(store, key, { id: newSnapshotId(new Date()) }, { signal }).catch(async (error) => {
    if (error instanceof HiddenWriteError) await discard(store, key);
    throw error;
  });
  if (!isOurs) return false;
  for await (const object of store.list(`${path}/${name}.`, { signal })) {
    if (object.key === key) continue;
    await discard(store, key);
    return false;
  }
  return true;
}

/**
 * Deletes leftovers of dead runs under reserved names, and a payload among them only if a newer verified snapshot is known to
 * supersede it: it may be good. Under any other user-defined name, an object may belong to
 * another program.
 */
export async function sweepReserved(
  folder: Folder,
  listing: Listing,
  age: number,
  entries: readonly Entry[],
): Promise<string[]> {
  const { store, path, signal } = folder;
  const swept: string[] = [];
  const reserved = [...listing.groups].filter(([name]) => listing.find(reservationKey(path, name)));
  if (reserved.length === 0) return swept;
  // `sweep` has warned of a clock that cannot be read, or differs.
  const now = await clockForSweep(folder);
  if (!now) return swept;
  const before = now.getTime() - age;
  const dated = datedOf(path, entries, now);
  const named = listing.namedPayloads(entries);
  const isStill = stillVerified(folder);
  for (const [name, listed] of reserved) {
    if (!areOld(listed, before)) continue;
    if (await store.stat(pinKey(path, name), { signal })) continue;
    const committed = await store.stat(manifestKey(path, name), { signal });
    const objects = (await folder.rests(name, before)) ?? [];
    // Delete the reservation last: without it, the other objects cannot be identified as ours.
    const reservation = objects.filter(({ key }) => key === reservationKey(path, name));
    if (reservation.length === 0) continue;
    const rests = objects.filter(({ key }) => LEFTOVER.test(key.slice(path.length + 1 + name.length)));
    if (!committed) {
      const payloads = rests.filter(({ key }) => PAYLOAD.test(key.slice(path.length + 1 + name.length)));
      if (payloads.some(({ key }) => !named || named.has(key))) continue;
      const successor = successorOf(takenBy({ id: name, objects: payloads }), dated);
      if (payloads.length > 0 && !(successor && (await isStill(successor)))) continue;
    }
    for (const { key } of committed ? reservation : [...rests, ...reservation]) {
      if ((await store.delete(key, { signal })) === 'deleted') swept.push(key);
    }
  }
  return swept;
}
