import { isDeepStrictEqual } from 'node:util';
import { AgentError, ExitCode, type Warn } from '../../lib/errors.ts';
import type { Remark } from '../../lib/finding.ts';
import { callCounter, freeBuffers } from '../../lib/memory.ts';
import { timeAt } from '../../store/clock.ts';
import type { RetentionSpec } from '../../store/retention-spec.ts';
import { budgetOf, type CallOptions, type Store, type StoredObject } from '../../store/store.ts';
import { type Candidate, exclusion, newestFirst, toCandidate } from '../catalog/candidate.ts';
import {
  type Entry,
  isVerified,
  manifestKey,
  mayRunUntil,
  newestFirst as newestEntryFirst,
  readEntry,
  silentText,
  type WholeEntry,
} from '../catalog/catalog.ts';
import { orNothing, putJson, putText, readText } from '../catalog/documents.ts';
import { exportedFrom, exportKeys, isNameOfOurs, keptExports, listedIn } from '../catalog/exports.ts';
import type { Folder } from '../catalog/folder.ts';
import { deletingKey, exactManifestKey, isValidKey, pinKey, verificationKeyOf } from '../catalog/keys.ts';
import { moveNotes } from '../catalog/restore-notes.ts';
import { fallText, higherBefore } from '../catalog/revision-fall.ts';
import { impatience, isUnreachable, Turns } from '../catalog/silence.ts';
import { isSnapshotId, splitName } from '../catalog/snapshot-id.ts';
import {
  decide,
  type Kept,
  NO_LIST,
  type RetentionContext,
  type RetentionDecision,
  unproven,
  vetoOf,
} from './retention.ts';

/** From this number of snapshots on, memory is freed before decisions are made. */
const MANY = 1_000;
/** Milliseconds that the deletion of a snapshot adds to the time limit. */
const EACH = 1_000;
/** After so many refusals in a row, no more deletions are tried: the credentials may not delete. */
const REFUSALS = 50;

export interface PruneResult {
  readonly decisions: readonly RetentionDecision[];
  /** Snapshots that were deleted or, in a dry run, would be. */
  readonly deleted: readonly string[];
  /**
   * Snapshots that the store's object lock protects, that changed after the decision, or whose restore notes the store does not
   * give out.
   */
  readonly retained: readonly string[];
  /** Snapshots that could not be deleted, or not completely. What is left of them is deleted later, or swept. */
  readonly failed: readonly string[];
  /** Why they could not be deleted. */
  readonly error?: AgentError;
  /** Number of snapshots that wait for the next run. */
  readonly deferred: number;
  /** Why nothing could be deleted. */
  readonly veto?: Remark | undefined;
}

export interface PruneOptions {
  readonly dryRun?: boolean;
  readonly warn?: Warn;
  /**
   * Reads which snapshots are kept whatever the policy says. Undefined: the list is lost, so nothing may be deleted. A
   * restore may begin while snapshots are read.
   */
  readonly keep?: (() => Promise<Kept | undefined>) | undefined;
  /**
   * Reads the payload of a snapshot in favor of which others are deleted. Returns why it is bad. `isNewest`: no verified one is
   * newer, of any etcd of the cluster.
   */
  readonly prove?: (entry: WholeEntry, isNewest: boolean) => Promise<string | undefined>;
}

/** Reads the store's clock. Throws if that fails: a clock that differs forbids every deletion, so nothing may be deleted. */
export async function clockForRetention({ store, signal }: Folder): Promise<Date | undefined> {
  try {
    return await store.now({ signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof AgentError)) throw error;
    throw new AgentError(error.exitCode, `${error.message}; ${NO_CLOCK}`, { cause: error });
  }
}

const NO_CLOCK =
  "nothing is deleted while the store's clock cannot be compared with that of this machine; make it readable, which `check` tests, and run `prune` again";

