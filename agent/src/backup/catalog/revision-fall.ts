import { isPlausible } from '../payload/plausible-revision.ts';
import type { Candidate, Snapshot } from './candidate.ts';

/** Milliseconds within which two snapshots count as taken at the same time. */
const SAME_TIME = 5 * 60_000;

export const areAtOnce = (earlier: Pick<Snapshot, 'createdAt'>, later: Pick<Snapshot, 'createdAt'>): boolean =>
  later.createdAt.getTime() - earlier.createdAt.getTime() <= SAME_TIME;

/** How far an etcd was at a time: by a snapshot, or now. */
export type Reached = Pick<Candidate, 'clusterId' | 'createdAt' | 'revision'>;

/**
 * Returns the newest verified snapshot from before with a revision that the same etcd no longer had later. A restore gives etcd a
 * new cluster id, but one that was emptied, or set back to an earlier state, under its old flags has its old one. Nothing else
 * decides whether the revision fell. `snapshots` are those of one cluster.
 */
export function higherBefore(snapshots: readonly Candidate[], later: Reached): Snapshot | undefined {
  const { clusterId, createdAt: end, revision: now } = later;
  if (clusterId === undefined || clusterId === 'unknown' || !end || !isPlausible(now)) return undefined;
  let newest: Snapshot | undefined;
  for (const each of snapshots) {
    const { createdAt, revision } = each;
    if (each.clusterId !== clusterId || !each.verified || !createdAt || !(createdAt <= end)) continue;
    // Of two runs at the same time, and two members, one may be some writes behind the other.
    const isHigher =
      isPlausible(revision) && (areAtOnce({ createdAt }, { createdAt: end }) ? revision / 2 : revision) > now;
    if (isHigher && (!newest || newest.createdAt < createdAt)) newest = { ...each, createdAt };
  }
  return newest;
}

/** Says that the revision fell. `now`: where it is lower. */
export const fallText = (before: Snapshot, { clusterId, revision }: Reached, now: string): string =>
  `the revision fell from ${before.revision} in ${before.id} to ${revision}${now}, of the same cluster ${clusterId}: was etcd emptied, or set back to an earlier state? Retention keeps ${before.id}; pin others that you need`;
