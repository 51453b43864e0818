import { type AgentError, messageOf, remarkOf } from '../../lib/errors.ts';
import type { Wait } from '../../lib/limits/budget.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { callCounter } from '../../lib/memory.ts';
import { budgetOf, type StoredObject } from '../../store/store.ts';
import { readIndex, type SnapshotFacts, stampOf, writeIndex } from './catalog-index.ts';
import { orRefused, readManifest, readVerification, type Unusable } from './documents.ts';
import type { Folder, Listing } from './folder.ts';
import { exactManifestKey, isInFolder, manifestKey, verificationKeyOf } from './keys.ts';
import { type Brief, briefSchema, foundSchema, type Verification } from './manifest.ts';
import { impatience, isUnreachable, PATIENCE, readEach } from './silence.ts';
import { type Entry, isUnread, named, payloadIn, stateOf, type WholeEntry } from './snapshot.ts';
import { byTimeOf, isId, isSnapshotId, isSnapshotName } from './snapshot-id.ts';

export * from './documents.ts';
export * from './keys.ts';
export * from './snapshot.ts';

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

export interface CatalogOptions {
  /** Given by a run that may write the index; called if writing it fails. */
  readonly keepIndex?: (error: unknown) => void;
  /** The objects of the folder, if they were listed already. */
  readonly listing?: Listing | undefined;
  /**
   * Given by a run that waits only so long. A manifest that cannot be read for any reason, or not before this wait is over,
   * becomes an entry with a `problem`.
   */
  readonly until?: Wait;
  /** Given by a run that can do without all manifests. Any other fails if the store gives out none of them. */
  readonly mayLackAll?: boolean;
}

/**
 * Returns every snapshot that has a manifest, newest first. Reads only the manifests that are not known yet, the newest first.
 * One that the store does not give out, because it fails or hangs, becomes an entry with a `problem`.
 */
export async function readCatalog(folder: Folder, options: CatalogOptions = {}): Promise<Entry[]> {
  const { store, signal } = folder;
  const { until } = options;
  const limited = folder.during(until?.signal);
  const listing = options.listing ?? (await folder.list({ until: () => until }));
  const ids = listing.committed.sort().reverse();
  const committed = new Set(ids);
  const { facts, silent } = folder.known;
  const isKnown = (id: string) => isStill(facts.get(id), id, listing);
  const impatient = impatience(store);
  const manifests = new Map<string, Brief>();
  const hasLinks = store.links !== undefined;
  // A list leaves links out.
  const isAsked = (manifest: Brief) => hasLinks && isUnlisted(manifest, listing);
  if (ids.filter((id) => !isKnown(id)).length > UNINDEXED) {
    // The index only saves time, so a run that waits only until then keeps time for the manifests.
    const brief = until && AbortSignal.any([until.signal, AbortSignal.timeout(PATIENCE)]);
    const index = readIndex(folder.during(brief).within(until ? store : impatient()), (one) => {
      const { id } = one.manifest;
      if (committed.has(id) && !isKnown(id) && isStill(one, id, listing)) facts.set(id, one);
    });
    await (brief ? unlessAborted(index, brief).catch(() => signal?.throwIfAborted()) : index);
  }
  const unknown = ids.filter((id) => !isKnown(id));
  const budget = budgetOf(store);
  budget.extend(unknown.length * EACH);
  const errors: AgentError[] = [];
  const remember = (id: string, entry: Entry | undefined, error?: AgentError) =>
    silent.set(id, { stamps: stampsOf(id, listing), entry, error });
  const read = async (id: string) => {
    const before = silent.get(id);
    if (before && String(before.stamps) === String(stampsOf(id, listing))) {
      if (before.error) errors.push(before.error);
      return before.entry;
    }
    const within = limited.within(until ? store : impatient());
    const entry = await readEntryOf(within, id, listing, { manifests, isAsked });
    if (entry?.state === 'unreachable') remember(id, entry);
    return entry;
  };
  const without = (id: string, error: AgentError) => {
    errors.push(error);
    const entry = unreachable(id, listing, messageOf(error));
    remember(id, entry, error);
    return entry;
  };
  const unread = (id: string, why: string) => {
    const manifest = manifests.get(id);
    if (manifest === undefined) return unreachable(id, listing, why);
    const withheld = isAsked(manifest) ? payloadAway(why) : undefined;
    const known = isKnown(id) ? facts.get(id) : undefined;
    return describe(id, listing, known ?? { manifest, findingProblem: findingAway(why) }, withheld);
  };
  const asking = new Set(ids.filter((id) => !isKnown(id) || isAsked(facts.get(id)!.manifest)));
  // What needs no answer of the store counts after `until` too.
  const there = await Promise.all(ids.filter((id) => !asking.has(id)).map(read));
  const found = await readEach<Entry | undefined>(
    [...asking],
    (id) => (until ? orUnread(read(id), (why) => unread(id, why), folder, until) : read(id)),
    { budget, signal, without: until ? undefined : without },
  );
  if (errors[0] && errors.length === ids.length && !until && !options.mayLackAll) throw errors[0];
  if (options.keepIndex && unknown.length > UNINDEXED) {
    const all = ids.map((id) => facts.get(id)).filter((one) => one !== undefined);
    await writeIndex(folder, all).catch((error) => {
      signal?.throwIfAborted();
      options.keepIndex?.(error);
    });
  }
  return withoutLinks([...there, ...found].filter((entry) => entry !== undefined)).sort(newestFirst);
}