/** Applies the policy and deletes snapshots. With `dryRun`, only reports what would be deleted. */
export async function prune(
  folder: Folder,
  entries: readonly Entry[],
  policy: RetentionSpec | undefined,
  given: RetentionContext,
  options: PruneOptions,
): Promise<PruneResult> {
  const list = options.keep ?? (async (): Promise<Kept> => new Map());
  const named = await list();
  const exported = await keptExports(folder, entries);
  const keepOf = (kept: Kept | undefined) => new Map([...exported, ...listedIn(entries, kept)]);
  const asked = { ...given, keep: keepOf(named), ...(named ? {} : { doubt: NO_LIST }) };
  if (entries.length > MANY) freeBuffers();
  const silent = silentText(entries);
  if (silent) options.warn?.(`${silent}; it is kept, and so is every snapshot but later ones of the current etcd`);
  const { candidates: found, doubts, proved } = await proven(folder, entries, policy, asked, options);
  const first = decide(found, policy, asked);
  if (doubts.size === 0 && deletions(first) > 0)
    for (const [id, why] of await doubtsOf(folder, found, asked, options, proved)) doubts.set(id, why);
  const again = await list();
  const [doubt = named && again ? undefined : { message: NO_LIST }] = doubts.values();
  // What is named no longer goes in the next run: what it would go in favor of was not read in this one.
  const keep = new Map([...asked.keep, ...keepOf(again)]);
  const context = { ...asked, keep, ...(doubt !== undefined && { doubt: doubt.message }) };
  const candidates =
    doubt === undefined ? found : found.map((each) => (doubts.has(each.id) ? { ...each, verified: false } : each));
  const isSame = doubt === undefined && isDeepStrictEqual(keep, asked.keep);
  const decisions = isSame ? first : decide(candidates, policy, context);
  const why = vetoOf(candidates, policy, context);
  const veto = why === doubt?.message ? doubt : why === undefined ? undefined : { message: why };
  warnOfFall(candidates, context, options.warn);
  const idsTo = (wanted: RetentionDecision['action']) =>
    decisions.filter(({ action }) => action === wanted).map(({ id }) => id);
  const doomed = idsTo('delete');
  const waiting = idsTo('defer');
  if (options.dryRun || doomed.length === 0)
    return { decisions, deleted: doomed, retained: [], failed: [], deferred: waiting.length, veto };
  if (entries.length > MANY) freeBuffers();
  const done = await deleteEach(folder, { entries, doomed, waiting }, asked, options.warn);
  const { deleted, retained, failed } = done;
  const deferred = doomed.length + waiting.length - deleted.length - retained.length - failed.length;
  return { decisions, ...done, deferred, veto };
}

interface Going {
  readonly entries: readonly Entry[];
  /** Ids of the snapshots to delete. */
  readonly doomed: readonly string[];
  /** Ids of those that are deleted in place of one that stays. */
  readonly waiting: readonly string[];
}

/** Deletes snapshots, the oldest first. One that fails does not keep the next from being deleted. */
async function deleteEach(
  folder: Folder,
  { entries, doomed, waiting }: Going,
  { clusterName: cluster, namespace }: RetentionContext,
  warn: Warn | undefined,
): Promise<Pick<PruneResult, 'deleted' | 'retained' | 'failed' | 'error'>> {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const isNamed = namesOf(entries);
  const going = new Set([...doomed, ...waiting]);
  const stay = entries.filter(({ id }) => !going.has(id)).sort(newestEntryFirst);
  const { signal } = folder;
  budgetOf(folder.store).extend(doomed.length * EACH);
  const countDeletion = callCounter(20);
  const turns = new Turns(folder.store);
  const done = { deleted: [] as string[], retained: [] as string[], failed: [] as string[] };
  let error: AgentError | undefined;
  let refused = 0;
  let untouched = 0;
  const ofStore = (problem: unknown): AgentError => {
    signal?.throwIfAborted();
    if (!isRefusal(problem) && !isUnreachable(problem)) throw problem;
    turns.count(isUnreachable(problem));
    if (isRefusal(problem)) refused++;
    return problem;
  };
  const isOver = () => turns.isOver || refused >= REFUSALS;
  const keep = (problem: unknown, why: string): boolean => {
    const known = ofStore(problem);
    warn?.(`a snapshot is kept, because ${why}: ${known.message}`, known.finding);
    if (isOver()) error ??= known;
    return false;
  };
  // A snapshot that the store protects must not block the others: the next one is deleted in its place.
  for (const id of [...doomed, ...waiting]) {
    if (done.deleted.length + done.failed.length - untouched === doomed.length || isOver()) break;
    const entry = byId.get(id)!;
    countDeletion();
    const within = folder.within(turns.next());
    const now = await unchanged(within, entry).catch((problem) => void keep(problem, 'it cannot be read again'));
    // Without its notes, the lines of two clusters would no longer be connected, so the snapshot stays with them.
    const isReady =
      now &&
      (await moveNotes(within, { cluster, namespace }, now, stay).then(
        () => true,
        (problem) => keep(problem, 'its note of a restore cannot be moved'),
      ));
    const remove = async () =>
      deleteSnapshot(within, entry, isNamed).catch(async (problem) => {
        const known = ofStore(problem);
        error ??= known;
        if (isRefusal(known) && (await isWhole(within, entry))) untouched++;
        return 'failed' as const;
      });
    const outcome = isReady ? await remove() : 'retained';
    done[outcome].push(id);
    if (!isReady || outcome === 'failed') continue;
    turns.count(false);
    refused = 0;
  }
  if (!error) return done;
  const { deleted, failed } = done;
  const more =
    refused < REFUSALS
      ? 'the next run tries again'
      : `the store has refused ${refused} in a row, so no more were tried; if its credentials may not delete, run \`prune\` with others`;
  return { ...done, error: failed.length > 0 ? failure(failed, deleted.length + failed.length, error, more) : error };
}

