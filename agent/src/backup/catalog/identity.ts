import { AgentError, ExitCode } from '../../lib/errors.ts';
import { type ClusterLine, isOfLine } from './candidate.ts';
import type { Entry } from './catalog.ts';
import { folderOf, type NamedCluster } from './folder.ts';
import { ALLOWANCE, clusterLine, livesOf } from './lineage.ts';

/** Whose snapshots are meant. */
export interface Wanted extends NamedCluster {
  /** Of the etcd: only needed where two of one name, that nothing connects, share a folder. */
  readonly clusterId?: string | undefined;
}

/** The etcd clusters that restores connect, as one line of time. */
export interface Line {
  /** The latest of them. Empty for adopted snapshots alone, whose cluster nobody knows. */
  readonly head?: string;
  readonly clusterIds: readonly string[];
  /** The lines that restores connect have the same one: where there are several, one etcd lived on beside its copy. */
  readonly family: ReadonlySet<string>;
  /** Adopted ones are of every line. */
  readonly entries: readonly Entry[];
}

const UNKNOWN = 'unknown';

/** By the manifest, not by the folder: any file can be copied there. */
export const isOf = ({ cluster, namespace }: NamedCluster, { manifest }: Pick<Entry, 'manifest'>): boolean =>
  manifest?.cluster.name === cluster && manifest.cluster.namespace === namespace;

/** Whose a snapshot is, as far as its manifest says. */
export const ownerOf = ({ manifest }: Pick<Entry, 'manifest'>): string | undefined =>
  manifest && folderOf({ cluster: manifest.cluster.name, namespace: manifest.cluster.namespace });

