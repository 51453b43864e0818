import { AgentError, ExitCode } from '../../../lib/errors.ts';
import { type ClusterLine, isOfLine } from '../candidate.ts';
import { type Entry, isVerified } from '../catalog.ts';
import { folderOf, type NamedCluster } from './folder.ts';
import { ALLOWANCE, clusterLine, livesOf } from './lineage.ts';

/** The cluster whose snapshots are wanted. */
export interface WantedSnapshots extends NamedCluster {
  /** Cluster id of the etcd. Needed only if two unrelated etcd clusters of the same name share a folder. */
  readonly clusterId?: string | undefined;
}

/** Etcd clusters that succeed one another by restores. */
export interface Line {
  /** Id of the latest cluster. Undefined if there are only adopted snapshots, whose cluster is not known. */
  readonly head?: string;
  /**
   * Shared by all lines that restores connect. A family has several lines if an etcd kept running beside its restored
   * copy.
   */
  readonly family: ReadonlySet<string>;
  /** Adopted snapshots belong to every line. */
  readonly entries: readonly Entry[];
  /**
   * Cluster ids of which it is not known until when their snapshots belong to this line, with the one that began at an unknown
   * time.
   */
  readonly unsure?: ReadonlyMap<string, string>;
  /** When the latest cluster began, in milliseconds. */
  readonly began?: number;
}

const UNKNOWN = 'unknown';

/** Whether the manifest names this cluster. The folder does not decide, because any file can be copied there. */
export const isOf = ({ cluster, namespace }: NamedCluster, { manifest }: Pick<Entry, 'manifest'>): boolean =>
  manifest?.cluster.name === cluster && manifest.cluster.namespace === namespace;

/** Returns the folder of the cluster that the manifest names. */
export const ownerOf = ({ manifest }: Pick<Entry, 'manifest'>): string | undefined =>
  manifest && folderOf({ cluster: manifest.cluster.name, namespace: manifest.cluster.namespace });

/** Groups the cluster ids that a manifest's lineage or a restore note connects. */
export function familiesOf(entries: readonly Entry[]): ReadonlySet<string>[] {
  const families: Set<string>[] = [];
  for (const { manifest, restoredAs } of entries) {
    const id = manifest?.source.clusterId;
    if (id === undefined || id === UNKNOWN) continue;
    const connected = [id, ...(manifest?.cluster.lineage ?? []), ...restoredAs];
    const touched = families.filter((family) => connected.some((each) => family.has(each)));
    const [first, ...more] = touched;
    const family = first ?? new Set();
    for (const each of [...connected, ...more.flatMap((other) => [...other])]) family.add(each);
    if (!first) families.push(family);
    for (const other of more) families.splice(families.indexOf(other), 1);
  }
  return families;
}

/**
 * Splits snapshots into lines. Clusters that restores connect form one line, unless two of them ran at the same time. A
 * cluster ran on if it has snapshots that are more than `allowance` milliseconds newer than the first snapshot of the
 * cluster that was restored from it. Then each is a line of its own, and both include the snapshots from before.
 */
export function linesOf(entries: readonly Entry[], allowance = ALLOWANCE): Line[] {
  const families = familiesOf(entries);
  if (families.length === 0) return entries.length > 0 ? [{ family: new Set(), entries }] : [];
  const lives = livesOf(entries);
  return families.flatMap((family) => linesOfFamily(family, entries, lives, allowance));
}

