import { randomBytes } from 'node:crypto';
import type { StoredObject } from '../../store/store.ts';
import {
  deletingKey,
  type Entry,
  exactManifestKey,
  isAdopting,
  isRestoreNote,
  manifestKey,
  markersOf,
  PAYLOAD,
  pinKey,
} from '../catalog/catalog.ts';
import { etcdOfTaking } from '../catalog/documents.ts';
import { areOld, type Folder, type Listing } from '../catalog/folder.ts';
import { impatience } from '../catalog/silence.ts';
import { isSnapshotId } from '../catalog/snapshot-id.ts';
import { clockDifference, clockForSweep } from './clock-difference.ts';
import { Leftovers } from './leftovers.ts';
import { type Dated, datedOf, stillVerified, successorOf, takenBy } from './superseded.ts';
import { sweepBegun } from './sweep-begun.ts';

const CANARY = /^\.check-[0-9a-f]{16}$/;

/** Key of the object that `check` writes and reads to test a store. No snapshot can have this name. */
export const newCanary = (folder: string) => `${folder}/.check-${randomBytes(8).toString('hex')}`;

async function sweepCanaries(
  leftovers: Leftovers,
  folder: Folder,
  listing: Listing,
  { before, swept }: Pick<State, 'before' | 'swept'>,
): Promise<void> {
  for (const { key, modified } of listing.others.values()) {
    if (!CANARY.test(listing.nameOf(key)) || modified.getTime() > before) continue;
    await leftovers.attempt(async (store) => {
      if ((await store.delete(key, { signal: folder.signal })) === 'deleted') swept.push(key);
    });
  }
}

export interface SweepOptions {
  /** Called if something could not be deleted. The run continues. */
  readonly warn: (message: string) => void;
  /** Called with the time of the store's clock, if it can be read. */
  readonly onClock?: (theirs: Date) => void;
  /** The objects of the folder, if they were listed already. */
  readonly listing?: Listing;
}

/** Payloads without a manifest that no newer verified snapshot replaces yet, as far as this run knows. */
export interface WaitingPayloads {
  readonly groups: ReadonlyMap<string, readonly StoredObject[]>;
  readonly dated: readonly Dated[];
}

export interface Swept {
  /** What was deleted. */
  readonly swept: string[];
  readonly waiting?: WaitingPayloads;
}

/**
 * Deletes leftovers of dead runs: unfinished uploads, and the objects of a snapshot without a manifest if the newest of them
 * is older than `age` milliseconds by the store's clock. Without that clock, or if it differs from ours, no object is deleted. A
 * payload is deleted only beside a marker that its backup did not end, and if a newer verified snapshot is known to supersede it;
 * or beside a marker that retention was deleting it. Without every manifest, all payloads are kept.
 */
export async function sweep(
  folder: Folder,
  age: number,
  entries: readonly Entry[],
  options: SweepOptions,
): Promise<Swept> {
  const { store, path, signal } = folder;
  const swept: string[] = [];
  const waiting = new Map<string, readonly StoredObject[]>();
  let dated: readonly Dated[] = [];
  const leftovers = new Leftovers(folder);
  await leftovers.attempt(async (within) => {
    // First: unfinished uploads are removed by this clock too, so one warning is enough if it cannot be read.
    const now = await store.now({ signal });
    if (now) options.onClock?.(now);
    if (now && clockDifference(now, new Date()) !== undefined) return;
    await leftovers.attempt(async (own) => {
      const unfinished = await own.sweep(`${path}/`, age, { signal });
      if (unfinished > 0) swept.push(`${unfinished} unfinished uploads`);
    });
    if (!now) return;
    const listing = options.listing ?? (await folder.within(within).list());
    dated = datedOf(path, entries, now);
    const named = listing.namedPayloads(entries);
    const state = { before: now.getTime() - age, age, named, swept, waiting };
    await sweepCanaries(leftovers, folder, listing, state);
    await sweepBegun(leftovers, folder, listing, state);
    await sweepSnapshots(leftovers, folder, { groups: listing.groups, dated }, state);
  });
  leftovers.report(options);
  return waiting.size > 0 ? { swept, waiting: { groups: waiting, dated } } : { swept };
}

