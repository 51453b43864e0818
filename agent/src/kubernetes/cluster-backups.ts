import type { ClusterBackups } from '../reconcile/observed.ts';
import { scheduleLabel } from './backup-mirror.ts';
import { type EtcdBackupObject, isFinal, mirroredJob } from './backup-object.ts';
import type { EtcdClusterObject } from './cluster-object.ts';

/** What the EtcdBackups of a cluster say of its backups. */
export function clusterBackups(
  { metadata, spec }: EtcdClusterObject,
  all: readonly EtcdBackupObject[],
): ClusterBackups {
  const schedules = spec.backup?.schedules?.map(({ name }) => name) ?? [];
  const ended = all
    .filter((backup) => backup.spec.clusterName === metadata.name && isFinal(backup))
    .sort((a, b) => timeOf(a) - timeOf(b));
  const last = ended.findLast(isGood);
  const newest = new Map(
    ended.filter((backup) => mirroredJob(backup)).map((backup) => [scheduleOf(backup), backup] as const),
  );
  const failed = [...newest.values()].find(
    (backup) => backup.status?.phase === 'Failed' && schedules.includes(scheduleOf(backup)),
  );
  return {
    ...(last && { last: lastOf(last) }),
    ...(failed && { failed: { schedule: scheduleOf(failed), message: failed.status?.message ?? '' } }),
  };
}

const scheduleOf = ({ metadata, spec }: EtcdBackupObject): string =>
  metadata.labels?.[scheduleLabel] ?? spec.schedule ?? '';

const timeOf = ({ metadata, status }: EtcdBackupObject): number =>
  Date.parse(status?.startTime ?? metadata.creationTimestamp);

/** Verified to `read` or further, as everywhere. */
const isGood = ({ status }: EtcdBackupObject): boolean =>
  status?.phase === 'Completed' &&
  status.snapshotId !== undefined &&
  status.verified !== undefined &&
  status.verified !== 'stream';

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