function linesOfFamily(
  family: ReadonlySet<string>,
  entries: readonly Entry[],
  lives: ReturnType<typeof livesOf>,
  allowance: number,
): Line[] {
  const all = [...family]
    .filter((id) => lives.has(id))
    .map((id) => ({ ...lives.get(id)!, ...clusterLine(entries, id, [], lives, allowance) }))
    .sort((a, b) => b.first - a.first || b.lineage.length - a.lineage.length || (a.id < b.id ? -1 : 1));
  type Head = (typeof all)[number];
  const livedBeside = (a: Head, b: Head) => a.last > b.first + allowance && b.last > a.first + allowance;
  /**
   * If neither was restored from the other, the earlier one ended when the later one began, unless it ran beside an
   * ancestor of the later one.
   */
  const follows = (later: Head, one: Head) =>
    later.lineage.includes(one.id)
      ? isOfLine(one.id, one.last, later)
      : one.last <= later.first + allowance &&
        !all.some((past) => later.lineage.includes(past.id) && livedBeside(past, one));
  const stored = new Set(entries.map(({ manifest }) => manifest?.source.clusterId));
  const heads = all.filter(({ id }) => stored.has(id));
  const past = (head: Head) => heads.slice(heads.indexOf(head) + 1).filter((one) => follows(head, one));
  const living = heads.filter((one, at) => !heads.slice(0, at).some((later) => follows(later, one)));
  return living.map((head) => {
    const before = past(head);
    const whole = new Set([head, ...before].map(({ id }) => id));
    const began = (one: Head) => [head, one].find(({ isWhole }) => !isWhole)?.id;
    const besides = before.filter(({ id }) => !head.lineage.includes(id));
    return {
      head: head.id,
      began: head.first,
      family,
      entries: entries.filter((entry) => whole.has(entry.manifest?.source.clusterId ?? UNKNOWN) || isIn(entry, head)),
      unsure: new Map([...(head.unsure ?? []), ...besides.flatMap((one) => pairOf(one.id, began(one)))]),
    };
  });
}

const pairOf = (id: string, unknown: string | undefined): [string, string][] =>
  unknown === undefined ? [] : [[id, unknown]];

/**
 * Returns the lines that are asked for. A cluster id selects one: that etcd and what it was restored from, never what was
 * restored from it, so that it leads back to before a restore. Clock differences are then not allowed for.
 */
export function linesAsked(own: readonly Entry[], { clusterId }: Pick<WantedSnapshots, 'clusterId'>): Line[] {
  if (clusterId === undefined) return linesOf(own);
  const line = clusterLine(own, clusterId, [], livesOf(own), 0);
  const entries = own.filter((entry) => isIn(entry, line));
  const isKnown = entries.some(({ manifest }) => manifest?.source.clusterId !== UNKNOWN);
  return isKnown ? [{ ...line, head: clusterId, family: new Set([clusterId, ...line.lineage]), entries }] : [];
}

/**
 * Returns all entries or, with a cluster id, those of that etcd and of its ancestors. Entries without a readable manifest
 * are included, because their cluster is not known.
 */
export function entriesAsked(entries: readonly Entry[], wanted: WantedSnapshots): readonly Entry[] {
  if (wanted.clusterId === undefined) return entries;
  const own = entries.filter((entry) => isOf(wanted, entry));
  const asked = new Set(linesAsked(own, wanted).flatMap((line) => line.entries));
  return entries.filter((entry) => !entry.manifest || asked.has(entry));
}

/** Decides which etcd clusters of the same name compete. */
export interface EtcdChoice {
  readonly isCandidate: (entry: Entry) => boolean;
  /** Whether the snapshot, good or bad, counts when the newest etcd is determined. */
  readonly isDated: (entry: Entry) => boolean;
  /** The snapshot must be from before this time. */
  readonly before?: Date | undefined;
}

/**
 * Returns the line of one cluster and of its ancestors, from `entries` sorted newest first. `latest`, `status`,
 * metrics and counts use these. Throws `refused` if the candidates and the newest snapshot of all belong to several
 * unrelated etcd clusters: if a newer etcd has no good backup, the data of an older one must not be used in its place.
 */
