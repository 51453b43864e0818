import { type Entry, isVerified, stateOf } from './catalog.ts';

/** What retention needs to know of one snapshot of `<cluster>/`. */
export interface Candidate {
  readonly id: string;
  /** From the manifest; undefined only when that is unreadable, as are the cluster's name and id. */
  readonly createdAt?: Date;
  readonly clusterName?: string;
  readonly namespace?: string;
  /** `unknown`: adopted, which is not foreign. */
  readonly clusterId?: string;
  /** The cluster ids that its cluster was restored from, newest first. */
  readonly lineage?: readonly string[];
  /** Level `read` or higher and not suspect, by the manifest or by a later verification. */
  readonly verified: boolean;
  readonly pinned: boolean;
  /** Held by the store's object lock. */
  readonly locked: boolean;
  /** False: the manifest, or what verify found, cannot be read, or is of a newer major version. */
  readonly readable: boolean;
  /** Taken with `--key`. */
  readonly exactKey: boolean;
}

export function toCandidate(entry: Entry): Candidate {
  const { id, manifest, pinned } = entry;
  return {
    id,
    createdAt: manifest && new Date(manifest.createdAt),
    clusterName: manifest?.cluster.name,
    namespace: manifest?.cluster.namespace,
    clusterId: manifest?.source.clusterId,
    lineage: manifest?.cluster.lineage,
    verified: isVerified(entry),
    pinned,
    locked: false,
    readable: manifest !== undefined && stateOf(entry) !== 'unread',
    exactKey: false,
  };
}

/** A snapshot that takes part in retention. */
export type Snapshot = Candidate & { readonly createdAt: Date };

/** An etcd cluster id and the ids that it was restored from, newest first. */
export interface ClusterLine {
  readonly id: string;
  readonly lineage: readonly string[];
  /** Until when what each of those took is of this line: one that lived on is another etcd since. */
  readonly ends?: ReadonlyMap<string, number>;
}

export interface Owner {
  /** Our clock. */
  readonly now: Date;
  readonly clusterName: string;
  readonly namespace?: string;
  /** The etcd cluster. Undefined where etcd can't be asked: then it is that of the newest snapshot. */
  readonly cluster?: ClusterLine;
}

/** Why a snapshot takes no part in retention, neither deleted nor counted; undefined when it does. */
export function exclusion(candidate: Candidate, owner: Owner, cluster: ClusterLine | undefined): string | undefined {
  return notOurs(candidate, owner) ?? foreignId(candidate, cluster);
}

/** The cluster of the newest snapshot that names one. */
export function newestCluster(candidates: readonly Candidate[], owner: Owner): ClusterLine | undefined {
  const [newest] = candidates
    .filter((candidate) => notOurs(candidate, owner) === undefined)
    .filter(({ clusterId }) => clusterId !== undefined && clusterId !== 'unknown')
    .sort(newestFirst);
  return newest?.clusterId ? { id: newest.clusterId, lineage: newest.lineage ?? [] } : undefined;
}

/** By time; ties by id, so that no answer depends on the order of the list. */
export function newestFirst(a: Candidate, b: Candidate): number {
  return timeOf(b) - timeOf(a) || (a.id < b.id ? 1 : -1);
}

function notOurs(candidate: Candidate, owner: Owner): string | undefined {
  const { createdAt, clusterName, namespace } = candidate;
  if (!candidate.readable || !createdAt || Number.isNaN(createdAt.getTime())) return 'unreadable';
  if (candidate.exactKey) return 'exact key';
  if (clusterName !== owner.clusterName) return `foreign cluster ${clusterName}`;
  if (namespace !== owner.namespace) return `foreign namespace ${namespace ?? '(none)'}`;
  // Not `>`: an invalid clock has everything in the future.
  if (!(createdAt <= owner.now)) return 'dated in the future';
  return undefined;
}

function foreignId(candidate: Candidate, cluster: ClusterLine | undefined): string | undefined {
  const { clusterId } = candidate;
  if (clusterId === 'unknown') return undefined;
  const isKnown = clusterId !== undefined && cluster && isOfLine(clusterId, timeOf(candidate), cluster);
  return isKnown ? undefined : `foreign cluster id ${clusterId}`;
}

/** Whether what an etcd took at this time is of a line. */
export const isOfLine = (clusterId: string, time: number, { id, lineage, ends }: ClusterLine): boolean =>
  clusterId === id || (lineage.includes(clusterId) && time <= (ends?.get(clusterId) ?? Number.POSITIVE_INFINITY));

function timeOf({ createdAt }: Candidate): number {
  return createdAt?.getTime() || 0;
}
