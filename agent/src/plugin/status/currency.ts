import type { LeaseObject } from '../../kube/objects.ts';
import type { ClusterStatus } from '../../protocol/cluster-status.ts';
import { ageOf, isFuture } from '../text.ts';

const minute = 60_000;

/** Milliseconds. The reconciler writes the status every ten minutes even if nothing has changed. */
const oldest = 15 * minute;

/**
 * Whether a reconciler keeps this status up to date. Otherwise it says how the cluster was. A reconciler that runs renews its Lease.
 */
export function isCurrent({ observedAt }: Partial<ClusterStatus>, now: number, lease?: LeaseObject): boolean {
  const age = now - Date.parse(observedAt ?? '');
  return !isFuture(observedAt, now) && age < oldest && !isExpired(lease, now);
}

/** A new reconciler takes a moment to take the Lease over. */
function isExpired(lease: LeaseObject | undefined, now: number): boolean {
  if (lease === undefined) return false;
  const { renewTime, leaseDurationSeconds = 0 } = lease.spec ?? {};
  return !(now - Date.parse(renewTime ?? '') <= leaseDurationSeconds * 1000 + minute);
}

/** Why a status is not current, for a title. */
export function oldness({ observedAt }: { readonly observedAt?: string | undefined }, now: number): string {
  if (observedAt === undefined) return 'NO RECONCILER HAS REPORTED YET';
  if (isFuture(observedAt, now)) return `STATUS IS DATED IN THE FUTURE (${observedAt}), by a wrong clock`;
  return `STATUS IS ${ageOf(observedAt, now)} OLD, no reconciler keeps it up to date`;
}
