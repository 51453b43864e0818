import { dirname } from 'node:path/posix';
import { type AgentError, messageOf, remarkOf } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import type { Wait } from '../../lib/limits/budget.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { callCounter } from '../../lib/memory.ts';
import { budgetOf, type CallOptions, type Store, type StoredObject } from '../../store/store.ts';
import { readIndex, type SnapshotFacts, stampOf, writeIndex } from './catalog-index.ts';
import { orRefused, readManifest, readVerification, type Unusable } from './documents.ts';
import {
  deletingKey,
  exactManifestKey,
  isInFolder,
  isValidKey,
  manifestKey,
  pinKey,
  reservationKey,
  restoredCluster,
  takingKey,
  verificationKeyOf,
} from './keys.ts';
import { type Brief, briefSchema, foundSchema, type SnapshotManifest, type Verification } from './manifest.ts';
import { committedIds, findName, listNames, type Names } from './names.ts';
import { impatience, isUnreachable, PATIENCE, readEach } from './silence.ts';
import { isPackedName, isSnapshotId, isSnapshotName, splitName } from './snapshot-id.ts';

export * from './documents.ts';
export * from './keys.ts';

/** Up to this many unknown manifests are read one by one. For more, the index is read first and a new one written. */
const UNINDEXED = 64;
/** Milliseconds that a manifest adds to the time limit, on a machine with little CPU. */
const EACH = 50;
/** Milliseconds that a manifest may take while a run only waits for answers. */
const AT_MOST = 1_000;
/** Memory is freed after reading this many manifests. */
const GARBAGE_AFTER = 100;

/**
 * Suffixes of the objects that the agent writes beside a payload. With a name of the user's own, any other object is
 * not the agent's.
 */
const OWN =
  /^\.(json|json\.replaced-[0-9a-f]{16}|pin|extra\.tar\.age|verify\.json|drill\.json|restored-[0-9a-f]+(-[0-9a-f]+)?\.json|agreed-[0-9a-f]+\.json)$/;

/** Suffix that follows the id in the name of a payload of the agent. */
export const PAYLOAD = /^\.db(\.gz|\.zst)?(\.age)?$/;

/** One snapshot as the store holds it. */
export interface Entry {
  readonly id: string;
  readonly manifestKey: string;
  /** Undefined if it cannot be read; then `problem` says why. */
  readonly manifest?: Brief;
  readonly verification?: Pick<Verification, 'level' | 'outcome' | 'detail' | 'damaged' | 'modified'>;
  readonly pinned: boolean;
  /** Cluster ids of the etcd clusters that were restored from it. */
  readonly restoredAs: readonly string[];
  /**
   * Why the snapshot is incomplete: the payload is missing or has another size, or the manifest or the finding is
   * unreadable.
   */
  readonly problem?: string;
  /**
   * Set if the state of the snapshot is not known: a newer agent wrote the manifest or the finding, the finding is damaged,
   * or the store refuses to return an object, or fails or hangs (`unreachable`).
   */
  readonly unread?: Unusable['unread'];
  /** What can be done about the store, if it did not return an object in time. */
  readonly finding?: Finding | undefined;
  /** Every object of this snapshot. */
  readonly objects: readonly StoredObject[];
}

/** One snapshot with its complete manifest. */
export interface WholeEntry extends Entry {
  readonly manifest: SnapshotManifest;
  readonly verification?: Verification;
}

export type SnapshotState = 'unread' | 'broken' | 'suspect' | 'failed' | 'unverified' | 'verified';

/**
 * Returns how good a snapshot is; nothing else decides this. `verified` means level `read` or higher, by the manifest or by
 * a later verification, without any finding against it.
 */
export function stateOf({ manifest, verification, problem, unread }: Entry): SnapshotState {
  if (unread) return 'unread';
  if (!manifest || problem) return 'broken';
  if (manifest.source.suspect?.length) return 'suspect';
  if (verification?.outcome === 'failed') return 'failed';
  const found = [manifest.verified, verification?.outcome === 'verified' ? verification : undefined];
  return found.some((one) => one && one.level !== 'stream') ? 'verified' : 'unverified';
}

export const isVerified = (entry: Entry): boolean => stateOf(entry) === 'verified';