export function ownLine(
  entries: readonly Entry[],
  wanted: WantedSnapshots,
  where: string,
  { isCandidate, isDated, before }: EtcdChoice,
): Line | undefined {
  const own = entries.filter((entry) => isOf(wanted, entry));
  const lines = linesAsked(own, wanted);
  if (lines.length < 2) return lines[0];
  const hasId = ({ manifest }: Entry) => manifest?.source.clusterId !== UNKNOWN;
  const isKnown = (entry: Entry) => hasId(entry) && isCandidate(entry);
  const newest = own.find((entry) => hasId(entry) && isDated(entry));
  const members = lines.map((line) => new Set(line.entries));
  const claims = own
    .filter((entry) => entry === newest || isKnown(entry))
    .map((entry) => lines.filter((_, at) => members[at]!.has(entry)));
  const rivals = new Set(claims.filter((of) => of.length === 1).flat());
  // A snapshot that several lines share does not make one of them a rival of another.
  for (const of of claims) if (of[0] && !of.some((line) => rivals.has(line))) rivals.add(of[0]);
  // One that ran at that time competes, though retention may have deleted its snapshots from then.
  const ranBefore = ({ began = Number.POSITIVE_INFINITY, head, entries: of }: Line) => {
    const ofHead = of.filter(({ manifest }) => manifest?.source.clusterId === head);
    return before !== undefined && began < before.getTime() && !ofHead.some(isDated) && ofHead.some(isVerified);
  };
  for (const line of lines) if (ranBefore(line)) rivals.add(line);
  if (rivals.size > 1) throw several([...rivals], wanted, where, { isKnown, before });
  const [only] = rivals;
  return only ?? lines[0];
}

function several(
  lines: readonly Line[],
  wanted: WantedSnapshots,
  where: string,
  { isKnown, before }: { readonly isKnown: (entry: Entry) => boolean; readonly before: Date | undefined },
): AgentError {
  const described = lines.map(({ head, entries }) => {
    const own = entries.filter(({ manifest }) => manifest?.source.clusterId !== UNKNOWN);
    const known = own.filter(isKnown);
    return `${head} (${known.length || (before ? 'none verified from before that time' : 'none verified')}, newest ${(known[0] ?? own[0])?.id})`;
  });
  const isApart = new Set(lines.map(({ family }) => family)).size === lines.length;
  const why = isApart ? 'and no restore connects them' : 'and one kept running after another was restored from it';
  return new AgentError(
    ExitCode.refused,
    `${where} holds snapshots of ${lines.length} etcd clusters named ${folderOf(wanted)}, ${why}: ${described.join(', ')}`,
    { finding: { kind: 'severalEtcds', isApart } },
  );
}

/** Returns the snapshots of a known cluster and of the clusters that it was restored from. */
export const entriesOf = (entries: readonly Entry[], named: NamedCluster, line: ClusterLine): readonly Entry[] =>
  entries.filter((entry) => isOf(named, entry) && isIn(entry, line));

/** Whether a snapshot is of the line. An adopted one is of every line. */
function isIn({ manifest }: Pick<Entry, 'manifest'>, line: ClusterLine): boolean {
  if (!manifest) return false;
  const { clusterId } = manifest.source;
  return clusterId === UNKNOWN || isOfLine(clusterId, Date.parse(manifest.createdAt), line);
}

/**
 * Returns the newest snapshot of an etcd that no restore connects with those of these cluster ids. `known`: the snapshots
 * that say what was restored.
 */
export function otherEtcdAmong(
  entries: readonly Entry[],
  named: NamedCluster,
  ids: readonly string[],
  known = entries,
): Entry | undefined {
  const isOwn = (entry: Entry) => isOf(named, entry) && entry.manifest?.source.clusterId !== UNKNOWN;
  const own = ids.filter((id) => id !== UNKNOWN);
  if (own.length === 0) return undefined;
  const connected = new Set(own);
  for (const { family } of linesOf(known.filter(isOwn)))
    if (own.some((id) => family.has(id))) for (const id of family) connected.add(id);
  return entries.find((entry) => isOwn(entry) && !connected.has(entry.manifest!.source.clusterId));
}
