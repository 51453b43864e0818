import { randomBytes } from 'node:crypto';
import { messageOf } from '../../lib/errors.ts';
import type { CallOptions, Store, StoredObject } from '../../store/store.ts';
import { isAdopting } from '../catalog/adopting.ts';
import {
  deletingKey,
  type Entry,
  exactManifestKey,
  isRestoreNote,
  manifestKey,
  markersOf,
  PAYLOAD,
  pinKey,
} from '../catalog/catalog.ts';
import { areOld, listNames, type Names, restsUnder } from '../catalog/names.ts';
import { isSnapshotId, SNAPSHOT_NAME } from '../catalog/snapshot-id.ts';
import { type Dated, datedOf, stillVerified, successorOf, takenBy } from './superseded.ts';
import { sweepBegun } from './sweep-begun.ts';

const CANARY = /^\.check-[0-9a-f]{16}$/;

/** Key of the object that `check` writes and reads to test a store. No snapshot can have this name. */
export const newCanary = (folder: string) => `${folder}/.check-${randomBytes(8).toString('hex')}`;

async function sweepCanaries(
  store: Store,
  folder: string,
  { others }: Names,
  before: number,
  options: CallOptions,
): Promise<string[]> {
  const swept: string[] = [];
  for (const { key, modified } of others.values()) {
    if (!CANARY.test(key.slice(folder.length + 1)) || modified.getTime() > before) continue;
    if ((await store.delete(key, options)) === 'deleted') swept.push(key);
  }
  return swept;
}

export interface SweepOptions extends CallOptions {
  /** Called if something could not be deleted. The run continues. */
  readonly warn: (message: string) => void;
  /** Called with the time of the store's clock, if it can be read. */
  readonly onClock?: (theirs: Date) => void;
  /** The objects of the folder, if they were listed already. */
  readonly names?: Names;
}

/** Payloads without a manifest that no newer verified snapshot replaces yet, as far as this run knows. */
export interface Waiting {
  readonly groups: ReadonlyMap<string, readonly StoredObject[]>;
  readonly dated: readonly Dated[];
}

export interface Swept {
  /** What was deleted. */
  readonly swept: string[];
  readonly waiting?: Waiting;
}

/**
 * Returns the payloads that manifests name, even under names that do not belong to the snapshot. Undefined if a manifest cannot
 * be read, whatever the reason: it may name any of them, and may be that of an etcd that nothing else shows.
 */
export function namedPayloads(
  folder: string,
  names: Names,
  entries: readonly Entry[],
): ReadonlySet<string> | undefined {
  if (entries.some(({ manifest }) => !manifest) || hasDamaged(folder, names, entries)) return undefined;
  return new Set(entries.flatMap(({ manifest }) => (manifest ? [manifest.object.key] : [])));
}

/** Whether a snapshot under a name of the user's own has a damaged manifest. No listing of snapshots shows it. */
function hasDamaged(folder: string, { groups }: Names, entries: readonly Entry[]): boolean {
  const known = new Set(entries.map(({ id }) => id));
  return [...groups].some(([id, objects]) => {
    const has = (isIt: (key: string) => boolean) => objects.some(({ key }) => isIt(key));
    return !known.has(id) && has((key) => key === manifestKey(folder, id)) && has((key) => SNAPSHOT_NAME.test(key));
  });
}

/**
 * Deletes leftovers of dead runs: unfinished uploads, and the objects of a snapshot without a manifest if the newest of them
 * is older than `age` milliseconds by the store's clock. Without that clock, no object is deleted. A payload is deleted only
 * beside a marker that its backup did not end, and if a newer verified snapshot is known to supersede it; or beside a marker
 * that retention was deleting it. Without every manifest, all payloads are kept.
 */
export async function sweep(
  store: Store,
  folder: string,
  age: number,
  entries: readonly Entry[],
  options: SweepOptions,
): Promise<Swept> {
  const swept: string[] = [];
  const waiting = new Map<string, readonly StoredObject[]>();
  let dated: readonly Dated[] = [];
  await attempt(options, async () => {
    // First: unfinished uploads are removed by this clock too, so one warning is enough if it cannot be read.
    const now = await store.now(options);
    if (now) options.onClock?.(now);
    await attempt(options, async () => {
      const unfinished = await store.sweep(`${folder}/`, age, options);
      if (unfinished > 0) swept.push(`${unfinished} unfinished uploads`);
    });
    if (!now) return;
    const names = options.names ?? (await listNames(store, folder, options));
    const before = now.getTime() - age;
    swept.push(...(await sweepCanaries(store, folder, names, before, options)));
    dated = datedOf(folder, entries, now);
    const named = namedPayloads(folder, names, entries);
    swept.push(...(await sweepBegun(store, folder, names, { before, age, named }, options)));
    await sweepSnapshots(
      store,
      folder,
      { groups: names.groups, dated },
      { before, age, named, swept, waiting },
      options,
    );
  });
  return waiting.size > 0 ? { swept, waiting: { groups: waiting, dated } } : { swept };
}

