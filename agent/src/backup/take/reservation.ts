import type { CallOptions, Store } from '../../store/store.ts';
import { type Entry, PAYLOAD } from '../catalog/catalog.ts';
import { claim, HiddenWriteError } from '../catalog/claim.ts';
import { manifestKey, pinKey, reservationKey } from '../catalog/keys.ts';
import { areOld, type Names, restsUnder } from '../catalog/names.ts';
import { newSnapshotId } from '../catalog/snapshot-id.ts';
import { clockForSweep } from '../retention/clock-difference.ts';
import { datedOf, stillVerified, successorOf, takenBy } from '../retention/superseded.ts';
import { namedPayloads } from '../retention/sweep.ts';
import { discard } from './discard.ts';

const LEFTOVER = /^\.(db(\.gz|\.zst)?(\.age)?|extra\.tar\.age)$/;

/** Reserves a name. Returns false if another run has reserved it or an object exists under it. */
export async function reserve(store: Store, folder: string, name: string, options: CallOptions): Promise<boolean> {
  const key = reservationKey(folder, name);
  const isOurs = await claim(store, key, { id: newSnapshotId(new Date()) }, options).catch(async (error) => {
    if (error instanceof HiddenWriteError) await discard(store, key);
    throw error;
  });
  if (!isOurs) return false;
  for await (const object of store.list(`${folder}/${name}.`, options)) {
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
  store: Store,
  folder: string,
  names: Names,
  age: number,
  entries: readonly Entry[],
  options: CallOptions,
): Promise<string[]> {
  const swept: string[] = [];
  const reserved = [...names.groups].filter(([name, listed]) =>
    listed.some(({ key }) => key === reservationKey(folder, name)),
  );
  if (reserved.length === 0) return swept;
  // `sweep` has warned of a clock that cannot be read, or differs.
  const now = await clockForSweep(store, options);
  if (!now) return swept;
  const before = now.getTime() - age;
  const dated = datedOf(folder, entries, now);
  const named = namedPayloads(folder, names, entries);
  const isStill = stillVerified(store, folder, options);
  for (const [name, listed] of reserved) {
    if (!areOld(listed, before)) continue;
    if (await store.stat(pinKey(folder, name), options)) continue;
    const committed = await store.stat(manifestKey(folder, name), options);
    const objects = (await restsUnder(store, folder, name, before, options)) ?? [];
    // Delete the reservation last: without it, the other objects cannot be identified as ours.
    const reservation = objects.filter(({ key }) => key === reservationKey(folder, name));
    if (reservation.length === 0) continue;
    const rests = objects.filter(({ key }) => LEFTOVER.test(key.slice(folder.length + 1 + name.length)));
    if (!committed) {
      const payloads = rests.filter(({ key }) => PAYLOAD.test(key.slice(folder.length + 1 + name.length)));
      if (payloads.some(({ key }) => !named || named.has(key))) continue;
      const successor = successorOf(takenBy({ id: name, objects: payloads }), dated);
      if (payloads.length > 0 && !(successor && (await isStill(successor)))) continue;
    }
    for (const { key } of committed ? reservation : [...rests, ...reservation]) {
      if ((await store.delete(key, options)) === 'deleted') swept.push(key);
    }
  }
  return swept;
}
