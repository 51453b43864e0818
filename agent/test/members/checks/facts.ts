import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalCluster } from '../../local/cluster.ts';
import { recordLog } from './checks.ts';

/** Member ids by ordinal. */
export const memberIds = (cluster: LocalCluster): Record<string, string> =>
  Object.fromEntries(
    Object.entries(cluster.record()?.members ?? {}).map(([ordinal, { memberId }]) => [ordinal, memberId]),
  );

/** Permits for a new cluster that were ever issued, by volume. */
export const seedPermits = (cluster: LocalCluster): number =>
  new Set(
    recordLog(cluster).flatMap((entry) =>
      'doc' in entry
        ? Object.values(entry.doc.permits)
            .filter(({ mode }) => mode === 'new')
            .map(({ volumeId }) => volumeId)
        : [],
    ),
  ).size;

export function leaderOf(cluster: LocalCluster): number {
  const leader = cluster.status().members?.find(({ role }) => role === 'Leader');
  if (!leader) throw new Error('nobody is said to lead');
  return leader.ordinal;
}

export const tombstoned = (cluster: LocalCluster): string[] =>
  (cluster.record()?.tombstones ?? []).map(({ memberId }) => memberId);

export const asides = (volume: string): string[] => {
  try {
    return readdirSync(join(volume, 'quarantine'));
  } catch {
    return [];
  }
};

export const etcdLogOf = ({ dir }: LocalCluster, ordinal: number): string =>
  readFileSync(join(dir, `logs/main-${ordinal}-etcd.log`), 'utf8');

/** The ordinals whose etcd was the leader when it was stopped. */
export const stoppedLeaders = (cluster: LocalCluster): number[] =>
  Array.from({ length: cluster.spec.size }, (_, ordinal) => ordinal).filter((ordinal) => {
    const log = etcdLogOf(cluster, ordinal);
    const count = (pattern: RegExp) => [...log.matchAll(pattern)].length;
    return count(/skipped leadership transfer/g) !== count(/received signal; shutting down/g);
  });
