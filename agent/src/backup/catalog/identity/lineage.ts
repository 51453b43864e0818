import { type ClusterLine, type FolderOwner, newestCluster, toCandidate } from '../candidate.ts';
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

const timeIn = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));

/** When an etcd is known to have run, in milliseconds. */
interface Life {
  readonly first: number;
  readonly last: number;
  /** Whether nothing is known to be missing before `first`. Earlier agents recorded nothing, and retention deletes the oldest. */
  readonly isWhole: boolean;
}

/**
 * Returns when each etcd is known to have run, by cluster id: by its snapshots, and by what others recorded before retention
 * deleted some. The note of its restore does not count: it may be written long after the restore, or before a restore that
 * never completes.
 */
export function livesOf(entries: readonly Entry[]): ReadonlyMap<string, Life> {
  const lives = new Map<string, Life>();
  // An agent that wrote into another store did not see the snapshots that were copied there later.
  const claims = new Map<string, number>();
  const add = (id: string, first: number | undefined, last: number | undefined, isClaim: boolean) => {
    const from = first ?? last;
    if (from === undefined || Number.isNaN(from)) return;
    const known = lives.get(id) ?? { first: from, last: from, isWhole: false };
    if (isClaim) claims.set(id, Math.min(claims.get(id) ?? from, from));
    const earliest = Math.min(known.first, from);
    lives.set(id, {
      first: earliest,
      last: Math.max(known.last, last ?? from),
      isWhole: (claims.get(id) ?? Number.POSITIVE_INFINITY) <= earliest + ALLOWANCE,
    });
  };
  for (const { manifest } of entries) {
    if (!manifest) continue;
    const time = Date.parse(manifest.createdAt);
    add(manifest.source.clusterId, time, time, false);
    for (const { id, first, last } of manifest.cluster.family ?? [])
      add(id, timeIn(first), timeIn(last), first !== undefined);
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
  const unsure = new Map<string, string>();
  let end = Number.POSITIVE_INFINITY;
  let unknown: string | undefined;
  for (const each of [id, ...lineage]) {
    if (each !== id) ends.set(each, end);
    if (unknown !== undefined) unsure.set(each, unknown);
    const life = lives.get(each);
    end = Math.min(end, (life?.first ?? end) + allowance);
    // One without a snapshot was restored again before its first.
    if (life?.isWhole === false) unknown ??= each;
  }
  return { id, lineage, ends, unsure };
}

/** Returns the cluster of the newest snapshot, for commands that do not ask etcd, or the one with `clusterId`. */
export function lineOf(
  entries: readonly Entry[],
  owner: FolderOwner,
  {
    restoredFrom = [],
    clusterId,
  }: { readonly restoredFrom?: readonly string[]; readonly clusterId?: string | undefined } = {},
): ClusterLine | undefined {
  if (clusterId !== undefined) return clusterLine(entries, clusterId, restoredFrom);
  const newest = newestCluster(entries.map(toCandidate), owner);
  return newest === undefined ? undefined : clusterLine(entries, newest, restoredFrom);
}