/** Deletes the payloads that were waiting for this verified snapshot. */
export async function sweepWaiting(
  folder: Folder,
  age: number,
  { groups, dated }: WaitingPayloads,
  own: Dated,
  options: SweepOptions,
): Promise<string[]> {
  const swept: string[] = [];
  const now = await clockForSweep(folder);
  if (!now) return swept;
  const leftovers = new Leftovers(folder);
  const state = { before: now.getTime() - age, age, named: new Set<string>(), swept, waiting: new Map() };
  await sweepSnapshots(leftovers, folder, { groups, dated: [...dated, own] }, state);
  leftovers.report(options);
  return swept;
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
  leftovers: Leftovers,
  folder: Folder,
  { groups, dated }: WaitingPayloads,
  state: State,
): Promise<void> {
  const isStill = stillVerified(folder.within(impatience(folder.store)()));
  for (const [id, objects] of groups) {
    // Only a name of the agent's own form identifies an object as ours.
    if (!isSnapshotId(id)) continue;
    await leftovers.attempt((within) =>
      sweepSnapshot(folder.within(within), { id, objects }, { ...state, dated, isStill }),
    );
  }
}

interface Known extends State {
  readonly dated: readonly Dated[];
  readonly isStill: (one: Dated) => Promise<boolean>;
}

async function sweepSnapshot(
  within: Folder,
  { id, objects }: { readonly id: string; readonly objects: readonly StoredObject[] },
  { before, age, named, swept, waiting, dated, isStill }: Known,
): Promise<void> {
  const { store, path: folder, signal } = within;
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
    const markers = objects.filter((object) => markersOf(folder, id).includes(object.key) && areOld([object], before));
    for (const { key } of markers) {
      // Retention may have written it again since, and needs it.
      const now = await store.stat(key, { signal });
      if (now && areOld([now], before) && (await store.delete(key, { signal })) === 'deleted') swept.push(key);
    }
    return;
  }
  if (!areOld(objects, before)) return;
  if (payloads.length > 0 && !named) return;
  // Without a marker, it had a manifest, which was lost.
  if (payloads.length > 0 && !markersOf(folder, id).some(has)) return;
  if (objects.some(({ key }) => keeping.includes(key) || named?.has(key))) return;
  const successor = successorOf(takenBy({ id, objects: payloads }), dated);
  const needsProof = payloads.length > 0 && !has(deletingKey(folder, id));
  if (needsProof && !successor) {
    waiting.set(id, objects);
    return;
  }
  // A listing may be incomplete, so ask the store for each of these keys.
  const found = await Promise.all(keeping.map((key) => store.stat(key, { signal })));
  if (found.some((object) => object !== undefined)) return;
  if (needsProof && !(successor && (await isOfEtcd(within, id, successor)))) return;
  if (needsProof && !(await isStill(successor!))) return;
  const rests = (await within.rests(id, before)) ?? [];
  if (rests.some((object) => keeping.includes(object.key) || (payloads.length === 0 && isPayload(object)))) return;
  // The last question: `adopt` may have begun since.
  if (await isAdopting(store, payloads, before + age, { signal })) return;
  // A note of a restore counts for revisions and lineages, whatever became of the snapshot.
  const ours = rests.filter(({ key }) => !isRestoreNote(key));
  // The marker says that the payload may go, so it goes last.
  const isMarker = ({ key }: StoredObject) => markersOf(folder, id).includes(key);
  const inOrder = [...ours.filter((one) => !isMarker(one)), ...ours.filter(isMarker)];
  for (const { key } of inOrder) if ((await store.delete(key, { signal })) === 'deleted') swept.push(key);
}

/** The snapshots around a payload may all be of another etcd that is backed up under the same name. */
async function isOfEtcd({ store, path, signal }: Folder, id: string, one: Dated): Promise<boolean> {
  const clusterId = await etcdOfTaking(store, path, id, { signal });
  return clusterId === undefined || clusterId === one.clusterId;
}