/** What a manifest's lineage and the notes of restores connect. */
function familiesOf(entries: readonly Entry[]): ReadonlySet<string>[] {
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
 * What restores connect is one line, as long as no two etcds lived at once. One that has snapshots from after the restored
 * one had its first, by more than `allowance`, lived on: each is a line then, with what both had before.
 */
export function linesOf(entries: readonly Entry[], allowance = ALLOWANCE): Line[] {
  const families = familiesOf(entries);
  if (families.length === 0) return entries.length > 0 ? [{ clusterIds: [], family: new Set(), entries }] : [];
  const lives = livesOf(entries);
  return families.flatMap((family) => linesOfFamily(family, entries, lives, allowance));
}

function linesOfFamily(
  family: ReadonlySet<string>,
  entries: readonly Entry[],
  lives: ReturnType<typeof livesOf>,
  allowance: number,
): Line[] {
  const heads = [...family]
    .filter((id) => lives.has(id))
    .map((id) => ({ ...lives.get(id)!, ...clusterLine(entries, id, [], lives, allowance) }))
    .sort((a, b) => b.first - a.first || b.lineage.length - a.lineage.length || (a.id < b.id ? -1 : 1));
  type Head = (typeof heads)[number];
  const livedBeside = (a: Head, b: Head) => a.last > b.first + allowance && b.last > a.first + allowance;
  /** A cousin was given up when the later one was restored, unless it lived beside what that one comes from. */
  const follows = (later: Head, one: Head) =>
    later.lineage.includes(one.id)
      ? isOfLine(one.id, one.last, later)
      : one.last <= later.first + allowance &&
        !heads.some((past) => later.lineage.includes(past.id) && livedBeside(past, one));
  const past = (head: Head) => heads.slice(heads.indexOf(head) + 1).filter((one) => follows(head, one));
  const living = heads.filter((one, at) => !heads.slice(0, at).some((later) => follows(later, one)));
  return living.map((head) => {
    const whole = new Set([head, ...past(head)].map(({ id }) => id));
    const isIn = ({ manifest }: Entry) => {
      const id = manifest?.source.clusterId ?? UNKNOWN;
      return id === UNKNOWN || whole.has(id) || isOfLine(id, Date.parse(manifest!.createdAt), head);
    };
    return {
      head: head.id,
      clusterIds: living.length === 1 ? [...family] : [...new Set([...whole, ...head.lineage])],
      family,
      entries: entries.filter(isIn),
    };
  });
}

/** Those that `--cluster-id` leaves. Who names the etcd asks of no clock. */
export function linesAsked(own: readonly Entry[], { clusterId }: Pick<Wanted, 'clusterId'>): Line[] {
  if (clusterId === undefined) return linesOf(own);
  const lines = linesOf(own, 0).filter(({ clusterIds }) => clusterIds.includes(clusterId));
  const headed = lines.filter(({ head }) => head === clusterId);
  return headed.length > 0 ? headed : lines;
}

/** All, or with `--cluster-id` what is of that etcd and its past; whose those are that cannot be read, nobody knows. */
export function entriesAsked(entries: readonly Entry[], wanted: Wanted): readonly Entry[] {
  if (wanted.clusterId === undefined) return entries;
  const own = entries.filter((entry) => isOf(wanted, entry));
  const asked = new Set(linesAsked(own, wanted).flatMap((line) => line.entries));
  return entries.filter((entry) => !entry.manifest || asked.has(entry));
}

/** What decides which etcds of one name are rivals. */
export interface Choice {
  readonly isCandidate: (entry: Entry) => boolean;
  /** Whether it says which etcd is the newest, good or not. */
  readonly isDated: (entry: Entry) => boolean;
}

/**
 * The snapshots of one cluster and its past, of `entries` with the newest first: those that latest, status, metrics and
 * counts go by. Refuses to choose when the candidates and the newest snapshot of all are of several etcds that nothing
 * connects: a newer etcd without a good backup is no reason to take the data of an older one.
 */
export function ownEntries(
  entries: readonly Entry[],
  wanted: Wanted,
  where: string,
  { isCandidate, isDated }: Choice,
): readonly Entry[] {
  const own = entries.filter((entry) => isOf(wanted, entry));
  const lines = linesAsked(own, wanted);
  if (lines.length < 2) return lines[0]?.entries ?? [];
  const hasId = ({ manifest }: Entry) => manifest?.source.clusterId !== UNKNOWN;
  const isKnown = (entry: Entry) => hasId(entry) && isCandidate(entry);
  const newest = own.find((entry) => hasId(entry) && isDated(entry));
  const members = lines.map((line) => new Set(line.entries));
  const claims = own
    .filter((entry) => entry === newest || isKnown(entry))
    .map((entry) => lines.filter((_, at) => members[at]!.has(entry)));
  const rivals = new Set(claims.filter((of) => of.length === 1).flat());
  // What two lines have in common makes none of them a rival of the other.
  for (const of of claims) if (of[0] && !of.some((line) => rivals.has(line))) rivals.add(of[0]);
  if (rivals.size > 1) throw several([...rivals], wanted, where, isKnown);
  const [only] = rivals;
  return (only ?? lines[0])?.entries ?? [];
}

function several(
  lines: readonly Line[],
  wanted: Wanted,
  where: string,
  isKnown: (entry: Entry) => boolean,
): AgentError {
  const described = lines.map(({ head, entries }) => {
    const own = entries.filter(({ manifest }) => manifest?.source.clusterId !== UNKNOWN);
    const known = own.filter(isKnown);
    return `${head} (${known.length || 'none verified'}, the newest ${(known[0] ?? own[0])?.id})`;
  });
  const why =
    new Set(lines.map(({ family }) => family)).size === lines.length
      ? 'and no restore connects them'
      : 'and one lived on after another was restored from it';
  return new AgentError(
    ExitCode.refused,
    `${where} holds snapshots of ${lines.length} etcd clusters named ${folderOf(wanted)}, ${why}: ${described.join(', ')}; give the --cluster-id of one of them, or name the snapshot`,
  );
}

/** The same of a cluster that is known, with what it was restored from. */
export const entriesOf = (entries: readonly Entry[], named: NamedCluster, line: ClusterLine): readonly Entry[] =>
  entries.filter((entry) => {
    const { source, createdAt } = entry.manifest ?? {};
    if (!source || !isOf(named, entry)) return false;
    return source.clusterId === UNKNOWN || isOfLine(source.clusterId, Date.parse(createdAt!), line);
  });
