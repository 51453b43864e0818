import { type ClusterLine, newestCluster, type Owner } from './candidate.ts';
import type { Entry } from './catalog.ts';
import { toCandidate } from './prune.ts';

/**
 * The cluster ids that this cluster was restored from, newest first: what its own snapshots already say, what `restore`
 * left beside the snapshot that it restored, and what the caller knows.
 */
export function lineageOf(
  entries: readonly Entry[],
  clusterId: string,
  restoredFrom: readonly string[] = [],
): string[] {
  const own = entries.find(({ manifest }) => manifest?.source.clusterId === clusterId)?.manifest?.cluster.lineage ?? [];
  const origins = entries
    .filter(({ restoredAs }) => restoredAs.includes(clusterId))
    .flatMap(({ manifest }) => (manifest ? [manifest.source.clusterId, ...(manifest.cluster.lineage ?? [])] : []));
  const all = [...restoredFrom, ...own, ...origins].filter((id) => id !== clusterId && id !== 'unknown');
  return [...new Set(all)];
}

/** The cluster that a store's snapshots tell of, where no etcd is asked: that of the newest one. */
export function lineOf(
  entries: readonly Entry[],
  owner: Owner,
  restoredFrom: readonly string[] = [],
): ClusterLine | undefined {
  const newest = newestCluster(entries.map(toCandidate), owner);
  return newest && { id: newest.id, lineage: lineageOf(entries, newest.id, restoredFrom) };
}
