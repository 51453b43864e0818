import { isDeepStrictEqual } from 'node:util';
import type { BackupPodStore } from '../../../../src/lib/backup-pod.ts';
import { ownSchedule } from '../../../../src/lib/pods/job-pod.ts';
import { unlessMissing } from '../../kube/api-error.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { OwnDeployment } from '../jobs/proxy-variables.ts';
import { storesOf } from '../jobs/stores.ts';
import type { EtcdBackupObject } from '../objects/backup-object.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import type { EtcdRestoreObject } from '../objects/restore-object.ts';
import { scheduleOf } from './job.ts';
import { findByName } from './job-inputs.ts';

export interface NoteOptions extends OwnDeployment {
  readonly at: (point: string) => void | Promise<void>;
  readonly log: Pick<Log, 'warn'>;
}

interface Target {
  readonly resource: 'etcdbackups' | 'etcdrestores';
  readonly object: KubeObject;
  /** Field of its status. */
  readonly field: 'snapshotDeletedAt' | 'safetyBackupDeletedAt';
  readonly noted: string | undefined;
  readonly id: string | undefined;
  /** The first store of the run that stored it. */
  readonly store: () => object | undefined;
}

/**
 * What retention has deleted is no longer offered by the EtcdBackup that stored it, or as the way back from a restore. Runs whenever
 * a backup has ended, for all of its cluster: what could not be noted is noted the next time. No failure here is one of the backup.
 */
export async function noteDeletions({ spec: { clusterName } }: EtcdBackupObject, options: NoteOptions): Promise<void> {
  const { client, paths, at, log } = options;
  const warn = (error: unknown) => log.warn(`cannot note the snapshots that retention deleted: ${messageOf(error)}`);
  try {
    const { items } = await client.list<EtcdBackupObject>(paths.of('etcdbackups'));
    const backups = items.filter(({ spec }) => spec.clusterName === clusterName);
    const runs = backups.filter(({ status }) => status?.deletedSnapshots);
    if (runs.length === 0) return;
    const cluster =
      clusterName === undefined ? undefined : await findByName<EtcdClusterObject>(options, 'etcdclusters', clusterName);
    const firstOf = (backup: EtcdBackupObject) => located(storesOf(backup, scheduleOf(backup, cluster))[0]);
    const { items: restores } = await client.list<EtcdRestoreObject>(paths.of('etcdrestores'));
    const targets: Target[] = [
      ...backups.map((backup) => ({
        ...{ resource: 'etcdbackups' as const, object: backup, field: 'snapshotDeletedAt' as const },
        noted: backup.status?.snapshotDeletedAt,
        ...{ id: backup.status?.snapshotId, store: () => firstOf(backup) },
      })),
      ...restores
        .filter(({ spec }) => spec.clusterName === clusterName)
        .map((restore) => ({
          ...{ resource: 'etcdrestores' as const, object: restore, field: 'safetyBackupDeletedAt' as const },
          noted: restore.status?.safetyBackupDeletedAt,
          ...{
            id: restore.status?.safetyBackupId,
            store: () => located(cluster && ownSchedule(cluster.spec)?.stores[0]),
          },
        })),
    ];
    const note = async ({
      resource,
      object: {
        metadata: { name, uid },
      },
      field,
      noted,
      id,
      store,
    }: Target) => {
      if (id === undefined || noted !== undefined) return;
      const candidates = runs.filter(({ status }) => status?.deletedSnapshots?.includes(id));
      const place = candidates.length > 0 ? store() : undefined;
      const run = place && candidates.find((each) => isDeepStrictEqual(firstOf(each), place));
      if (!run) return;
      await at('before ReportDeletedSnapshot');
      const body = { metadata: { uid }, status: { [field]: run.status?.completionTime } };
      await client.merge(paths.of(resource, name, 'status'), body).catch(unlessMissing);
      await at('after ReportDeletedSnapshot');
    };
    for (const target of targets) await note(target).catch(warn);
  } catch (error) {
    warn(error);
  }
}

/** Two schedules may keep different snapshots of one store. */
function located(store: BackupPodStore | undefined): object | undefined {
  const { retention: _, ...place } = store ?? {};
  return store && place;
}