/** Deletes the payloads that were waiting for this verified snapshot. */
export async function sweepWaiting(
  store: Store,
  folder: string,
  age: number,
  { groups, dated }: Waiting,
  own: Dated,
  options: SweepOptions,
): Promise<string[]> {
  const swept: string[] = [];
  await attempt(options, async () => {
    const now = await store.now(options);
    if (!now) return;
    const state = { before: now.getTime() - age, age, named: new Set<string>(), swept, waiting: new Map() };
    await sweepSnapshots(store, folder, { groups, dated: [...dated, own] }, state, options);
  });
  return swept;
}

/** A failure only causes a warning: a backup needs neither the right to list nor the right to delete. */
async function attempt(options: SweepOptions, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    options.signal?.throwIfAborted();
    options.warn(`leftovers of dead runs could not be removed: ${messageOf(error)}`);
  }
}

interface State {
  readonly age: number;
  readonly before: number;
  /** Undefined if any payload may be named. */
  readonly named: ReadonlySet<string> | undefined;
  readonly swept: string[];
  readonly waiting: Map<string, readonly StoredObject[]>;
}

async function sweepSnapshots(
  store: Store,
  folder: string,
  { groups, dated }: Waiting,
  { before, age, named, swept, waiting }: State,
  options: CallOptions,
): Promise<void> {
  const isStill = stillVerified(store, folder, options);
  for (const [id, objects] of groups) {
    // Only a name of the agent's own form identifies an object as ours.
    if (!isSnapshotId(id)) continue;
    // Keep objects that are pinned or that another manifest names.
    const isPayload = ({ key }: StoredObject) => PAYLOAD.test(key.slice(folder.length + 1 + id.length));
    const payloads = objects.filter(isPayload);
    const keeping = [
      ...[manifestKey(folder, id), pinKey(folder, id)],
      ...payloads.map(({ key }) => exactManifestKey(key)),
    ];
    const has = (wanted: string) => objects.some(({ key }) => key === wanted);
    if (has(manifestKey(folder, id))) {
      // What is whole again, or was never deleted, must not be taken for a leftover later. Each `verify` writes beside it, so
      // the marker's own age counts.
      const markers = objects.filter(
        (object) => markersOf(folder, id).includes(object.key) && areOld([object], before),
      );
      for (const { key } of markers) if ((await store.delete(key, options)) === 'deleted') swept.push(key);
      continue;
    }
    if (!areOld(objects, before)) continue;
    if (payloads.length > 0 && !named) continue;
    // Without a marker, it had a manifest, which was lost.
    if (payloads.length > 0 && !markersOf(folder, id).some(has)) continue;
    if (objects.some(({ key }) => keeping.includes(key) || named?.has(key))) continue;
    const successor = successorOf(takenBy({ id, objects: payloads }), dated);
    const needsProof = payloads.length > 0 && !has(deletingKey(folder, id));
    if (needsProof && !successor) {
      waiting.set(id, objects);
      continue;
    }
    // A listing may be incomplete, so ask the store for each of these keys.
    const found = await Promise.all(keeping.map((key) => store.stat(key, options)));
    if (found.some((object) => object !== undefined)) continue;
    if (needsProof && !(successor && (await isStill(successor)))) continue;
    const rests = (await restsUnder(store, folder, id, before, options)) ?? [];
    if (rests.some((object) => keeping.includes(object.key) || (payloads.length === 0 && isPayload(object)))) continue;
    // The last question: `adopt` may have begun since.
    if (await isAdopting(store, payloads, before + age, options)) continue;
    // A note of a restore counts for revisions and lineages, whatever became of the snapshot.
    const leftovers = rests.filter(({ key }) => !isRestoreNote(key));
    // The marker says that the payload may go, so it goes last.
    const isMarker = ({ key }: StoredObject) => markersOf(folder, id).includes(key);
    const inOrder = [...leftovers.filter((one) => !isMarker(one)), ...leftovers.filter(isMarker)];
    for (const { key } of inOrder) if ((await store.delete(key, options)) === 'deleted') swept.push(key);
  }
}
