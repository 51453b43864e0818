import type { ClusterStatus } from '../../protocol/cluster-status.ts';

/** Milliseconds. The reconciler writes the status every ten minutes even if nothing has changed. */
const oldest = 15 * 60_000;

/** Whether a reconciler keeps this status up to date. Otherwise it says how the cluster was. */
export function isCurrent({ observedAt }: Partial<ClusterStatus>, now: number): boolean {
  const at = Date.parse(observedAt ?? '');
  return !Number.isNaN(at) && now - at < oldest;
}
