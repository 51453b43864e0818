import { AgentError, ExitCode, type Warn } from '../../lib/errors.ts';
import { type Finding, together } from '../../lib/finding.ts';
import { clockOf, timeAt } from '../../store/clock.ts';
import type { Store, StoredObject } from '../../store/store.ts';
import type { ClusterLine } from './candidate.ts';
import {
  type Entry,
  IncompleteError,
  inFuture,
  isLost,
  isUnread,
  isVerified,
  isYoung,
  readCatalog,
  readEntry,
  silentAmong,
  type WholeEntry,
} from './catalog.ts';
import { exportedAs } from './exports.ts';
import type { Folder, Listing } from './folder.ts';
import { folderOf, type NamedCluster } from './identity/folder.ts';
import { entriesOf, isOf, type Line, ownerOf, ownLine, type WantedSnapshots } from './identity/identity.ts';
import {
  byTime,
  earliestOf,
  mayBeFrom,
  newerFiles,
  passedOver,
  passedOverTexts,
  timeOf,
  unclaimedText,
} from './passed-over.ts';
import { remedyOf } from './remedy.ts';
import { isUnreachable } from './silence.ts';
import { isId, isSnapshotId } from './snapshot-id.ts';

/** The time that a snapshot's date is compared with. One of the clocks may be stuck or behind. */
export const laterOf = (ours: Date, theirs: Date | undefined): Date => (theirs && theirs > ours ? theirs : ours);

/** Whether a manifest does not say of which etcd the snapshot is. */
const isAdopted = ({ manifest }: Pick<Entry, 'manifest'>): boolean => manifest?.source.clusterId === 'unknown';

export interface Newest {
  readonly newest?: Entry;
  /** Verified snapshots that are dated in the future. They do not count as the newest. */
  readonly future: readonly Entry[];
  /** All snapshots of this cluster. */
  readonly own: readonly Entry[];
  readonly unsure?: Line['unsure'];
}

/**
 * Returns the newest verified snapshot of a cluster; with `before`, only from those that were taken before that time.
 */
export function newestVerified(
  entries: readonly Entry[],
  wanted: WantedSnapshots,
  where: string,
  { now, before }: { readonly now: Date; readonly before?: Date },
): Newest {
  const isEarly = ({ manifest }: Entry) => !before || (manifest && Date.parse(manifest.createdAt) < before.getTime());
  const isDated = (entry: Entry) => Boolean(isEarly(entry)) && !inFuture(entry, now);
  const isCandidate = (entry: Entry) => isVerified(entry) && isDated(entry);
  const line = ownLine(entries, wanted, where, { isCandidate, isDated, before });
  const own = line?.entries ?? [];
  return {
    newest:
      (wanted.clusterId === undefined ? undefined : own.find((entry) => !isAdopted(entry) && isCandidate(entry))) ??
      own.find(isCandidate),
    future: own.filter((entry) => isVerified(entry) && inFuture(entry, now)),
    own,
    unsure: line?.unsure,
  };
}

/**
 * Reads the newest again until it is one that is still verified: a listing may leave out what `verify` has found, and an index may
 * be wrong. Returns the snapshots as they are known then.
 */
export async function sureNewest(
  folder: Folder,
  given: readonly Entry[],
  find: (entries: readonly Entry[]) => Newest,
): Promise<{ readonly entries: readonly Entry[]; readonly found: Newest; readonly whole?: WholeEntry }> {
  let entries = given;
  for (;;) {
    const found = find(entries);
    const { newest } = found;
    if (!newest) return { entries, found };
    const now = await readEntry(folder, newest.id).catch((error) => unreachable(newest, error, folder));
    if (now && isVerified(now)) return { entries, found, whole: now as WholeEntry };
    entries = entries.flatMap((entry) => (entry.id === newest.id ? (now ?? []) : [entry]));
  }
}

function unreachable(entry: Entry, error: unknown, { signal }: Folder): Entry {
  signal?.throwIfAborted();
  if (!isUnreachable(error)) throw error;
  const { message, finding } = error;
  return { ...entry, state: 'unreachable', problem: `it cannot be read again: ${message}`, finding };
}

/** Returns the newest verified snapshot of a line, or of the cluster's name if the line is not known. */
export function newestOfLine(
  entries: readonly Entry[],
  named: NamedCluster,
  line: ClusterLine | undefined,
  now = new Date(),
): Pick<Newest, 'newest' | 'own'> {
  const own = line ? entriesOf(entries, named, line) : entries.filter((entry) => isOf(named, entry));
  const newest = own.find((entry) => isVerified(entry) && !inFuture(entry, now));
  // What `restore` refuses to take as the newest is not reported as such.
  const isRefused = newest && refusalOf(newest, { own, unsure: line?.unsure }, named, '');
  return { newest: isRefused ? undefined : newest, own };
}