/** Older agents adopted a link and its file: two snapshots, of which retention would keep the link and delete the file. */
function withoutLinks<T extends Entry>(entries: readonly T[]): T[] {
  const whole = entries.filter((entry) => entry.state !== 'broken');
  const owners = new Map(whole.map(({ id, manifest }) => [manifest?.object.key, id]));
  // Without the file, a link that is pinned is nothing.
  const pinned = new Set(entries.flatMap((entry) => (entry.pinned ? (linkOf(entry) ?? []) : [])));
  return entries.map((entry) => {
    const key = entry.manifest?.object.key;
    const linkTo = linkOf(entry);
    const owner = linkTo === undefined ? undefined : owners.get(linkTo);
    if (owner !== undefined) {
      const problem = `its file ${key} is a link to ${linkTo}, which is the snapshot ${owner}`;
      return { ...entry, state: isUnread(entry) ? entry.state : ('broken' as const), problem };
    }
    return key !== undefined && pinned.has(key) ? { ...entry, pinned: true } : entry;
  });
}

const linkOf = ({ manifest, objects }: Entry): string | undefined =>
  objects.find(({ key }) => key === manifest?.object.key)?.linkTo;

/** Returns the entry, or what is known of it with the reason why its manifest or its finding was not read. */
const orUnread = (
  read: Promise<Entry | undefined>,
  unread: (why: string) => Entry | undefined,
  { signal }: Folder,
  until: Wait,
): Promise<Entry | undefined> =>
  unlessAborted(
    read.finally(() => until.answered(AT_MOST)),
    until.signal,
  ).catch((error) => {
    signal?.throwIfAborted();
    const late = until.signal.aborted ? until.signal.reason : error;
    const { finding } = remarkOf(late);
    const entry = unread(messageOf(late));
    return entry && finding ? { ...entry, finding } : entry;
  });

const unreachable = (id: string, { path, groups }: Listing, why: string): Entry => ({
  ...named(path, id, groups.get(id) ?? []),
  state: 'unreachable',
  problem: `its manifest cannot be read: ${why}`,
});

/** Sorts by the manifest's time, because names hold only seconds. Snapshots without a readable manifest come last. */
export const newestFirst = byTimeOf<Entry>(({ manifest }) => (manifest ? Date.parse(manifest.createdAt) : 0));

const isStill = (facts: SnapshotFacts | undefined, id: string, listing: Listing): boolean =>
  facts !== undefined && String(facts.stamps) === String(stampsOf(id, listing));

function stampsOf(id: string, listing: Listing): SnapshotFacts['stamps'] {
  const key = manifestKey(listing.path, id);
  const verification = listing.find(verificationKeyOf(key));
  return [stampOf(listing.find(key)!), verification ? stampOf(verification) : null];
}

/** Returns one snapshot by its id, without reading another manifest, or undefined if there is none. */
export async function readEntry(folder: Folder, id: string): Promise<Entry | WholeEntry | undefined> {
  if (!isId(id)) return undefined;
  const { store, path, signal } = folder;
  const listing = await folder.list({ id });
  if (!listing.committed.includes(id)) return undefined;
  const key = manifestKey(path, id);
  const read = await readManifest(store, key, { signal });
  if (read === undefined) return undefined;
  if ('problem' in read) {
    // A payload without an ending is not listed with the names of this id.
    const exact = isSnapshotName(id) ? await store.stat(`${path}/${id}`, { signal }) : undefined;
    if (exact) listing.add(exact);
    return describe(id, listing, read);
  }
  const { manifest } = read;
  // A listing may leave it out. Of thousands of snapshots that nothing is decided on, each would cost one more request.
  const found = await readVerification(store, verificationKeyOf(key), { signal }).catch(asUnusable);
  // An adopted payload keeps its own name, which is not listed with the names of this id.
  const unlisted = isUnlisted(manifest, listing) ? await payloadOf(folder, manifest) : undefined;
  const entry = describe(id, listing, { manifest, ...foundOf(found) }, unlisted);
  if (!entry || linkOf(entry) === undefined) return entry;
  // Whether its file is another snapshot, only that one says.
  const others = (await readCatalog(folder)).filter((other) => other.id !== id);
  return withoutLinks([entry, ...others])[0];
}

const isUnlisted = ({ object: { key } }: Brief, listing: Listing): boolean =>
  isInFolder(listing.path, key) && !listing.find(key);

