import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalCluster } from '../../local/cluster.ts';
import type { Watcher } from '../support/watcher.ts';
import { dataIsThere, type Loss, registersLinearize, revisionsRise, watchedAll } from './data-checks.ts';
import { acknowledged, type History } from './history.ts';
import { type Logged, recordIsSound } from './record-checks.ts';
import type { VolumeAudit } from './volume-audit.ts';

export interface Evidence {
  readonly cluster: LocalCluster;
  /** History of a writer that has stopped. */
  readonly history: History;
  readonly prefix: string;
  readonly watcher: Watcher;
  readonly audit: VolumeAudit;
  /** Writes that restores discarded. */
  readonly losses: readonly Loss[];
}

/**
 * Returns what is wrong after a scenario, by the checks for every scenario. Each scenario has its own bound for the
 * write gap.
 */
export async function problems(evidence: Evidence): Promise<string[]> {
  const { cluster, history, prefix, watcher, audit, losses } = evidence;
  const newest = history.clusterIds.at(-1);
  const revisions = acknowledged(history.writes).filter(({ clusterId }) => clusterId === newest);
  const watched = await watcher.reached(Math.max(0, ...revisions.map(({ revision }) => revision)));
  audit.look();
  const voters = Object.values(cluster.record()?.members ?? {}).length;
  return [
    ...(watched ? [] : [`the watcher is at revision ${watcher.revision}`]),
    ...(await dataIsThere(cluster, prefix, history, losses, voters)),
    ...revisionsRise(history),
    ...registersLinearize(history),
    ...watchedAll(history, watcher),
    ...audit.clusterIds(history.clusterIds),
    ...audit.memberIds(),
    ...audit.dataDirsKept(cluster.lostVolumes),
    ...recordIsSound(recordLog(cluster)),
  ];
}

export const recordLog = ({ dir }: LocalCluster): Logged[] =>
  readFileSync(join(dir, 'api/record.log'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
