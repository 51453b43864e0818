import { defaults } from '../../../../src/resource/defaults.ts';
import { parseDuration } from '../../lib/input/duration.ts';
import type { RetentionSpec } from '../../store/retention-spec.ts';
import type { Snapshot } from '../catalog/candidate.ts';
import { bucketsOf, type CalendarRule, calendarRules } from './calendar-buckets.ts';

export type Keep = (snapshot: Snapshot, reason: string) => void;

/**
 * Calls `keep` for each snapshot that the policy keeps. The snapshots are sorted newest first, and each rule means what it
 * means in restic. Verified snapshots are counted among themselves, so that an unverified snapshot never displaces a good one,
 * and so are those whose etcd is known, because any file can be adopted; the others are counted among all.
 */
export function applyRules(snapshots: readonly Snapshot[], policy: RetentionSpec, keep: Keep): void {
  const { last = 0, within, timeZone = defaults.BackupRetentionSpec.timeZone } = policy;
  const buckets = new Map(snapshots.map((snapshot) => [snapshot, bucketsOf(snapshot.createdAt, timeZone)]));
  const verified = snapshots.filter((snapshot) => snapshot.verified);
  const known = verified.filter(({ clusterId }) => clusterId !== 'unknown');
  for (const group of [known, verified, snapshots]) {
    for (const snapshot of group.slice(0, last)) keep(snapshot, 'last');
    if (within) keepWithin(group, within, keep);
    for (const rule of calendarRules) {
      keepBuckets(group, rule, policy[rule] ?? 0, (snapshot) => buckets.get(snapshot)![rule], keep);
    }
  }
}

function keepWithin(snapshots: readonly Snapshot[], within: string, keep: Keep): void {
  const [newest] = snapshots;
  if (!newest) return;
  const from = newest.createdAt.getTime() - parseDuration(within, 'within');
  for (const snapshot of snapshots) {
    if (snapshot.createdAt.getTime() >= from) keep(snapshot, `within ${within}`);
  }
}

function keepBuckets(
  snapshots: readonly Snapshot[],
  rule: CalendarRule,
  count: number,
  bucketOf: (snapshot: Snapshot) => string,
  keep: Keep,
): void {
  const seen = new Set<string>();
  for (const snapshot of snapshots) {
    const bucket = bucketOf(snapshot);
    if (seen.has(bucket)) continue;
    if (seen.size === count) return;
    seen.add(bucket);
    keep(snapshot, `${rule} ${bucket}`);
  }
  const oldest = snapshots.at(-1);
  // As in restic: the oldest snapshot is kept until the rule has enough snapshots.
  if (oldest && seen.size < count) keep(oldest, `oldest ${rule}`);
}