export interface CatalogOptions extends CallOptions {
  /** Given by a run that may write the index; called if writing it fails. */
  readonly keepIndex?: (error: unknown) => void;
  /** The objects of the folder, if they were listed already. */
  readonly names?: Names;
  /**
   * Given by a run that waits only so long. A manifest that cannot be read for any reason, or not before this wait is over,
   * becomes an entry with a `problem`.
   */
  readonly until?: Wait;
  /** Given by a run that can do without all manifests. Any other fails if the store gives out none of them. */
  readonly mayLackAll?: boolean;
}

/** The manifests that this run has read, by store and folder, so that none is read twice. */
const known = new WeakMap<Store, Map<string, Map<string, SnapshotFacts>>>();

function knownOf(store: Store, folder: string): Map<string, SnapshotFacts> {
  const folders = known.get(store) ?? new Map<string, Map<string, SnapshotFacts>>();
  known.set(store, folders);
  const facts = folders.get(folder) ?? new Map<string, SnapshotFacts>();
  folders.set(folder, facts);
  return facts;
}

/** What did not answer in this run is not waited for twice. */
const silent = new WeakMap<Store, Map<string, Silent>>();

interface Silent {
  readonly stamps: SnapshotFacts['stamps'];
  readonly entry: Entry | undefined;
  /** Undefined if only the finding of `verify` is not given out. */
  readonly error?: AgentError;
}

function silentOf(store: Store): Map<string, Silent> {
  const found = silent.get(store) ?? new Map<string, Silent>();
  silent.set(store, found);
  return found;
}

/**
 * Returns every snapshot that has a manifest, newest first. Reads only the manifests that are not known yet, the newest first.
 * One that the store does not give out, because it fails or hangs, becomes an entry with a `problem`.
 */
export async function readCatalog(store: Store, folder: string, options: CatalogOptions = {}): Promise<Entry[]> {
  const { until } = options;
  const signals = [options.signal, until?.signal].filter((signal) => signal !== undefined);
  const limited = { ...options, signal: AbortSignal.any(signals) };
  const names = options.names ?? (await listNames(store, folder, { signal: options.signal, until: () => until }));
  const ids = committedIds(folder, names).sort().reverse();
  const committed = new Set(ids);
  const facts = knownOf(store, folder);
  const isKnown = (id: string) => isStill(facts.get(id), folder, id, names);
  const impatient = impatience(store);
  const manifests = new Map<string, Brief>();
  const hasLinks = store.links !== undefined;
  // A list leaves links out.
  const isAsked = (manifest: Brief) => hasLinks && isUnlisted(folder, manifest, names);
  if (ids.filter((id) => !isKnown(id)).length > UNINDEXED) {
    // The index only saves time, so a run that waits only until then keeps time for the manifests.
    const brief = until && AbortSignal.any([until.signal, AbortSignal.timeout(PATIENCE)]);
    const indexSignals = [options.signal, brief].filter((signal) => signal !== undefined);
    const indexOptions = { ...options, signal: AbortSignal.any(indexSignals) };
    const index = readIndex(until ? store : impatient(), folder, indexOptions, (one) => {
      const { id } = one.manifest;
      if (committed.has(id) && !isKnown(id) && isStill(one, folder, id, names)) facts.set(id, one);
    });
    await (brief ? unlessAborted(index, brief).catch(() => options.signal?.throwIfAborted()) : index);
  }
  const unknown = ids.filter((id) => !isKnown(id));
  const budget = budgetOf(store);
  budget.extend(unknown.length * EACH);
  const away = silentOf(store);
  const errors: AgentError[] = [];
  const remember = (id: string, entry: Entry | undefined, error?: AgentError) =>
    away.set(manifestKey(folder, id), { stamps: stampsOf(folder, id, names), entry, ...(error && { error }) });
  const read = async (id: string) => {
    const before = away.get(manifestKey(folder, id));
    if (before && String(before.stamps) === String(stampsOf(folder, id, names))) {
      if (before.error) errors.push(before.error);
      return before.entry;
    }
    const within = until ? store : impatient();
    const entry = await readEntryOf({ store, within, manifests, isAsked }, folder, id, names, limited);
    if (entry?.unread === 'unreachable') remember(id, entry);
    return entry;
  };
  const without = (id: string, error: AgentError) => {
    errors.push(error);
    const entry = unreachable(folder, id, names, messageOf(error));
    remember(id, entry, error);
    return entry;
  };
  const unread = (id: string, why: string) => {
    const manifest = manifests.get(id);
    if (manifest === undefined) return unreachable(folder, id, names, why);
    const withheld = isAsked(manifest) ? payloadAway(why) : undefined;
    const known = isKnown(id) ? facts.get(id) : undefined;
    return describe(folder, id, names, known ?? { manifest, findingProblem: findingAway(why) }, withheld);
  };
  const asking = new Set(ids.filter((id) => !isKnown(id) || isAsked(facts.get(id)!.manifest)));
  // What needs no answer of the store counts after `until` too.
  const there = await Promise.all(ids.filter((id) => !asking.has(id)).map(read));
  const found = await readEach<Entry | undefined>(
    [...asking],
    (id) => (until ? orUnread(read(id), (why) => unread(id, why), options) : read(id)),
    { budget, signal: options.signal, ...(!until && { without }) },
  );
  if (errors[0] && errors.length === ids.length && !until && !options.mayLackAll) throw errors[0];
  if (options.keepIndex && unknown.length > UNINDEXED) {
    const all = ids.map((id) => facts.get(id)).filter((one) => one !== undefined);
    await writeIndex(store, folder, all, options).catch((error) => {
      options.signal?.throwIfAborted();
      options.keepIndex?.(error);
    });
  }
  return withoutLinks([...there, ...found].filter((entry) => entry !== undefined)).sort(newestFirst);
}

