import { type ClusterLine, newestCluster, type Owner, toCandidate } from '../candidate.ts';
import type { Entry } from '../catalog.ts';

/** Milliseconds by which the clocks of two machines that take backups may differ. */
export const ALLOWANCE = 5 * 60_000;

/**
 * Returns the cluster ids that this cluster was restored from, newest first: those in its own snapshots, those from the
 * notes that `restore` wrote beside the snapshot that it restored, and those that the caller knows.
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

/** Returns the cluster ids of what was restored from this cluster, that with the newest snapshot first. */
export function restoredFromIt(entries: readonly Entry[], clusterId: string): string[] {
  const later = entries.flatMap(({ manifest }) =>
    manifest?.cluster.lineage?.includes(clusterId) ? [manifest.source.clusterId] : [],
  );
  const noted = entries.flatMap(({ manifest, restoredAs }) =>
    manifest?.source.clusterId === clusterId ? restoredAs : [],
  );
  return [...new Set([...later, ...noted])].filter((id) => id !== clusterId);
}

/** Times of the first and the last snapshot of an etcd, in milliseconds. */
interface Life {
  readonly first: number;
  readonly last: number;
}

/**
 * Returns when each etcd is known to have run, by cluster id. The note of its restore does not count: it may be written
 * long after the restore, or before a restore that never completes.
 */
export function livesOf(entries: readonly Entry[]): ReadonlyMap<string, Life> {
  const lives = new Map<string, Life>();
  for (const { manifest } of entries) {
    if (!manifest) continue;
    const time = Date.parse(manifest.createdAt);
    const { first, last } = lives.get(manifest.source.clusterId) ?? { first: time, last: time };
    lives.set(manifest.source.clusterId, { first: Math.min(first, time), last: Math.max(last, time) });
  }
  return lives;
}

/**
 * Returns an etcd with its ancestors. A snapshot that an ancestor took after the restored etcd began does not belong to the
 * line.
 */
export function clusterLine(
  entries: readonly Entry[],
  id: string,
  restoredFrom: readonly string[] = [],
  lives = livesOf(entries),
  allowance = ALLOWANCE,
): ClusterLine {
  const lineage = lineageOf(entries, id, restoredFrom);
  const ends = new Map<string, number>();
  let end = Number.POSITIVE_INFINITY;
  for (const each of [id, ...lineage]) {
    if (each !== id) ends.set(each, end);
    end = Math.min(end, (lives.get(each)?.first ?? end) + allowance);
  }
  return { id, lineage, ends };
}

/** Returns the cluster of the newest snapshot, for commands that do not ask etcd, or the one with `clusterId`. */
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