const failure = (failed: readonly string[], tried: number, { exitCode, message, finding }: AgentError, more: string) =>
  new AgentError(
    exitCode,
    `${failed.length === 1 ? '1 snapshot' : `${failed.length} snapshots`} of ${tried} tried could not be deleted, such as ${failed[0]}: ${message}; ${more}`,
    { finding },
  );

/** Whether nothing of a snapshot is deleted yet: its manifest goes first. Not known counts as no. */
const isWhole = ({ store, signal }: Folder, { manifestKey: key }: Entry): Promise<boolean> =>
  store.stat(key, { signal }).then(
    (object) => object !== undefined,
    () => {
      signal?.throwIfAborted();
      return false;
    },
  );

const isRefusal = (error: unknown): error is AgentError =>
  error instanceof AgentError && error.exitCode === ExitCode.storeRefused;

/** A `backup` has said before what it found. */
function warnOfFall(candidates: readonly Candidate[], context: RetentionContext, warn: Warn | undefined): void {
  const { cluster } = context;
  if (!cluster || context.ownRun) return;
  const own = candidates.filter((each) => exclusion(each, context, cluster) === undefined);
  const [newest] = own
    .filter(({ clusterId, revision }) => clusterId === cluster.id && revision !== undefined)
    .sort(newestFirst);
  const before = newest && higherBefore(own, newest);
  if (before) warn?.(fallText(before, newest, ` in ${newest.id}`));
}

/** Returns a function that says whether the manifest of another snapshot names a payload. */
function namesOf(entries: readonly Entry[]): (key: string, id: string) => boolean {
  const first = new Map<string, string>();
  const shared = new Set<string>();
  for (const { id, manifest } of entries) {
    const key = manifest?.object.key;
    if (key === undefined) continue;
    if (first.has(key)) shared.add(key);
    else first.set(key, id);
  }
  return (key, id) => shared.has(key) || (first.has(key) && first.get(key) !== id);
}

interface Proven {
  /** What retention counts, with what was read as verified. */
  readonly candidates: readonly Candidate[];
  readonly proved: ReadonlySet<string>;
  /** Why those that were read are bad. */
  readonly doubts: Map<string, Remark>;
}

/**
 * Reads the newest snapshot of an etcd that has no verified one, if others would go in its favor. If nothing can read it, all of
 * them stay.
 */
async function proven(
  folder: Folder,
  entries: readonly Entry[],
  policy: RetentionSpec | undefined,
  context: RetentionContext,
  options: PruneOptions,
): Promise<Proven> {
  let candidates: readonly Candidate[] = entries.map(toCandidate);
  const doubts = new Map<string, Remark>();
  const proved = new Set<string>();
  const { prove } = options;
  if (!prove) return { candidates, proved, doubts };
  const unread = new Set(entries.filter(({ state }) => state === 'unverified').map(({ id }) => id));
  for (const [of, snapshots] of unproven(candidates, context)) {
    const newest = snapshots.find(({ id }) => unread.has(id));
    if (!newest) continue;
    const counted = candidates.map((each) => (each.id === newest.id ? { ...each, verified: true } : each));
    if (deletions(decide(counted, policy, context)) === deletions(decide(candidates, policy, context))) continue;
    const entry = await readWhole(folder.within(impatience(folder.store)()), newest.id);
    if (entry?.state !== 'unverified') continue;
    const doubt = await prove(entry as WholeEntry, true).catch((error) => {
      folder.signal?.throwIfAborted();
      // That of an earlier etcd may be in cold storage for years.
      if (!isRefusal(error) || !context.cluster?.lineage.includes(of)) throw error;
      options.warn?.(`${error.message} of cluster ${of}`, error.finding);
      return 'unread' as const;
    });
    if (doubt === 'unread') continue;
    if (doubt !== undefined) doubts.set(newest.id, { message: doubt });
    candidates = counted;
    proved.add(newest.id);
  }
  return { candidates, proved, doubts };
}