/** Older agents adopted a link and its file: two snapshots, of which retention would keep the link and delete the file. */
function withoutLinks<T extends Entry>(entries: readonly T[]): T[] {
  const whole = entries.filter((entry) => stateOf(entry) !== 'broken');
  const owners = new Map(whole.map(({ id, manifest }) => [manifest?.object.key, id]));
  // Without the file, a link that is pinned is nothing.
  const pinned = new Set(entries.flatMap((entry) => (entry.pinned ? (linkOf(entry) ?? []) : [])));
  return entries.map((entry) => {
    const key = entry.manifest?.object.key;
    const linkTo = linkOf(entry);
    const owner = linkTo === undefined ? undefined : owners.get(linkTo);
    if (owner !== undefined) {
      return { ...entry, problem: `its file ${key} is a link to ${linkTo}, which is the snapshot ${owner}` };
    }
    return key !== undefined && pinned.has(key) ? { ...entry, pinned: true } : entry;
  });
}

const linkOf = ({ manifest, objects }: Entry): string | undefined =>
  objects.find(({ key }) => key === manifest?.object.key)?.linkTo;

/** Milliseconds. A backup stores the payload, reads it back, and only then writes the manifest. */
const UNDER_WAY = 3_600_000;

/** Until when the backup that wrote a payload may still be running, if it has no manifest. Undefined if it is over. */
export function mayRunUntil({ modified }: StoredObject, now: Date): string | undefined {
  if (modified.getTime() <= now.getTime() - UNDER_WAY) return undefined;
  const end = new Date(modified.getTime() + UNDER_WAY);
  return Number.isNaN(end.getTime()) ? 'it ends' : end.toISOString();
}

/** Why a name that a backup has reserved with this marker is left alone. */
export const reservedBy = (reservation: StoredObject, now: Date): string =>
  mayRunUntil(reservation, now)
    ? `a backup is writing it: ${reservation.key} exists; wait until it ends; if it was killed, delete that file`
    : `its backup was killed, or has been running for over an hour: ${reservation.key} exists; if no backup is running, delete that file`;

const UNFINISHED = 'no manifest: its backup is still running, or was killed';
/** A copy, and an agent that writes no marker, may be writing the payload. */
const YOUNG = 'no manifest: its backup or copy is still running, or was killed, or its manifest was deleted';
const LOST = 'no manifest: its backup or copy was killed, or the manifest was deleted';
const GOING = 'no manifest: retention is deleting it, or was killed meanwhile; the sweep deletes the rest';

