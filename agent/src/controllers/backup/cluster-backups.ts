import { longestGap } from '../../../../src/validation/cron.ts';
import type { EtcdClusterObject } from '../cluster/kubernetes/cluster-object.ts';
import type { ClusterBackups } from '../cluster/observed.ts';
import { scheduleLabel } from './backup-mirror.ts';
import { type EtcdBackupObject, isFinal, mirroredJob } from './backup-object.ts';
import { isStuck } from './backup-pod-state.ts';

/** What the EtcdBackups of a cluster say of its backups. */
export function clusterBackups(
  { metadata, spec, status }: EtcdClusterObject,
  all: readonly EtcdBackupObject[],
): ClusterBackups {
  const schedules = spec.backup?.schedules?.map(({ name }) => name) ?? [];
  const born = Date.parse(metadata.creationTimestamp);
  // One of before is of another etcd that had this name.
  const ours = all
    .filter((backup) => backup.spec.clusterName === metadata.name && !(timeOf(backup) < born))
    .sort((a, b) => timeOf(a) - timeOf(b));
  const ended = ours.filter(isFinal);
  const last = ended.findLast(isGood);
  const failed = newestRuns(ended, schedules).find(({ status }) => status?.phase === 'Failed');
  const waits = newestRuns(ours, schedules).find(({ status }) => !isFinal({ status }) && isStuck(status?.reason));
  const due = dueOf({ metadata, spec, status }, ended);
  return {
    ...(due && { due }),
    ...(last && { last: lastOf(last) }),
    ...(failed && { failed: told(failed) }),
    ...(waits && { waits: told(waits) }),
  };
}

/** Of each schedule that there is, oldest first in `all`. */
function newestRuns(all: readonly EtcdBackupObject[], schedules: readonly string[]): EtcdBackupObject[] {
  const runs = all.filter((backup) => mirroredJob(backup) && schedules.includes(scheduleOf(backup)));
  return [...new Map(runs.map((backup) => [scheduleOf(backup), backup] as const)).values()];
}

const told = (backup: EtcdBackupObject) => ({
  schedule: scheduleOf(backup),
  message: backup.status?.message ?? '',
});

/**
 * Two runs may be missed in a row. One that never ran is told where there is no backup at all: it may be a new one. The
 * status remembers a backup whose EtcdBackup went with its Job.
 */
function dueOf(
  { metadata, spec, status }: Pick<EtcdClusterObject, 'metadata' | 'spec' | 'status'>,
  ended: readonly EtcdBackupObject[],
): ClusterBackups['due'] {
  const known = status?.lastBackup;
  const isNone = !known && !ended.some(isGood);
  const all = (spec.backup?.schedules ?? []).flatMap(
    ({ name, cronJobName, cron, verify }): NonNullable<ClusterBackups['due']>[] => {
      const every = gapOf(cron);
      const brought = verify === 'stream' ? isStored : isGood;
      const newest = ended.findLast((backup) => scheduleOf(backup) === name && brought(backup));
      const last = [newest && lastOf(newest).at, known?.schedule === name ? known.at : undefined]
        .filter((at) => at !== undefined)
        .sort()
        .at(-1);
      if (every === undefined || (last === undefined && !isNone)) return [];
      const at = Date.parse(last ?? metadata.creationTimestamp) + 2 * every;
      const cronJob = cronJobName ?? `${metadata.name}-${name}`;
      return [{ schedule: name, cronJob, at, ...(last !== undefined && { last }) }];
    },
  );
  return all.sort((a, b) => a.at - b.at)[0];
}

const gaps = new Map<string, number | undefined>();

/** ms; years of days are looked through for it. */
function gapOf(cron: string | undefined): number | undefined {
  if (cron === undefined) return undefined;
  if (!gaps.has(cron)) {
    const minutes = longestGap(cron);
    gaps.set(cron, minutes === undefined ? undefined : minutes * 60_000);
  }
  return gaps.get(cron);
}

const scheduleOf = ({ metadata, spec }: EtcdBackupObject): string =>
  metadata.labels?.[scheduleLabel] ?? spec.schedule ?? '';

const timeOf = ({ metadata, status }: EtcdBackupObject): number =>
  Date.parse(status?.startTime ?? metadata.creationTimestamp);

/** Verified to `read` or further, as everywhere. */
const isGood = (backup: EtcdBackupObject): boolean =>
  isStored(backup) && backup.status?.verified !== undefined && backup.status.verified !== 'stream';

const isStored = ({ status }: EtcdBackupObject): boolean =>
  status?.phase === 'Completed' && status.snapshotId !== undefined;

function lastOf({ status, spec }: EtcdBackupObject): NonNullable<ClusterBackups['last']> {
  const { snapshotId = '', completionTime = '', startTime, revision, sizeBytes, sha256, verified } = status ?? {};
  return {
    id: snapshotId,
    at: startTime ?? completionTime,
    ...(spec.schedule !== undefined && { schedule: spec.schedule }),
    ...(revision !== undefined && { revision }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(sha256 !== undefined && { sha256 }),
    ...(verified !== undefined && { verified }),
  };
}
