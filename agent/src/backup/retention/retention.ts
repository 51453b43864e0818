import type { RetentionSpec } from '../../store/retention-spec.ts';
import {
  type Candidate,
  type ClusterLine,
  exclusion,
  type FolderOwner,
  newestFirst,
  type Snapshot,
} from '../catalog/candidate.ts';
import { aroundFalls } from '../catalog/revision-fall.ts';
import { clockDifference, MAX_CLOCK_DIFFERENCE } from './clock-difference.ts';
import { applyRules, type Keep } from './keep-rules.ts';

/** The ids of snapshots that are kept whatever the policy says, each with the reason. */
export type Kept = ReadonlyMap<string, string>;

export interface RetentionContext extends FolderOwner {
  /** Time of the store's clock. Undefined if it cannot be read. */
  readonly storeNow?: Date;
  /** Snapshot of the `backup` run that applies retention. */
  readonly ownRun?: { readonly id: string; readonly verified: boolean };
  readonly keep?: Kept | undefined;
  /** Why the snapshots that were found in the store cannot be relied on. */
  readonly doubt?: string;
  /** Lifts the limit on deletions per run, and nothing else. */
  readonly force: boolean;
}

export interface RetentionDecision {
  readonly id: string;
  /** `defer`: no rule keeps the snapshot, but it is deleted only in a later run. */
  readonly action: 'keep' | 'delete' | 'defer';
  /** Reasons for people to read. */
  readonly reasons: readonly string[];
}

/** Decides what to do with each snapshot, oldest first. Nothing else decides which snapshots may be deleted. */
export function decide(
  candidates: readonly Candidate[],
  policy: RetentionSpec | undefined,
  context: RetentionContext,
): RetentionDecision[] {
  const { cluster } = context;
  const sorted = candidates.toSorted(newestFirst);
  const excluded = new Map(sorted.map((candidate) => [candidate.id, exclusion(candidate, context, cluster)]));
  const snapshots = sorted.filter((candidate): candidate is Snapshot => excluded.get(candidate.id) === undefined);

  const kept = keptReasons(snapshots, policy, context);
  keepUncertain(candidates, snapshots, cluster, kept);
  keepUnproven(snapshots, cluster, kept);
  const surplus = snapshots.filter(({ id }) => !kept.has(id)).reverse();
  const veto = vetoOf(candidates, policy, context);
  const limit = context.force ? Number.POSITIVE_INFINITY : Math.max(10, Math.floor(snapshots.length / 4));
  const doomed = new Set<Candidate>(surplus.slice(0, limit));

  return sorted.reverse().map((candidate) => {
    const { id } = candidate;
    const exclusionReason = excluded.get(id);
    if (exclusionReason) return { id, action: 'keep', reasons: [exclusionReason, ...holds(candidate)] };
    const reasons = kept.get(id);
    if (reasons) return { id, action: 'keep', reasons };
    if (veto) return { id, action: 'keep', reasons: [`nothing is deleted: ${veto}`] };
    if (doomed.has(candidate)) return { id, action: 'delete', reasons: ['no rule keeps it'] };
    return { id, action: 'defer', reasons: [`over the limit of ${limit} per run`] };
  });
}

/** Returns why each of these snapshots must be kept. They are never deleted, whatever else applies. */
function keptReasons(
  snapshots: readonly Snapshot[],
  policy: RetentionSpec | undefined,
  { cluster, keep: named }: RetentionContext,
): Map<string, string[]> {
  const kept = new Map<string, string[]>();
  const keep: Keep = ({ id }, reason) => {
    const reasons = kept.get(id) ?? [];
    if (!reasons.includes(reason)) kept.set(id, [...reasons, reason]);
  };
  const verified = snapshots.filter((snapshot) => snapshot.verified);
  if (policy) applyRules(snapshots, policy, keep);
  keepLifelines(snapshots, cluster, keep);
  for (const snapshot of snapshots) for (const reason of holds(snapshot)) keep(snapshot, reason);
  for (const snapshot of snapshots) {
    const reason = named?.get(snapshot.id);
    if (reason !== undefined) keep(snapshot, reason);
  }
  if (policy) for (const group of [verified, snapshots]) fillUp(group, minKeepOf(policy), kept, keep);
  return kept;
}

/**
 * Keeps what a manifest that the store does not give out now might keep: it may be of the current etcd, connect two of them,
 * or say that the revision fell. Only later snapshots of the current etcd do not depend on it.
 */
function keepUncertain(
  candidates: readonly Candidate[],
  snapshots: readonly Snapshot[],
  cluster: ClusterLine | undefined,
  kept: Map<string, string[]>,
): void {
  const [last] = candidates
    .filter(({ silentUntil }) => silentUntil !== undefined)
    .sort((a, b) => b.silentUntil! - a.silentUntil!);
  if (!last) return;
  const until = last.silentUntil! + MAX_CLOCK_DIFFERENCE;
  for (const { id, clusterId, createdAt } of snapshots) {
    if (kept.has(id) || (clusterId === cluster?.id && createdAt.getTime() > until)) continue;
    kept.set(id, [`undecided until ${last.id} is read`]);
  }
}

/**
 * Returns the cluster ids of which a snapshot stays whatever happens, the current one and the one before, if none of theirs is
 * verified. Without any cluster id, that of adopted snapshots.
 */
