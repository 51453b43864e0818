import { type Entry, isUnread, isVerified } from './catalog.ts';
import { revisionOf } from './manifest.ts';
import { byTimeOf } from './snapshot-id.ts';

/** One snapshot of a cluster's folder, reduced to what retention needs. */
export interface Candidate {
  readonly id: string;
  /**
   * From the manifest. Undefined only if the manifest is unreadable; the cluster's name and id are then undefined too.
   */
  readonly createdAt?: Date;
  readonly clusterName?: string;
  readonly namespace?: string;
  /** `unknown` for an adopted snapshot, which counts as one of this cluster. */
  readonly clusterId?: string;
  /** Undefined if the manifest does not have it. */
  readonly revision?: number;
  /** Verified at level `read` or higher, by the manifest or by a later verification, and not suspect. */
  readonly verified: boolean;
  readonly pinned: boolean;
  /** The store's object lock protects it from deletion. */
  readonly locked: boolean;
  /** False if the manifest or the finding of `verify` cannot be read or has a newer major version. */
  readonly readable: boolean;
  /**
   * Set if the store does not give out the manifest or the finding now: the latest time in milliseconds at which the snapshot may
   * have been taken.
   */
  readonly silentUntil?: number;
}

export function toCandidate(entry: Entry): Candidate {
  const { id, manifest, pinned } = entry;
  return {
    id,
    createdAt: manifest && new Date(manifest.createdAt),
    clusterName: manifest?.cluster.name,
    namespace: manifest?.cluster.namespace,
    clusterId: manifest?.source.clusterId,
    revision: manifest && revisionOf(manifest),
    verified: isVerified(entry),
    pinned,
    locked: false,
    readable: manifest !== undefined && !isUnread(entry) && !isReplaced(entry),
    silentUntil: entry.state === 'unreachable' ? storedAt(entry) : undefined,
  };
}

/** Whether another file has the name of an adopted one: it may be the only copy of a good snapshot, so it is not deleted. */
const isReplaced = ({ manifest, problem, objects }: Entry): boolean =>
  problem !== undefined &&
  manifest?.source.clusterId === 'unknown' &&
  objects.some(({ key }) => key === manifest.object.key);

/** The same one after the other: a folder may have ten thousand, and all of them at once need memory. */
export function* candidatesOf(entries: Iterable<Entry>): Generator<Candidate> {
  for (const entry of entries) yield toCandidate(entry);
}

/** When the last object of a snapshot was stored, in milliseconds. An invalid time is the end of time. */
export function storedAt({ objects }: Pick<Entry, 'objects'>): number {
  const times = objects.map(({ modified }) => modified.getTime());
  return times.length === 0 || times.some(Number.isNaN) ? Number.POSITIVE_INFINITY : Math.max(...times);
}

/** A snapshot that retention counts and may delete. */
export type Snapshot = Candidate & { readonly createdAt: Date };

/** An etcd cluster id and the ids that it was restored from, newest first. */
export interface ClusterLine {
  readonly id: string;
  readonly lineage: readonly string[];
  /**
   * For each of those ids, the time in milliseconds until which its snapshots belong to this line: an etcd that kept
   * running after that is a different cluster.
   */
  readonly ends?: ReadonlyMap<string, number>;
  /** Those of which it is not known until when, with the id of the line that began at an unknown time. */
  readonly unsure?: ReadonlyMap<string, string>;
}

export interface FolderOwner {
  /** The time of this machine's clock. */
  readonly now: Date;
  readonly clusterName: string;
  readonly namespace?: string;
  /** The etcd cluster. Undefined if no snapshot says of which etcd it is. */
  readonly cluster?: ClusterLine;
}

/** Returns why retention neither counts nor deletes a snapshot, or undefined if it does. */
export function exclusion(
  candidate: Candidate,
  owner: FolderOwner,
  cluster: ClusterLine | undefined,
): string | undefined {
  return notOurs(candidate, owner) ?? foreignId(candidate, cluster);
}

/** Returns the cluster id of the newest snapshot that names one. */
export function newestCluster(candidates: readonly Candidate[], owner: FolderOwner): string | undefined {
  const [newest] = candidates
    .filter((candidate) => notOurs(candidate, owner) === undefined)
    .filter(({ clusterId }) => clusterId !== undefined && clusterId !== 'unknown')
    .sort(newestFirst);
  return newest?.clusterId;
}

export const newestFirst = byTimeOf<Candidate>(timeOf);

function notOurs(candidate: Candidate, owner: FolderOwner): string | undefined {
  const { createdAt, clusterName, namespace } = candidate;
  if (!candidate.readable || !createdAt || Number.isNaN(createdAt.getTime())) return 'unreadable';
  if (clusterName !== owner.clusterName) return `foreign cluster ${clusterName}`;
  if (namespace !== owner.namespace) return `foreign namespace ${namespace ?? '(none)'}`;
  // Not `>`: if the clock is invalid, every snapshot counts as dated in the future.
  if (!(createdAt <= owner.now)) return 'dated in the future';
  return undefined;
}

function foreignId(candidate: Candidate, cluster: ClusterLine | undefined): string | undefined {
  const { clusterId } = candidate;
  if (clusterId === 'unknown') return undefined;
  const isKnown = clusterId !== undefined && cluster && isOfLine(clusterId, timeOf(candidate), cluster);
  if (!isKnown) return `foreign cluster id ${clusterId}`;
  const unknown = cluster.unsure?.get(clusterId);
  return unknown && `foreign cluster id ${clusterId} perhaps: it is not known when ${unknown} was restored from it`;
}

/** Whether a snapshot that this etcd took at this time belongs to the line. */
export const isOfLine = (clusterId: string, time: number, { id, lineage, ends }: ClusterLine): boolean =>
  clusterId === id || (lineage.includes(clusterId) && time <= (ends?.get(clusterId) ?? Number.POSITIVE_INFINITY));

function timeOf({ createdAt }: Candidate): number {
  return createdAt?.getTime() || 0;
}