/** Explains to the caller who wants the newest verified snapshot why there is none. */
export function noneVerified(
  { future }: Pick<Newest, 'future'>,
  entries: readonly Entry[],
  wanted: WantedSnapshots,
  where: string,
  /** How one of them becomes a snapshot again. */
  remedy: (entry: Entry) => Finding | undefined = () => undefined,
): AgentError {
  const sorted = entries.toSorted(byTime);
  const unread = sorted.filter(isUnread);
  const bad = sorted.filter((entry) => !isUnread(entry) && !isVerified(entry));
  const others = new Set(entries.filter(isVerified).map((entry) => ownerOf(entry)));
  others.delete(folderOf(wanted));
  const why = [
    ...(future.length > 0 ? [`${future.length} dated in the future, such as ${future[0]?.id}`] : []),
    ...(others.size > 0 ? [`verified snapshots of ${[...others].join(', ')}; name one by its id`] : []),
    ...(unread.length > 0
      ? [`${unread.length} that cannot be read, such as ${unread[0]!.id}: ${unread[0]!.problem}`]
      : []),
  ];
  let finding: Finding | undefined = unread[0] && remedy(unread[0]);
  if (why.length === 0 && bad.length > 0) {
    const one = bad.find(remedy) ?? bad[0]!;
    finding = { kind: 'listed', remedy: remedy(one) };
    why.push(
      `${bad.length === 1 ? `1 that is not verified, ${one.id}` : `${bad.length} that are not verified, such as ${one.id}`}: ${one.problem ?? badness(one) ?? 'it was never verified'}`,
    );
  }
  const of = `${folderOf(wanted)}${wanted.clusterId === undefined ? '' : ` with the cluster id ${wanted.clusterId}`}`;
  return new AgentError(
    unread.length === 0
      ? ExitCode.nothingThere
      : silentAmong(unread).length > 0
        ? ExitCode.storeUnreachable
        : ExitCode.storeRefused,
    `${where} holds no verified snapshot of ${of}${why.length > 0 ? `, but ${why.join(', and ')}` : ''}`,
    { finding },
  );
}

export interface AskedSnapshot extends WantedSnapshots {
  /** Default, and `latest`: the newest verified snapshot. */
  readonly id?: string | undefined;
  /** Select the newest verified snapshot that was taken before this time. */
  readonly before?: Date;
}

export interface SelectOptions {
  /** Reads every snapshot in the folder. One that the store does not give out in time is `unreachable`. */
  readonly readAnswering: () => Promise<readonly Entry[]>;
  readonly list: () => Promise<Listing>;
  /** Called with each snapshot that is newer than the selected one, and why it is not used. */
  readonly warn: Warn;
}

/** Returns the requested snapshot with its complete manifest. */
export async function selectEntry(folder: Folder, asked: AskedSnapshot, options: SelectOptions): Promise<WholeEntry> {
  const { store, signal } = folder;
  const { id, before } = asked;
  if (id && id !== 'latest') return whole(folder, id);
  const answering = await options.readAnswering();
  const theirs = await clockOf(store, { signal });
  const dating = laterOf(new Date(), theirs);
  const {
    entries,
    found,
    whole: newest,
  } = await sureNewest(folder, answering, (all) => newestVerified(all, asked, store.url, { now: dating, before }));
  // The store has dated its objects itself.
  const now = theirs ?? dating;
  for (const { id: other, manifest } of found.future) {
    options.warn(
      `${other} is dated in the future (${manifest?.createdAt}) and does not count as the newest; name it to use it`,
    );
  }
  const end = before?.getTime() ?? Number.POSITIVE_INFINITY;
  const silent = silentAmong(entries).filter((entry) => earliestOf(entry) < end);
  refuseUnknown(silent, found, asked, store);
  const listing = await options.list();
  const without = listing.withoutManifest(now);
  const remedy = (entry: Entry | undefined) =>
    entry && entry.state !== 'writing' ? remedyOf(entry, asked, { now, entries }) : undefined;
  if (found.newest && newest) {
    const refusal = refusalOf(found.newest, found, asked, store.url);
    if (refusal) throw refusal;
    warnOfSilent(silent, found.newest, options);
    const unfinished = without.filter((entry) => isYoung(entry) && earliestOf(entry) < end);
    warnOfUnfinished(unfinished, found.newest, remedy, options.warn);
    const all = [...entries, ...without.filter(isLost)];
    const byId = new Map(all.map((entry) => [entry.id, entry]));
    const passed = passedOver(all, found.newest, asked, before);
    for (const { text, id: one } of passedOverTexts(passed, found.newest.id))
      options.warn(text, one === undefined ? { kind: 'listed' } : remedy(byId.get(one)));
    warnOfUnclaimed(listing.unclaimed(entries), found.newest, before, options.warn);
    return newest;
  }
  if (!before) {
    const all = [...entries, ...without.filter(isLost), ...without.filter(isYoung)];
    throw noneVerified(found, all, asked, store.url, remedy);
  }
  throw new AgentError(
    ExitCode.nothingThere,
    `${store.url} holds no verified snapshot of ${folderOf(asked)} from before ${before.toISOString()}`,
    { finding: { kind: 'listed' } },
  );
}