const payloadOf = (
  { store, signal }: Folder,
  { object: { key } }: Brief,
): Promise<StoredObject | Unusable | undefined> => orRefused('its payload', store.stat(key, { signal }));

interface Reading {
  /** The manifests that were read, whether or not the rest was. */
  readonly manifests: Map<string, Brief>;
  /** Whether the store is asked for the payload. */
  readonly isAsked: (manifest: Brief) => boolean;
}

async function readEntryOf(
  folder: Folder,
  id: string,
  listing: Listing,
  { manifests, isAsked }: Reading,
): Promise<Entry | undefined> {
  const { store, path, signal } = folder;
  const { facts } = folder.known;
  const linked = async (manifest: Brief) =>
    isAsked(manifest) ? payloadOf(folder, manifest).catch((error) => asUnusable(error, payloadAway)) : undefined;
  countEntry();
  if (!isStill(facts.get(id), id, listing)) {
    facts.delete(id);
    const key = manifestKey(path, id);
    const read = await readManifest(store, key, { signal });
    countCall();
    if (read === undefined || 'problem' in read) return describe(id, listing, read);
    const stamps = stampsOf(id, listing);
    const manifest = briefSchema.parse(read.manifest);
    manifests.set(id, manifest);
    const found = stamps[1] && (await readVerification(store, verificationKeyOf(key), { signal }).catch(asUnusable));
    // Remember only a finding that was read: another agent may be allowed to read it, and a later run may find it
    // deleted.
    if (stamps[1] && !(found && 'verification' in found)) {
      const unlisted = await linked(manifest);
      return describe(id, listing, { manifest, ...foundOf(found) }, unlisted);
    }
    const verification = found && 'verification' in found && foundSchema.parse(found.verification);
    facts.set(id, { stamps, manifest, verification: verification || undefined });
  }
  const read = facts.get(id);
  if (!read) return undefined;
  manifests.set(id, read.manifest);
  return describe(id, listing, read, await linked(read.manifest));
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
  id: string,
  listing: Listing,
  read: T | Unusable | undefined,
  unlisted?: StoredObject | Unusable,
): (Entry & { manifest?: T['manifest']; verification?: T['verification'] }) | undefined {
  if (read === undefined) return undefined;
  const { path } = listing;
  const objects = listing.groups.get(id) ?? [];
  const common = named(path, id, objects);
  if ('problem' in read) {
    // The folder may hold JSON files of other programs.
    const { isForeign, problem } = read;
    // A payload without an ending is in no group.
    const exact = isSnapshotName(id) ? listing.others.get(`${path}/${id}`) : undefined;
    const isOwn = !isForeign && (payloadIn(common) ?? exact) !== undefined;
    const isOurs = isSnapshotId(id) || isOwn || read.unread === 'newer' || (read.unread && objects.length > 1);
    if (!isOurs) return undefined;
    return { ...common, objects: exact ? [...objects, exact] : objects, state: stateOf(read), problem };
  }
  const { manifest, verification, findingProblem } = read;
  const { key } = manifest.object;
  if (manifest.id !== id) {
    // This is the manifest of an exact key without an extension.
    if (isOfExactKey(common.manifestKey, manifest)) return undefined;
    return { ...common, state: 'broken', problem: `its manifest belongs to ${manifest.id}` };
  }
  const withheld = unlisted && 'problem' in unlisted ? unlisted : undefined;
  const found = unlisted && 'key' in unlisted ? unlisted : undefined;
  const away = withheld ?? findingProblem;
  const payload = isInFolder(path, key) ? (listing.find(key) ?? found) : undefined;
  const problem =
    strayProblem(path, manifest) ??
    (withheld ? undefined : payloadProblem(manifest, payload?.size)) ??
    rewrittenProblem({ ...common, manifest, verification }, payload);
  const own = isSnapshotId(id)
    ? objects
    : objects.filter((object) => OWN.test(listing.nameOf(object.key).slice(id.length)));
  return {
    ...common,
    objects: payload && !own.includes(payload) ? [...own.filter((object) => object.key !== payload.key), payload] : own,
    manifest,
    verification,
    state: stateOf({ manifest, verification, problem, unread: problem === undefined ? away?.unread : undefined }),
    problem: problem ?? away?.problem,
  };
}

/** Whether the manifest is that of an exact key: at the key or, until the snapshot is moved there, beside it. */
export const isOfExactKey = (at: string, { id, object: { key } }: Pick<Brief, 'id' | 'object'>): boolean =>
  [key, key.replace(`.${id}`, '')].some((each) => exactManifestKey(each) === at);

/** A manifest that was copied by hand, damaged or forged may name any object. */
function strayProblem(path: string, { object, extra }: Brief): string | undefined {
  const stray = [object.key, ...(extra ? [extra.key] : [])].find((key) => !isInFolder(path, key));
  if (stray === undefined) return undefined;
  return `its manifest names ${JSON.stringify(stray)}, which is not in the folder ${path} or is not a valid key`;
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
