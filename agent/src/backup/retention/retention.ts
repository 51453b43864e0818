import type { RetentionSpec } from '../../store/retention-spec.ts';
import {
  type Candidate,
  type ClusterLine,
  exclusion,
  newestCluster,
  newestFirst,
  type Owner,
  type Snapshot,
} from '../catalog/candidate.ts';
import { applyRules, type Keep } from './keep-rules.ts';

export interface RetentionContext extends Owner {
  /** The store's clock; undefined where it can't be read. */
  readonly storeNow?: Date;
  /** The snapshot of the `backup` that this is the end of. */
  readonly ownRun?: { readonly id: string; readonly verified: boolean };
  /** Why what the store was found to hold cannot be relied on. */
  readonly doubt?: string;
  /** Lifts the limit of deletions a run, and nothing else. */
  readonly force: boolean;
}

export interface Decision {
  readonly id: string;
  /** `defer`: no rule keeps it, but it waits for the next run. */
  readonly action: 'keep' | 'delete' | 'defer';
  /** For people. */
  readonly reasons: readonly string[];
}

/** Milliseconds between the store's clock and ours. */
export const MAX_CLOCK_DIFFERENCE = 5 * 60_000;

/** What to do with each snapshot, oldest first. The one place that decides what may be deleted. */
export function decide(
  candidates: readonly Candidate[],
  policy: RetentionSpec | undefined,
  context: RetentionContext,
): Decision[] {
  const cluster = context.cluster ?? newestCluster(candidates, context);
  const sorted = candidates.toSorted(newestFirst);
  const excluded = new Map(sorted.map((candidate) => [candidate.id, exclusion(candidate, context, cluster)]));
  const snapshots = sorted.filter((candidate): candidate is Snapshot => excluded.get(candidate.id) === undefined);

  const kept = keptReasons(snapshots, policy, cluster);
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
    return { id, action: 'defer', reasons: [`over the limit of ${limit} a run`] };
  });
}

/** Why each snapshot stays that has to; those are never deleted, whatever else holds. */
function keptReasons(
  snapshots: readonly Snapshot[],
  policy: RetentionSpec | undefined,
  cluster: ClusterLine | undefined,
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
  if (policy) for (const group of [verified, snapshots]) fillUp(group, minKeepOf(policy), kept, keep);
  return kept;
}

function holds({ pinned, locked }: Candidate): string[] {
  return [...(pinned ? ['pinned'] : []), ...(locked ? ['locked'] : [])];
}

/** The newest verified snapshot of the current cluster id and of the one before; the newest of each, too. */
function keepLifelines(snapshots: readonly Snapshot[], cluster: ClusterLine | undefined, keep: Keep): void {
  if (!cluster) return;
  const verified = snapshots.filter((snapshot) => snapshot.verified);
  const keepNewest = (among: readonly Snapshot[], ids: readonly string[], what: string) => {
    const newest = ids
      .map((id) => among.find(({ clusterId }) => clusterId === id))
      .find((found) => found !== undefined);
    if (newest) keep(newest, `${what} of cluster ${newest.clusterId}`);
  };
  // The id before is the nearest one that has any: a cluster may be restored again before its first backup.
  for (const ids of [[cluster.id], cluster.lineage.filter((id) => id !== cluster.id)]) {
    keepNewest(verified, ids, 'newest verified');
    keepNewest(snapshots, ids, 'newest');
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

/** Why nothing at all may be deleted in this run. */
export function vetoOf(
  candidates: readonly Candidate[],
  policy: RetentionSpec | undefined,
  { now, storeNow, ownRun, doubt }: RetentionContext,
): string | undefined {
  if (!policy) return 'no retention policy is given';
  if (doubt !== undefined) return doubt;
  const own = candidates.find(({ id }) => id === ownRun?.id);
  if (ownRun && !(ownRun.verified && own?.verified !== false)) return "this run's snapshot is not verified";
  const difference = storeNow ? Math.abs(now.getTime() - storeNow.getTime()) : 0;
  if (!(difference <= MAX_CLOCK_DIFFERENCE)) return `store clock differs by ${Math.ceil(difference / 60_000)}m`;
  return undefined;
}
