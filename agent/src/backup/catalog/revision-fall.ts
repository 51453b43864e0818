import { isPlausible } from '../payload/plausible-revision.ts';
import type { Candidate, Snapshot } from './candidate.ts';

/** Milliseconds within which two snapshots count as taken at the same time. */
const SAME_TIME = 5 * 60_000;

const areAtOnce = (earlier: Pick<Snapshot, 'createdAt'>, later: Pick<Snapshot, 'createdAt'>): boolean =>
  later.createdAt.getTime() - earlier.createdAt.getTime() <= SAME_TIME;

type At = Pick<Snapshot, 'createdAt'> & { readonly revision: number };

/** Of two runs at the same time, and two members, one may be some writes behind the other. */
const isFall = (before: At, after: At): boolean =>
  (areAtOnce(before, after) ? before.revision / 2 : before.revision) > after.revision;

/** How far an etcd was at a time: by a snapshot, or now. */
export type ReachedRevision = Pick<Candidate, 'clusterId' | 'createdAt' | 'revision'>;

/**
 * Returns the newest snapshot from before with a revision that the same etcd no longer had later. A restore gives etcd a
 * new cluster id, but one that was emptied, or set back to an earlier state, under its old flags has its old one. Nothing else
 * decides whether the revision fell. `snapshots` are those of one cluster.
 */
export function higherBefore(snapshots: Iterable<Candidate>, later: ReachedRevision): Snapshot | undefined {
  const { clusterId, createdAt: end, revision: now } = later;
  if (clusterId === undefined || clusterId === 'unknown' || !end || !isPlausible(now)) return undefined;
  let newest: Snapshot | undefined;
  for (const each of snapshots) {
    const { createdAt, revision } = each;
    if (each.clusterId !== clusterId || !createdAt || !(createdAt <= end)) continue;
    const isHigher = isPlausible(revision) && isFall({ createdAt, revision }, { createdAt: end, revision: now });
    if (isHigher && (!newest || newest.createdAt < createdAt)) newest = { ...each, createdAt };
  }
  return newest;
}

/**
 * Returns the snapshots around each fall of the revision of one etcd: the newest before it, and the first after it. As long as
 * both are there, the fall is visible, however far the revision gets later. `snapshots` are sorted newest first.
 */
export function aroundFalls<T extends Snapshot>(
  snapshots: readonly T[],
  clusterId: string,
): { readonly before: readonly T[]; readonly after: readonly T[] } {
  const before: T[] = [];
  const after: T[] = [];
  // What lies between two falls. In each of them, no snapshot but one at the same time has a higher revision than a later one.
  const spans: (T & At)[][] = [];
  let highest = 0;
  for (const each of snapshots.toReversed()) {
    if (each.clusterId !== clusterId || !hasRevision(each)) continue;
    const span = spans.at(-1);
    const higher = each.revision < highest ? span?.findLast((one) => isFall(one, each)) : undefined;
    if (span && !higher) span.push(each);
    else spans.push([each]);
    highest = higher ? each.revision : Math.max(highest, each.revision);
    if (!span || !higher) continue;
    // The snapshot before may be one at the same time, which does not show the fall alone.
    before.push(higher, span.at(-1)!);
    after.push(each);
  }
  for (const span of spans) {
    const behind = behindAtOnce(span);
    before.push(...behind);
    // Without it, nothing would show any more that those are higher.
    if (behind.length > 0) after.push(span.at(-1)!);
  }
  return { before, after };
}

const hasRevision = <T extends Snapshot>(each: T): each is T & At => isPlausible(each.revision);

/** Returns the snapshots with a revision that no later one makes up for, although they were taken at nearly the same time. */
function behindAtOnce<T extends At>(span: readonly T[]): T[] {
  const found: T[] = [];
  let highest = span.at(-1)!.revision;
  for (const each of span.toReversed()) {
    if (each.revision > highest) found.push(each);
    highest = Math.max(highest, each.revision);
  }
  return found;
}

/** Says that the revision fell. `now`: where it is lower. */
export const fallText = (before: Snapshot, { clusterId, revision }: ReachedRevision, now: string): string =>
  `the revision fell from ${before.revision} in ${before.id} to ${revision}${now}, of the same cluster ${clusterId}: was etcd emptied, or set back to an earlier state? Retention keeps ${before.id}; pin others that you need`;
