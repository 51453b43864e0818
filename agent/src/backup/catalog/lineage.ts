import { type ClusterLine, newestCluster, type Owner, toCandidate } from './candidate.ts';
import type { Entry } from './catalog.ts';

/** What the clocks of two machines that take backups may differ by, in milliseconds: by so much nothing is foreign. */
export const ALLOWANCE = 5 * 60_000;

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

/** The first and the last snapshot of an etcd, in milliseconds. */
interface Life {
  readonly first: number;
  readonly last: number;
}

/**
 * When each etcd is known to have lived. Not since the note of its restore: that is written before, also of one that never
 * comes about, or only later.
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

/** An etcd with its past: what one that it was restored from took after the restored one lived is no longer of it. */
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