/**
 * Throws if a snapshot that the store does not give out now may be the one that is asked for, or of another etcd cluster of the
 * name: then nobody has said which is meant.
 */
function refuseUnknown(silent: readonly Entry[], { newest, own }: Newest, asked: AskedSnapshot, store: Store): void {
  const { clusterId, before } = asked;
  const from = newest ? timeOf(newest) : Number.NEGATIVE_INFINITY;
  // If only the finding is not given out, the manifest says whose snapshot it is.
  const isAsked = (entry: Entry) => isOf(asked, entry) && (clusterId === undefined || own.includes(entry));
  const mayCount = silent.filter((entry) => !entry.manifest || isAsked(entry));
  const [first, ...more] = mayCount.filter((entry) => mayBeFrom(entry, from));
  const [rival, ...others] = clusterId === undefined ? mayCount.filter((entry) => !own.includes(entry)) : [];
  if (!first && !rival) return;
  const named = (entry: Entry, rest: readonly Entry[]) =>
    `${entry.id}${rest.length > 0 ? ` and ${rest.length} more` : ''}`;
  const known = newest?.manifest?.source.clusterId;
  throw new AgentError(
    ExitCode.storeUnreachable,
    first
      ? `${store.url}: ${named(first, more)}, which ${newest ? `may be newer than ${newest.id}` : 'may be the one'}${before ? ` and from before ${before.toISOString()}` : ''}: ${first.problem}`
      : `${store.url}: ${named(rival!, others)}, which may be of another etcd cluster than ${newest!.id}: ${rival!.problem}`,
    {
      finding: together((first ?? rival)?.finding, {
        ...{ kind: 'mayBeNewer', newest: newest?.id },
        // An adopted snapshot has no cluster id to give.
        clusterId: first || known === 'unknown' ? undefined : known,
      }),
    },
  );
}

/** Error of a newest snapshot that nobody takes without being told to: it may be of another etcd, or from after a restore. */
export function refusalOf(
  newest: Entry,
  { own, unsure }: Pick<Newest, 'own' | 'unsure'>,
  asked: Omit<AskedSnapshot, 'id'>,
  where: string,
): AgentError | undefined {
  return refusalOfAdopted(newest, own, asked, where) ?? refusalOfUnsure(newest, unsure, where);
}

/** Any file can be adopted. */
function refusalOfAdopted(
  newest: Entry,
  own: readonly Entry[],
  { before, clusterId, ...named }: Omit<AskedSnapshot, 'id'>,
  where: string,
): AgentError | undefined {
  if (!isAdopted(newest)) return undefined;
  const known = own.find((entry) => !isAdopted(entry) && (!before || timeOf(entry) < before.getTime()));
  if (!known) return undefined;
  const id = known.manifest!.source.clusterId;
  return new AgentError(
    ExitCode.refused,
    `${where}: ${newest.id} was adopted, so its etcd is not known, and ${folderOf(named)} has snapshots of the cluster id ${id} too, such as ${known.id}`,
    { finding: { kind: 'adoptedNewest', clusterId: clusterId === undefined ? id : undefined } },
  );
}

/** The etcd may have run on beside the line that continues with a restore from it. */
function refusalOfUnsure({ id, manifest }: Entry, unsure: Line['unsure'], where: string): AgentError | undefined {
  const clusterId = manifest!.source.clusterId;
  const restored = unsure?.get(clusterId);
  if (restored === undefined) return undefined;
  return new AgentError(
    ExitCode.refused,
    `${where}: ${id} is of the cluster id ${clusterId}, and it is not known when ${restored} was restored from it, so it may be from after that`,
    { finding: { kind: 'unsure', clusterId } },
  );
}