function unprovenIds(snapshots: readonly Snapshot[], cluster: ClusterLine | undefined): string[] {
  const has = (id: string) => snapshots.some(({ clusterId }) => clusterId === id);
  const before = cluster?.lineage.find((id) => id !== cluster.id && has(id));
  return (cluster ? [cluster.id, before] : ['unknown'])
    .filter((id) => id !== undefined)
    .filter((id) => has(id) && !snapshots.some(({ clusterId, verified }) => clusterId === id && verified));
}

/** Keeps what would go in favor of one that nobody has read. */
function keepUnproven(
  snapshots: readonly Snapshot[],
  cluster: ClusterLine | undefined,
  kept: Map<string, string[]>,
): void {
  const unproven = unprovenIds(snapshots, cluster);
  for (const { id, clusterId } of snapshots) {
    if (kept.has(id) || !unproven.includes(clusterId!)) continue;
    const of = clusterId === 'unknown' ? 'adopted snapshot' : `snapshot of cluster ${clusterId}`;
    kept.set(id, [`no ${of} is verified`]);
  }
}

/** Returns the snapshots that take part, newest first, of each cluster id that keeps all of them until one of them is verified. */
export function unproven(
  candidates: readonly Candidate[],
  context: RetentionContext,
): ReadonlyMap<string, readonly Snapshot[]> {
  const snapshots = candidates
    .filter((each): each is Snapshot => exclusion(each, context, context.cluster) === undefined)
    .sort(newestFirst);
  const of = (id: string) => snapshots.filter(({ clusterId }) => clusterId === id);
  return new Map(unprovenIds(snapshots, context.cluster).map((id) => [id, of(id)]));
}

function holds({ pinned, locked }: Candidate): string[] {
  return [...(pinned ? ['pinned'] : []), ...(locked ? ['locked'] : [])];
}

/**
 * Keeps the newest verified snapshot, and the newest of all, of the current cluster id and of the one before, and what lies around
 * each fall of a revision, among the verified ones and among all.
 */
function keepLifelines(snapshots: readonly Snapshot[], cluster: ClusterLine | undefined, keep: Keep): void {
  const verified = snapshots.filter((snapshot) => snapshot.verified);
  if (cluster) keepNewest(snapshots, verified, cluster, keep);
  const groups = [verified, ...(verified.length < snapshots.length ? [snapshots] : [])];
  // An adopted snapshot may be of any etcd, also of one that was emptied.
  for (const id of [...(cluster ? [cluster.id, ...cluster.lineage] : []), 'unknown']) {
    const of = id === 'unknown' ? 'adopted snapshots' : `cluster ${id}`;
    for (const group of groups) {
      const what = group === verified ? ' verified' : '';
      const { before, after } = aroundFalls(group, id);
      for (const one of before) keep(one, `newest${what} before the revision of ${of} fell`);
      for (const one of after) keep(one, `first${what} after the revision of ${of} fell`);
    }
  }
}

function keepNewest(
  snapshots: readonly Snapshot[],
  verified: readonly Snapshot[],
  { id: current, lineage }: ClusterLine,
  keep: Keep,
): void {
  const keepFirst = (among: readonly Snapshot[], ids: readonly string[], what: string) => {
    const newest = ids
      .map((id) => among.find(({ clusterId }) => clusterId === id))
      .find((found) => found !== undefined);
    if (newest) keep(newest, `${what} of cluster ${newest.clusterId}`);
  };
  // The id before is the nearest ancestor that has snapshots: a cluster may be restored again before its first backup.
  for (const ids of [[current], lineage.filter((id) => id !== current)]) {
    keepFirst(verified, ids, 'newest verified');
    keepFirst(snapshots, ids, 'newest');
  }
}

function fillUp(group: readonly Snapshot[], minKeep: number, kept: ReadonlyMap<string, unknown>, keep: Keep): void {
  let missing = minKeep - group.filter(({ id }) => kept.has(id)).length;
  for (const snapshot of group) {
    if (missing <= 0) return;
    if (kept.has(snapshot.id)) continue;
    keep(snapshot, `minKeep ${minKeep}`);
    missing--;
  }
}

function minKeepOf({ last, minKeep, timeZone: _, ...others }: RetentionSpec): number {
  if (minKeep) return minKeep;
  const lastAlone = Object.values(others).every((value) => value === undefined);
  return lastAlone && last ? Math.min(last, 3) : 3;
}

/** Doubt if the ids of snapshots that are kept cannot be known. */
export const NO_LIST = 'the list of the snapshots that restores need does not exist; the reconciler writes it';

/** Returns why nothing may be deleted in this run, or undefined. */
export function vetoOf(
  candidates: readonly Candidate[],
  policy: RetentionSpec | undefined,
  { now, storeNow, ownRun, doubt }: RetentionContext,
): string | undefined {
  if (!policy) return 'no retention policy is given';
  if (doubt !== undefined) return doubt;
  const own = candidates.find(({ id }) => id === ownRun?.id);
  if (ownRun && !own) return "this run's snapshot is not listed";
  if (ownRun && !(ownRun.verified && own?.verified)) return "this run's snapshot is not verified";
  return storeNow && clockDifference(storeNow, now);
}