/** Returns the snapshots whose manifest was lost or never written, newest first. Only their names identify them. */
export const lostManifests = (folder: string, names: Names, now: Date): Entry[] =>
  withoutManifest(folder, names)
    .filter((entry) => !isBeingDeleted(entry) && !mayRunUntil(entry.payload, now))
    .map((entry) => ({ ...entry, problem: `it has ${LOST}` }));

/** Returns the snapshots of which retention has deleted the manifest and not yet the payload, newest first. */
export const beingDeleted = (folder: string, names: Names): Entry[] =>
  withoutManifest(folder, names)
    .filter(isBeingDeleted)
    .map((entry) => ({ ...entry, problem: `it has ${GOING}` }));

/** Returns what has a note of a restore beside it and no manifest: the restored cluster may have served all the same. */
export const notedOnly = (folder: string, { groups }: Names): Entry[] =>
  [...groups]
    .map(([id, objects]) => ({ ...namedEntry(folder, id, objects), problem: `it has ${LOST}` }))
    .filter((entry) => entry.restoredAs.length > 0 && !hasManifest(entry));

/** Returns the snapshots that have no manifest yet, newest first. */
export const unfinished = (folder: string, names: Names, now: Date): Entry[] =>
  withoutManifest(folder, names)
    .filter((entry) => !isBeingDeleted(entry) && mayRunUntil(entry.payload, now))
    .map((entry) => ({ ...entry, problem: `it has ${isMarkedTaking(entry) ? UNFINISHED : YOUNG}` }));

type Marked = Pick<Entry, 'id' | 'manifestKey' | 'objects'>;

const hasMarker = ({ id, manifestKey: key, objects }: Marked, keyOf: (folder: string, id: string) => string): boolean =>
  objects.some((object) => object.key === keyOf(dirname(key), id));

/** Whether a backup has marked the snapshot as one that it is writing: with a marker, or by reserving the user's name. */
export const isMarkedTaking = (entry: Marked): boolean => hasMarker(entry, takingKey) || isReserved(entry);

/** Whether a name of the user's is reserved for the backup that is writing the snapshot. */
export const isReserved = (entry: Marked): boolean => hasMarker(entry, reservationKey);

/** Whether retention has begun to delete the snapshot, and has deleted its manifest. */
export const isBeingDeleted = (entry: Marked): boolean => !hasManifest(entry) && hasMarker(entry, deletingKey);

/** Whether the store lists a manifest of the snapshot, readable or not. */
export const hasManifest = ({ manifestKey: key, objects }: Pick<Entry, 'manifestKey' | 'objects'>): boolean =>
  objects.some((object) => object.key === key);

/** The payload among the objects of a snapshot: at the exact key, or by the name that the agent gives it. */
export const payloadIn = ({ id, manifestKey: key, objects }: Pick<Entry, 'id' | 'manifestKey' | 'objects'>) =>
  objects.find((object) => exactManifestKey(object.key) === key) ??
  objects.find((object) => PAYLOAD.test(object.key.slice(key.lastIndexOf('/') + 1 + id.length)));

function withoutManifest(folder: string, { groups }: Names): (Entry & { readonly payload: StoredObject })[] {
  const found = [...groups].flatMap(([id, objects]) => {
    const entry = namedEntry(folder, id, objects);
    const payload = isSnapshotId(id) || isMarked(entry) ? payloadIn(entry) : undefined;
    return payload && !hasManifest(entry) ? [{ ...entry, payload }] : [];
  });
  // A name of ours begins with the time.
  return found.sort((a, b) => b.id.localeCompare(a.id));
}

/** Whether a marker shows that a payload under a name of the user's is the agent's. */
const isMarked = (entry: Marked): boolean => isReserved(entry) || hasMarker(entry, deletingKey);

/**
 * Returns the files that look like payloads and that nothing claims: no manifest, no marker, and no name of ours. Each may be a
 * snapshot under a name of the user's that has lost its manifest, or a file of another program. Newest first.
 */