function warnOfSilent(silent: readonly Entry[], { id }: Entry, { warn }: Pick<SelectOptions, 'warn'>): void {
  const [first] = silent;
  if (!first) return;
  const count = silent.length === 1 ? '1 snapshot that is older' : `${silent.length} snapshots that are older`;
  warn(`${count} than ${id} cannot be read, such as ${first.id}: ${first.problem}`, first.finding);
}

function warnOfUnfinished(
  young: readonly Entry[],
  taken: Entry,
  remedy: (entry: Entry) => Finding | undefined,
  warn: Warn,
): void {
  const newer = young.filter((entry) => timeOf(entry) >= timeOf(taken)).sort((a, b) => timeOf(b) - timeOf(a));
  const [first, ...more] = newer;
  if (!first) return;
  const rest = more.length > 0 ? ` (and ${more.length} more)` : '';
  warn(`${first.id}${rest}, which is newer than ${taken.id}, ${first.problem?.replace(/^it /, '')}`, remedy(first));
}

function warnOfUnclaimed(unclaimed: readonly StoredObject[], taken: Entry, before: Date | undefined, warn: Warn): void {
  const files = newerFiles(unclaimed, taken, before);
  const text = unclaimedText(files, taken.id);
  if (text) warn(text, { kind: 'unclaimed', key: files[0]!.key });
}

/** Returns one snapshot by its id with its complete manifest, without reading another manifest. */
export const whole = async (folder: Folder, id: string): Promise<WholeEntry> => usable(await anyEntry(folder, id));

/** Returns one snapshot by its id or by the name of an export, even if it is incomplete. */
export async function anyEntry(folder: Folder, id: string): Promise<Entry | WholeEntry> {
  const { store, path, signal } = folder;
  const entry = await readEntry(folder, id);
  if (entry) return entry;
  const listing = isId(id) ? await folder.list({ id }) : undefined;
  const [without] = listing?.withoutManifest(await timeAt(store, { signal })) ?? [];
  if (without) throw new IncompleteError(ExitCode.nothingThere, `${store.url}: ${id}: ${without.problem}`, without);
  const exported = isSnapshotId(id) ? undefined : await exporterOf(folder, id);
  if (exported) return anyEntry(folder, exported.id);
  throw new AgentError(ExitCode.nothingThere, `${store.url} holds no snapshot ${id} of ${path}`, {
    finding: { kind: 'unknownId', id },
  });
}

/** The newest that was exported under the name. Throws if one whose manifest cannot be read may be it. */
async function exporterOf(folder: Folder, name: string): Promise<Entry | undefined> {
  const entries = await readCatalog(folder, { mayLackAll: true });
  const found = exportedAs(entries, name);
  const unread = entries.find((entry) => !entry.manifest && (!found || mayBeFrom(entry, timeOf(found))));
  if (!unread || (!found && unread.state !== 'unreachable')) return found;
  throw new AgentError(
    unread.state === 'unreachable' ? ExitCode.storeUnreachable : ExitCode.verificationFailed,
    `${folder.store.url}: which snapshot was exported as ${name} is not known: ${unread.id}: ${unread.problem}`,
    { finding: unread.finding },
  );
}

/** Returns why a snapshot is bad or may be bad, or undefined if it is good or was only never verified. */
export function badness(entry: Entry): string | undefined {
  const { manifest, verification, problem, state } = entry;
  switch (state) {
    case 'verified':
    case 'unverified':
      return undefined;
    case 'failed':
      return `\`verify\` found it FAILED: ${verification?.detail ?? `at level ${verification?.level}`}`;
    case 'suspect':
      return `its source is SUSPECT: ${manifest?.source.suspect?.join(', ')}`;
    default:
      return problem ?? 'its manifest cannot be read';
  }
}

/** Throws unless the manifest and the payload exist. Does not check how good the snapshot is. */
export function usable(entry: Entry | WholeEntry): WholeEntry {
  if (entry.manifest && entry.state !== 'broken') return entry as WholeEntry;
  const exitCode = entry.state === 'refused' ? ExitCode.storeRefused : ExitCode.verificationFailed;
  throw new IncompleteError(exitCode, `${entry.id}: ${entry.problem ?? 'its manifest cannot be read'}`, entry);
}
