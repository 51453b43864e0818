import { randomBytes } from 'node:crypto';
import type { CallOptions, Store, StoredObject } from '../../store/store.ts';
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
import { areOld, listNames, type Names, restsUnder } from '../catalog/names.ts';
import { impatience } from '../catalog/silence.ts';
import { isSnapshotId, isSnapshotName } from '../catalog/snapshot-id.ts';
import { clockDifference, clockForSweep } from './clock-difference.ts';
import { Leftovers } from './leftovers.ts';
import { type Dated, datedOf, stillVerified, successorOf, takenBy } from './superseded.ts';
import { sweepBegun } from './sweep-begun.ts';

const CANARY = /^\.check-[0-9a-f]{16}$/;

/** Key of the object that `check` writes and reads to test a store. No snapshot can have this name. */
export const newCanary = (folder: string) => `${folder}/.check-${randomBytes(8).toString('hex')}`;

async function sweepCanaries(
  leftovers: Leftovers,
  folder: string,
  { others }: Names,
  { before, swept }: Pick<State, 'before' | 'swept'>,
  options: CallOptions,
): Promise<void> {
  for (const { key, modified } of others.values()) {
    if (!CANARY.test(key.slice(folder.length + 1)) || modified.getTime() > before) continue;
    await leftovers.attempt(async (store) => {
      if ((await store.delete(key, options)) === 'deleted') swept.push(key);
    });
  }
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
function hasDamaged(folder: string, { groups, others }: Names, entries: readonly Entry[]): boolean {
  const known = new Set(entries.map(({ id }) => id));
  return [...groups].some(([id, objects]) => {
    const has = (isIt: (key: string) => boolean) => objects.some(({ key }) => isIt(key));
    const isPayload = (key: string) => isSnapshotName(key.slice(folder.length + 1));
    // A name without an ending is in no group.
    const hasPayload = has(isPayload) || (others.has(`${folder}/${id}`) && isPayload(`${folder}/${id}`));
    return !known.has(id) && has((key) => key === manifestKey(folder, id)) && hasPayload;
  });
}

/**
 * Deletes leftovers of dead runs: unfinished uploads, and the objects of a snapshot without a manifest if the newest of them
 * is older than `age` milliseconds by the store's clock. Without that clock, or if it differs from ours, no object is deleted. A
 * payload is deleted only beside a marker that its backup did not end, and if a newer verified snapshot is known to supersede it;
 * or beside a marker that retention was deleting it. Without every manifest, all payloads are kept.
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
  const leftovers = await Leftovers.of(store, options);
  await leftovers.attempt(async (within) => {
    // First: unfinished uploads are removed by this clock too, so one warning is enough if it cannot be read.
    const now = await store.now(options);
    if (now) options.onClock?.(now);
    if (now && clockDifference(now, new Date()) !== undefined) return;
    await leftovers.attempt(async (own) => {
      const unfinished = await own.sweep(`${folder}/`, age, options);
      if (unfinished > 0) swept.push(`${unfinished} unfinished uploads`);
    });
    if (!now) return;
    const names = options.names ?? (await listNames(within, folder, options));
    dated = datedOf(folder, entries, now);
    const named = namedPayloads(folder, names, entries);
    const state = { before: now.getTime() - age, age, named, swept, waiting };
    await sweepCanaries(leftovers, folder, names, state, options);
    await sweepBegun(leftovers, folder, names, state, options);
    await sweepSnapshots(leftovers, store, folder, { groups: names.groups, dated }, state, options);
  });
  leftovers.report(options);
  return waiting.size > 0 ? { swept, waiting: { groups: waiting, dated } } : { swept };
}

/** Deletes the payloads that were waiting for this verified snapshot. */
export async function sweepWaiting(
  store: Store,
  folder: string,
  age: number,
  { groups, dated }: WaitingPayloads,
  own: Dated,
  options: SweepOptions,
): Promise<string[]> {
  const swept: string[] = [];
  const now = await clockForSweep(store, options);
  if (!now) return swept;
  const leftovers = await Leftovers.of(store, options);
  const state = { before: now.getTime() - age, age, named: new Set<string>(), swept, waiting: new Map() };
  await sweepSnapshots(leftovers, store, folder, { groups, dated: [...dated, own] }, state, options);
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
  store: Store,
  folder: string,
  { groups, dated }: WaitingPayloads,
  state: State,
  options: CallOptions,
): Promise<void> {
  const isStill = stillVerified((await impatience(store, options.signal))(), folder, options);
  for (const [id, objects] of groups) {
    // Only a name of the agent's own form identifies an object as ours.
    if (!isSnapshotId(id)) continue;
    await leftovers.attempt((within) =>
      sweepSnapshot(within, folder, { id, objects }, { ...state, dated, isStill }, options),
    );
  }
}

interface Known extends State {
  readonly dated: readonly Dated[];
  readonly isStill: (one: Dated) => Promise<boolean>;
}

async function sweepSnapshot(
  store: Store,
  folder: string,
  { id, objects }: { readonly id: string; readonly objects: readonly StoredObject[] },
  { before, age, named, swept, waiting, dated, isStill }: Known,
  options: CallOptions,
): Promise<void> {
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
    for (const { key } of markers) if ((await store.delete(key, options)) === 'deleted') swept.push(key);
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
  const found = await Promise.all(keeping.map((key) => store.stat(key, options)));
  if (found.some((object) => object !== undefined)) return;
  if (needsProof && !(successor && (await isOfEtcd(store, folder, id, successor, options)))) return;
  if (needsProof && !(await isStill(successor!))) return;
  const rests = (await restsUnder(store, folder, id, before, options)) ?? [];
  if (rests.some((object) => keeping.includes(object.key) || (payloads.length === 0 && isPayload(object)))) return;
  // The last question: `adopt` may have begun since.
  if (await isAdopting(store, payloads, before + age, options)) return;
  // A note of a restore counts for revisions and lineages, whatever became of the snapshot.
  const ours = rests.filter(({ key }) => !isRestoreNote(key));
  // The marker says that the payload may go, so it goes last.
  const isMarker = ({ key }: StoredObject) => markersOf(folder, id).includes(key);
  const inOrder = [...ours.filter((one) => !isMarker(one)), ...ours.filter(isMarker)];
  for (const { key } of inOrder) if ((await store.delete(key, options)) === 'deleted') swept.push(key);
}

/** The snapshots around a payload may all be of another etcd that is backed up under the same name. */
async function isOfEtcd(store: Store, folder: string, id: string, one: Dated, options: CallOptions): Promise<boolean> {
  const clusterId = await etcdOfTaking(store, folder, id, options);
  return clusterId === undefined || clusterId === one.clusterId;
}