export function unclaimedFiles(folder: string, names: Names, entries: readonly Entry[]): StoredObject[] {
  const claimed = new Set(entries.flatMap(({ manifest }) => (manifest ? [manifest.object.key] : [])));
  const unread = new Set(entries.flatMap(({ id, manifest }) => (manifest ? [] : [id])));
  const groups = [...names.groups].filter(
    ([id, objects]) => !isSnapshotId(id) && !unread.has(id) && !isMarked(namedEntry(folder, id, objects)),
  );
  return [...groups.flatMap(([, objects]) => objects), ...names.others.values()]
    .filter(({ key }) => isValidKey(key) && !claimed.has(key))
    .filter(({ key }) => [isSnapshotName, isPackedSnapshot].some((may) => may(key.slice(folder.length + 1))))
    .filter(({ key }) => !findName(folder, names, exactManifestKey(key)))
    .sort((a, b) => b.modified.getTime() - a.modified.getTime());
}

/** A packed file counts only if its name speaks of a snapshot. */
const isPackedSnapshot = (name: string): boolean => isPackedName(name) && /etcd|snap|\.db\b/i.test(name);

const namedEntry = (folder: string, id: string, objects: readonly StoredObject[]) => ({
  id,
  manifestKey: manifestKey(folder, id),
  pinned: objects.some(({ key }) => key === pinKey(folder, id)),
  restoredAs: objects.flatMap(({ key }) => restoredCluster(key) ?? []),
  objects,
});

/** Returns the entry, or what is known of it with the reason why its manifest or its finding was not read. */
const orUnread = (
  read: Promise<Entry | undefined>,
  unread: (why: string) => Entry | undefined,
  { signal, until }: CatalogOptions,
): Promise<Entry | undefined> =>
  unlessAborted(
    read.finally(() => until?.answered(AT_MOST)),
    until?.signal,
  ).catch((error) => {
    signal?.throwIfAborted();
    const late = until?.signal.aborted ? until.signal.reason : error;
    const { finding } = remarkOf(late);
    const entry = unread(messageOf(late));
    return entry && finding ? { ...entry, finding } : entry;
  });

const unreachable = (folder: string, id: string, { groups }: Names, why: string): Entry => ({
  ...namedEntry(folder, id, groups.get(id) ?? []),
  problem: `its manifest cannot be read: ${why}`,
  unread: 'unreachable',
});

/** Sorts by the manifest's time, because names hold only seconds. Snapshots without a readable manifest come last. */
export function newestFirst(a: Entry, b: Entry): number {
  const time = ({ manifest }: Entry) => (manifest ? Date.parse(manifest.createdAt) : 0);
  return time(b) - time(a) || b.id.localeCompare(a.id);
}

function isStill(facts: SnapshotFacts | undefined, folder: string, id: string, names: Names): boolean {
  return facts !== undefined && String(facts.stamps) === String(stampsOf(folder, id, names));
}

function stampsOf(folder: string, id: string, names: Names): SnapshotFacts['stamps'] {
  const key = manifestKey(folder, id);
  const verification = findName(folder, names, verificationKeyOf(key));
  return [stampOf(findName(folder, names, key)!), verification ? stampOf(verification) : null];
}

/** Returns one snapshot by its id, without reading another manifest, or undefined if there is none. */
export async function readEntry(
  store: Store,
  folder: string,
  id: string,
  options: CallOptions = {},
): Promise<Entry | WholeEntry | undefined> {
  if (splitName(`${id}.`)?.id !== id) return undefined;
  const names = await listNames(store, folder, options, id);
  if (!committedIds(folder, names).includes(id)) return undefined;
  const key = manifestKey(folder, id);
  const read = await readManifest(store, key, options);
  if (read === undefined) return undefined;
  if ('problem' in read) {
    // A payload without an ending is not listed with the names of this id.
    const exact = isSnapshotName(id) ? await store.stat(`${folder}/${id}`, options) : undefined;
    return describe(folder, id, exact ? { ...names, others: new Map([[exact.key, exact]]) } : names, read);
  }
  const { manifest } = read;
  const verificationKey = verificationKeyOf(key);
  const found = findName(folder, names, verificationKey)
    ? await readVerification(store, verificationKey, options).catch(asUnusable)
    : undefined;
  // An adopted payload keeps its own name, which is not listed with the names of this id.
  const unlisted = isUnlisted(folder, manifest, names) ? await payloadOf(store, manifest, options) : undefined;
  const entry = describe(folder, id, names, { manifest, ...foundOf(found) }, unlisted);
  if (!entry || linkOf(entry) === undefined) return entry;
  // Whether its file is another snapshot, only that one says.
  const others = (await readCatalog(store, folder, options)).filter((other) => other.id !== id);
  return withoutLinks([entry, ...others])[0];
}

