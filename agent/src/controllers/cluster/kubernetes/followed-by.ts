import type { EtcdClusterObject } from './cluster-object.ts';

/** The Lease of another reconciler that keeps the status up to date. A time far in the future comes from another clock. */
export function followedBy(
  { status }: Pick<EtcdClusterObject, 'status'>,
  ownLease: string | undefined,
  heartbeat: number,
): string | undefined {
  const { reconciler, observedAt } = status ?? {};
  if (ownLease === undefined || reconciler === undefined || reconciler.lease === ownLease) return undefined;
  const age = Math.abs(Date.now() - Date.parse(observedAt ?? ''));
  return age < 1.5 * heartbeat ? reconciler.lease : undefined;
}