const deletions = (decisions: readonly RetentionDecision[]) =>
  decisions.filter(({ action }) => action === 'delete').length;

/**
 * Reads again the newest verified snapshot of each etcd, in favor of which others are deleted. Returns those that cannot
 * be relied on, and why. Those that this run has `proved` are not read twice.
 */
async function doubtsOf(
  folder: Folder,
  candidates: readonly Candidate[],
  context: RetentionContext,
  options: PruneOptions,
  proved: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Remark>> {
  const { cluster } = context;
  const verified = candidates
    .filter((each) => each.verified && !exclusion(each, context, cluster))
    .toSorted(newestFirst);
  const newest = new Map(verified.toReversed().map(({ clusterId, id }) => [clusterId, id]));
  const doubts = new Map<string, Remark>();
  const impatient = impatience(folder.store);
  for (const id of newest.values()) {
    if (proved.has(id)) continue;
    const now = await readWhole(folder.within(impatient()), id).catch((error) => {
      folder.signal?.throwIfAborted();
      if (!isUnreachable(error)) throw error;
      return { message: `${id} cannot be read again: ${error.message}`, finding: error.finding };
    });
    if (now && 'message' in now) doubts.set(id, now);
    else if (!now || !isVerified(now))
      doubts.set(id, { message: `${id} is no longer verified`, finding: { kind: 'unproved', id } });
    else {
      const message = await options.prove?.(now as WholeEntry, id === verified[0]?.id);
      if (message !== undefined) doubts.set(id, { message });
    }
  }
  return doubts;
}

/** Reads a snapshot. Throws if the store does not give out its finding: without it, nothing can be decided. */
async function readWhole(folder: Folder, id: string): Promise<Entry | undefined> {
  const entry = await readEntry(folder, id);
  if (entry?.state === 'unreachable') throw new AgentError(ExitCode.storeUnreachable, entry.problem ?? id);
  return entry;
}

/** Reads a snapshot again before it is deleted: it may have been pinned meanwhile, and the index may be wrong. */
async function unchanged(folder: Folder, entry: Entry): Promise<Entry | undefined> {
  const now = await readWhole(folder, entry.id);
  // If it no longer exists, another run may be storing a new snapshot under this name.
  return now && isDeepStrictEqual(decisive(now), decisive(entry)) ? now : undefined;
}

const decisive = ({ manifest, verification, pinned, state, problem, objects }: Entry) => [
  ...[manifest?.createdAt, manifest?.cluster, manifest?.source.clusterId, manifest?.verified],
  ...[verification?.outcome, verification?.level, pinned, state, problem],
  stampOf(objects.find(({ key }) => key === manifest?.object.key)),
];

/** Stores may list a time with milliseconds that they do not return for one object. */
const stampOf = (object: StoredObject | undefined) =>
  object && [object.size, Math.floor(object.modified.getTime() / 1000)];

/**
 * Deletes a snapshot. Once its exports are gone, the manifest is deleted first, so that a kill leaves only objects that are swept later. If an object
 * lock protects the payload, the manifest is written back. Objects that another snapshot needs are kept.
 */
async function deleteSnapshot(
  within: Folder,
  entry: Entry,
  isNamed: (key: string, id: string) => boolean,
): Promise<'deleted' | 'retained'> {
  const { id, objects, manifest } = entry;
  const { store, path: folder, signal } = within;
  const options = { signal };
  const first = manifestKey(folder, id);
  const own = objects.filter(({ key }) => !isNamed(key, id));
  // Never delete an object only because the manifest names it: it may belong to another program.
  const named = own.find(({ key }) => key === manifest?.object.key)?.key;
  // For an id of ours, every object was listed. For a user-defined name, delete only objects that certainly belong to
  // it.
  const isListed = isSnapshotId(id) && objects.some(({ key }) => key === named && key.startsWith(`${folder}/${id}.`));
  const isOthers = isListed
    ? objects.some(({ key }) => key === exactManifestKey(named!))
    : named && (await hasOtherManifest(within, named, id));
  const payload = isOthers ? undefined : named;
  const text = payload && (await orNothing(readText(store, first, options)));
  // Another run is deleting the snapshot at the same time, and deletes the rest of it.
  if (payload && text === undefined) return 'deleted';
  for (const key of payload ? [...(await exportsOf(within, entry)), payload, first] : [])
    if (await store.isRetained?.(key, options)) return 'retained';
  const marker = deletingKey(folder, id);
  const isMarked = payload !== undefined && (await mark(store, marker, payload, options));
  const unmark = async () => {
    if (isMarked) await store.delete(marker, options);
  };
  // After the marker: `pin` writes first too, and then looks for the marker. A listing may leave the pin out.
  if (await store.stat(pinKey(folder, id), options)) {
    await unmark();
    return 'retained';
  }
  const remove = (key: string) =>
    store.delete(key, options).catch(async (error) => {
      if (isRefusal(error)) await unmark().catch(() => options.signal?.throwIfAborted());
      throw error;
    });
  // First: only the manifest names them. Another run may have exported to the key meanwhile.
  for (const key of await exportsOf(within, entry)) {
    if ((await remove(key)) === 'deleted') continue;
    await unmark();
    return 'retained';
  }
  // Another program may write the next snapshot under the name of an adopted file.
  if (payload && manifest?.source.clusterId === 'unknown') {
    const listed = objects.find(({ key }) => key === payload);
    if (!isDeepStrictEqual(stampOf(await store.stat(payload, options)), stampOf(listed))) {
      await unmark();
      return 'retained';
    }
  }
  if ((await remove(first)) === 'retained') {
    await unmark();
    return 'retained';
  }
  if (payload && text) {
    const putBack = async () => {
      await putText(store, first, text, { ...options, onlyNew: true });
      await unmark();
    };
    const outcome = await store.delete(payload, options).catch(async (error) => {
      if (isRefusal(error)) await putBack();
      throw error;
    });
    if (outcome === 'retained') {
      await putBack();
      return 'retained';
    }
  }
  const kept = named && exactManifestKey(named);
  for (const { key } of own) if (![first, named, kept].includes(key)) await store.delete(key, options);
  await unmark();
  return 'deleted';
}

/** The exports that go with a snapshot, each before its manifest. What is that of another snapshot stays, as does a file of another size. */
async function exportsOf({ store, signal }: Folder, { id, manifest }: Entry): Promise<readonly string[]> {
  const own: string[] = [];
  for (const key of manifest ? exportKeys(manifest) : []) {
    if (!isValidKey(key) || isNameOfOurs(key) || (await exportedFrom(store, key, { signal })) !== id) continue;
    const there = await store.stat(key, { signal });
    if (there?.size === manifest!.object.sizeBytes) own.push(key);
    const at = exactManifestKey(key);
    for (const beside of [verificationKeyOf(at), at]) if (await store.stat(beside, { signal })) own.push(beside);
  }
  return own;
}

/** Milliseconds. A deletion that begins beside a marker has this long before others take it for killed. */
const MARKED = 1_800_000;

/**
 * Without the marker, a payload that a killed run leaves may be kept for good, and others would not know of the deletion. One that
 * counts for long enough is not written again: under an object lock, each write is one more locked version.
 */
async function mark(store: Store, marker: string, payload: string, options: CallOptions): Promise<boolean> {
  try {
    const there = await store.stat(marker, options);
    const isFresh = there && mayRunUntil(there, new Date((await timeAt(store, options)).getTime() + MARKED));
    if (!isFresh) await putJson(store, marker, { payload }, options);
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return false;
  }
}

/**
 * Whether another manifest may need the payload: one with the payload's own name, or one of an exact key. It counts
 * even if it cannot be read.
 */
async function hasOtherManifest({ store, path, signal }: Folder, payload: string, id: string): Promise<boolean> {
  const owner = splitName(payload.slice(path.length + 1))?.id;
  const others = [
    exactManifestKey(payload),
    ...(owner !== undefined && owner !== id ? [manifestKey(path, owner)] : []),
  ];
  // Of a name without a dot, its own manifest has the key of an exact one.
  const asked = others.filter((key) => key !== manifestKey(path, id));
  const found = await Promise.all(asked.map((key) => store.stat(key, { signal })));
  return found.some((object) => object !== undefined);
}