const isUnlisted = (folder: string, { object: { key } }: Brief, names: Names): boolean =>
  isInFolder(folder, key) && !findName(folder, names, key);

const payloadOf = (
  store: Store,
  { object: { key } }: Brief,
  options: CallOptions,
): Promise<StoredObject | Unusable | undefined> => orRefused('its payload', store.stat(key, options));

async function readEntryOf(
  {
    store,
    within,
    manifests,
    isAsked,
  }: {
    readonly store: Store;
    readonly within: Store;
    /** The manifests that were read, whether or not the rest was. */
    readonly manifests: Map<string, Brief>;
    /** Whether the store is asked for the payload. */
    readonly isAsked: (manifest: Brief) => boolean;
  },
  folder: string,
  id: string,
  names: Names,
  options: CallOptions,
): Promise<Entry | undefined> {
  const facts = knownOf(store, folder);
  const linked = async (manifest: Brief) =>
    isAsked(manifest)
      ? payloadOf(within, manifest, options).catch((error) => asUnusable(error, payloadAway))
      : undefined;
  countEntry();
  if (!isStill(facts.get(id), folder, id, names)) {
    facts.delete(id);
    const key = manifestKey(folder, id);
    const read = await readManifest(within, key, options);
    countCall();
    if (read === undefined || 'problem' in read) return describe(folder, id, names, read);
    const stamps = stampsOf(folder, id, names);
    const manifest = briefSchema.parse(read.manifest);
    manifests.set(id, manifest);
    const found = stamps[1] && (await readVerification(within, verificationKeyOf(key), options).catch(asUnusable));
    // Remember only a finding that was read: another agent may be allowed to read it, and a later run may find it
    // deleted.
    if (stamps[1] && !(found && 'verification' in found)) {
      const unlisted = await linked(manifest);
      return describe(folder, id, names, { manifest, ...foundOf(found) }, unlisted);
    }
    const verification = found && 'verification' in found && foundSchema.parse(found.verification);
    facts.set(id, { stamps, manifest, ...(verification && { verification }) });
  }
  const read = facts.get(id);
  if (!read) return undefined;
  manifests.set(id, read.manifest);
  return describe(folder, id, names, read, await linked(read.manifest));
}

/** The finding alone fails or hangs: its snapshot can still be named and restored. */
export function asUnusable(error: unknown, away = findingAway): Unusable {
  if (!isUnreachable(error)) throw error;
  return away(messageOf(error));
}

const findingAway = (why: string): Unusable => ({
  problem: `the finding of \`verify\` cannot be read: ${why}`,
  unread: 'unreachable',
});

const payloadAway = (why: string): Unusable => ({
  problem: `its payload cannot be read: ${why}`,
  unread: 'unreachable',
});

const countCall = callCounter(GARBAGE_AFTER);
/** A known manifest uses little memory, but thousands of them use much. */
const countEntry = callCounter(4_000);

interface Read {
  readonly manifest: Brief;
  readonly verification?: Entry['verification'];
  /** Why the finding of `verify` cannot be read. */
  readonly findingProblem?: Unusable;
}

type Found = Awaited<ReturnType<typeof readVerification>> | null;
const foundOf = (found: Found): { readonly verification?: Verification; readonly findingProblem?: Unusable } =>
  found ? ('verification' in found ? found : { findingProblem: found }) : {};

/**
 * Describes a snapshot from the names of its objects and its manifest. Returns undefined if the manifest is not one of
 * ours.
 */
