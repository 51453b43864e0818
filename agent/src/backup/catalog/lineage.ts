import { toCandidate } from '../retention/prune.ts';
import { clusterLine } from './ancestry.ts';
import { type ClusterLine, newestCluster, type Owner } from './candidate.ts';
import type { Entry } from './catalog.ts';

/** The cluster that a store's snapshots tell of, where no etcd is asked: that of the newest one. */
export function lineOf(
  entries: readonly Entry[],
  owner: Owner,
  {
    restoredFrom = [],
    clusterId,
  }: { readonly restoredFrom?: readonly string[]; readonly clusterId?: string | undefined } = {},
): ClusterLine | undefined {
  if (clusterId !== undefined) return clusterLine(entries, clusterId, restoredFrom);
  const newest = newestCluster(entries.map(toCandidate), owner);
  return newest && clusterLine(entries, newest.id, restoredFrom);
}
