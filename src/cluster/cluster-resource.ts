import type { BackupScheduleSpec } from '../backup/etcd-backup-schedule';

/** What the custom resource says of a cluster. Plain data: what is not set is left to the defaults of the CRD. */
export interface ClusterResourceSpec {
  readonly size: number;
  readonly allowEvenSize?: boolean;
  readonly version: string;
  readonly paused?: boolean;
  /** With TLS: the client certificate of the reconciler and of its Jobs. */
  readonly clientTlsSecret?: string;
  readonly replace?: object;
  readonly origin?: object;
  readonly recovery?: {
    readonly id: string;
    readonly acceptDataLoss: boolean;
    readonly survivor?: number;
    readonly identitySecret?: string;
  };
  readonly volumeSize: string;
  readonly ephemeral?: boolean;
  readonly onShrink?: string;
  readonly onDelete?: string;
  readonly finalBackup?: boolean;
  readonly schedules: readonly BackupScheduleSpec[];
  /** Whose settings the reconciler's own backups have. */
  readonly backupSchedule?: string;
  readonly requireBackupForUpgrade?: boolean;
  readonly onNoSpace?: string;
}

/** The spec of the EtcdCluster. */
export function clusterResource(spec: ClusterResourceSpec): object {
  const { size, version, clientTlsSecret, volumeSize, finalBackup } = spec;
  return {
    size,
    allowEvenSize: spec.allowEvenSize || undefined,
    version,
    paused: spec.paused || undefined,
    tls: clientTlsSecret === undefined ? undefined : true,
    clientTlsSecret,
    storage: { size: volumeSize, ephemeral: spec.ephemeral || undefined },
    pvcPolicy: unlessEmpty({ onShrink: spec.onShrink, onDelete: spec.onDelete }),
    replace: spec.replace,
    origin: spec.origin,
    recovery: recovery(spec),
    backup: unlessEmpty({
      schedule: spec.backupSchedule,
      schedules: spec.schedules.length > 0 ? spec.schedules : undefined,
      requiredForUpgrade: spec.requireBackupForUpgrade || undefined,
    }),
    finalBackup: finalBackup === undefined ? undefined : { required: finalBackup },
    maintenance: unlessEmpty({ onNoSpace: spec.onNoSpace }),
  };
}

/** What the CRD would refuse about the number of backup schedules. */
export function scheduleCountProblems(count: number): string[] {
  if (count <= maxSchedules) return [];
  return [
    `backup schedules: there are ${count}, and ${maxSchedules} is the limit; one schedule may have several stores`,
  ];
}

const maxSchedules = 16;

function recovery({ recovery }: ClusterResourceSpec): object | undefined {
  if (!recovery) return undefined;
  const { id, acceptDataLoss, survivor, identitySecret } = recovery;
  return { id, action: 'RestoreFromSurvivor', acceptDataLoss, survivor, identitySecret };
}

function unlessEmpty(fields: object): object | undefined {
  return Object.values(fields).some((value) => value !== undefined) ? fields : undefined;
}
