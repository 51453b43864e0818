import { cronJobOf } from '../../../../src/etcd/schedule-names.ts';
import { longestGap } from '../../../../src/validation/cron.ts';
import { isStuck, isUnderWay } from '../jobs/pod-state.ts';
import { type EtcdBackupObject, isFinal, mirroredJob } from '../objects/backup-object.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import type { ClusterBackups } from '../port/observed.ts';
import { scheduleLabel } from './scheduled-run.ts';

/** Summarizes the backups of a cluster from its EtcdBackups. */
export function clusterBackups(
  { metadata, spec, status }: EtcdClusterObject,
  all: readonly EtcdBackupObject[],
): ClusterBackups {
  const schedules = spec.backup?.schedules?.map(({ name }) => name) ?? [];
  const born = Date.parse(metadata.creationTimestamp);
  // An older EtcdBackup belongs to a previous cluster with the same name.
  const ours = all
    .filter((backup) => backup.spec.clusterName === metadata.name && !(timeOf(backup) < born))
    .sort((a, b) => timeOf(a) - timeOf(b));
  const ended = ours.filter(isFinal);
  // A pod may have waited, so the run that began last need not have the newest snapshot.
  const taken = [...ended].sort((a, b) => Date.parse(takenAt(a)) - Date.parse(takenAt(b)));
  const last = taken.findLast(isGood);
  const failed = newestRuns(ended, schedules).find(({ status }) => status?.phase === 'Failed');
  const waits = newestRuns(ours, schedules).find(({ status }) => !isFinal({ status }) && isStuck(status?.reason));
  const running = ours.find((backup) => !isFinal(backup) && isUnderWay(backup.status?.reason));
  const due = dueOf({ metadata, spec, status }, taken);
  return {
    due,
    running: running?.metadata.name,
    last: last && lastOf(last),
    failed: failed && summaryOf(failed),
    waits: waits && summaryOf(waits),
  };
}

/** Returns the newest run of each existing schedule. `all` is sorted by time, oldest first. */
function newestRuns(all: readonly EtcdBackupObject[], schedules: readonly string[]): EtcdBackupObject[] {
  const runs = all.filter((backup) => mirroredJob(backup) && schedules.includes(scheduleOf(backup)));
  return [...new Map(runs.map((backup) => [scheduleOf(backup), backup] as const)).values()];
}

const summaryOf = (backup: EtcdBackupObject) => ({
  schedule: scheduleOf(backup),
  message: backup.status?.message ?? '',
});

/**
 * Returns the schedule whose next backup is due first: one that is verified as the schedule asks. Two runs in a row may be missed. A schedule that never ran may be
 * new: it counts, from the newest backup on, only if no schedule of the cluster has stored a backup. `status.lastBackup` covers
 * a backup whose EtcdBackup was deleted with its Job.
 */
function dueOf(
  { metadata, spec, status }: Pick<EtcdClusterObject, 'metadata' | 'spec' | 'status'>,
  taken: readonly EtcdBackupObject[],
): ClusterBackups['due'] {
  const known = status?.lastBackup;
  const schedules = spec.backup?.schedules ?? [];
  // Each run is judged by its own schedule. The settings of a removed schedule are unknown.
  const levels = new Map(schedules.map(({ name, verify }) => [name, verify]));
  const brought = taken.filter((backup) => {
    const schedule = scheduleOf(backup);
    return levels.has(schedule) && levels.get(schedule) !== 'stream' ? isGood(backup) : isStored(backup);
  });
  const isOurs = (schedule: string | undefined) => schedule !== undefined && levels.has(schedule);
  const isNone = !isOurs(known?.schedule) && !brought.some((backup) => isOurs(scheduleOf(backup)));
  const times = [metadata.creationTimestamp, known?.at, ...brought.map((backup) => lastOf(backup).at)];
  const newestOf = times.filter((at) => at !== undefined).map((at) => Date.parse(at));
  const all = schedules.flatMap(({ name, cronJobName, cron }): NonNullable<ClusterBackups['due']>[] => {
    const every = gapOf(cron);
    const newest = brought.findLast((backup) => scheduleOf(backup) === name);
    const last = [newest && lastOf(newest).at, known?.schedule === name ? known.at : undefined]
      .filter((at) => at !== undefined)
      .sort()
      .at(-1);
    if (every === undefined || (last === undefined && !isNone)) return [];
    const at = (last === undefined ? Math.max(...newestOf) : Date.parse(last)) + 2 * every;
    const cronJob = cronJobOf(metadata.name, { name, cronJobName });
    return [{ schedule: name, cronJob, at, last }];
  });
  return all.sort((a, b) => a.at - b.at)[0];
}

const gaps = new Map<string, number | undefined>();

/** Longest pause of a schedule, in ms. Cached, because the computation covers years of days. */
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

const takenAt = ({ metadata, status }: EtcdBackupObject): string =>
  status?.snapshotTime ?? status?.startTime ?? metadata.creationTimestamp;

/** By the API server's clock. */
const timeOf = ({ metadata, status }: EtcdBackupObject): number =>
  Date.parse(status?.startTime ?? metadata.creationTimestamp);

/** A good backup is verified to level `read` or higher. */
const isGood = (backup: EtcdBackupObject): boolean =>
  isStored(backup) && backup.status?.verified !== undefined && backup.status.verified !== 'stream';

const isStored = ({ status }: EtcdBackupObject): boolean =>
  status?.phase === 'Completed' && status.snapshotId !== undefined;

function lastOf(backup: EtcdBackupObject): NonNullable<ClusterBackups['last']> {
  const { status, spec } = backup;
  const { snapshotId = '', revision, sizeBytes, sha256, verified } = status ?? {};
  return {
    id: snapshotId,
    at: takenAt(backup),
    schedule: spec.schedule,
    revision,
    sizeBytes,
    sha256,
    verified,
  };
}