function describe<T extends Read>(
  folder: string,
  id: string,
  names: Names,
  read: T | Unusable | undefined,
  unlisted?: StoredObject | Unusable,
): (Entry & { manifest?: T['manifest']; verification?: T['verification'] }) | undefined {
  if (read === undefined) return undefined;
  const objects = names.groups.get(id) ?? [];
  const common = namedEntry(folder, id, objects);
  if ('problem' in read) {
    // The folder may hold JSON files of other programs.
    const { isForeign, ...why } = read;
    // A payload without an ending is in no group.
    const exact = isSnapshotName(id) ? names.others.get(`${folder}/${id}`) : undefined;
    const isOwn = !isForeign && (payloadIn(common) ?? exact) !== undefined;
    const isOurs = isSnapshotId(id) || isOwn || read.unread === 'newer' || (read.unread && objects.length > 1);
    return isOurs ? { ...common, objects: exact ? [...objects, exact] : objects, ...why } : undefined;
  }
  const { manifest, verification, findingProblem } = read;
  const { key } = manifest.object;
  if (manifest.id !== id) {
    // This is the manifest of an exact key without an extension.
    if (isOfExactKey(common.manifestKey, manifest)) return undefined;
    return { ...common, problem: `its manifest belongs to ${manifest.id}` };
  }
  const withheld = unlisted && 'problem' in unlisted ? unlisted : undefined;
  const found = unlisted && 'key' in unlisted ? unlisted : undefined;
  const payload = isInFolder(folder, key) ? (findName(folder, names, key) ?? found) : undefined;
  const problem =
    strayProblem(folder, manifest) ??
    (withheld ? undefined : payloadProblem(manifest, payload?.size)) ??
    rewrittenProblem({ ...common, manifest, verification }, payload);
  const own = isSnapshotId(id)
    ? objects
    : objects.filter((object) => OWN.test(object.key.slice(folder.length + 1 + id.length)));
  return {
    ...common,
    objects: payload && !own.includes(payload) ? [...own.filter((object) => object.key !== payload.key), payload] : own,
    manifest,
    ...(verification && { verification }),
    problem,
    ...(problem === undefined && (withheld ?? findingProblem)),
  };
}

/** Whether the manifest is that of an exact key: at the key or, until the snapshot is moved there, beside it. */
export const isOfExactKey = (at: string, { id, object: { key } }: Pick<Brief, 'id' | 'object'>): boolean =>
  [key, key.replace(`.${id}`, '')].some((each) => exactManifestKey(each) === at);

/** A manifest that was copied by hand, damaged or forged may name any object. */
function strayProblem(folder: string, { object, extra }: Brief): string | undefined {
  const stray = [object.key, ...(extra ? [extra.key] : [])].find((key) => !isInFolder(folder, key));
  if (stray === undefined) return undefined;
  return `its manifest names ${JSON.stringify(stray)}, which is not in the folder ${folder} or is not a valid key`;
}

/**
 * Why an adopted file is no longer the one that was adopted: a script may write the same name every night. A copy of a whole
 * store has new times too, so only a file that is newer than its manifest counts, and that no finding is about.
 */
export function rewrittenProblem(
  {
    manifestKey: key,
    manifest,
    objects,
    verification,
  }: Pick<Entry, 'manifestKey' | 'manifest' | 'objects'> & { readonly verification?: Entry['verification'] },
  payload: StoredObject | undefined,
): string | undefined {
  if (!payload || manifest?.source.clusterId !== 'unknown') return undefined;
  const { modified } = payload;
  const known = [manifest.object.modified, verification?.modified];
  if (Number.isNaN(modified.getTime()) || known.some((time) => isSameTime(time, modified))) return undefined;
  const isLater = (other: StoredObject) => !(other.modified < modified);
  // A finding of an earlier agent does not name the time of the file.
  const about = verification?.modified === undefined ? [key, verificationKeyOf(key)] : [key];
  if (objects.some((other) => about.includes(other.key) && isLater(other))) return undefined;
  return `its file ${payload.key} was written again after it was adopted`;
}

/** One of two answers of a store may have whole seconds. */
function isSameTime(known: string | undefined, modified: Date): boolean {
  const times = [Date.parse(known ?? ''), modified.getTime()];
  const [one, other] = times.some((time) => time % 1000 === 0) ? times.map((time) => Math.floor(time / 1000)) : times;
  return one === other;
}

export function payloadProblem({ object }: Pick<Brief, 'object'>, size: number | undefined): string | undefined {
  if (size === undefined) return `its payload ${object.key} is missing`;
  return size === object.sizeBytes ? undefined : `its payload has ${size} bytes, not ${object.sizeBytes}`;
}
