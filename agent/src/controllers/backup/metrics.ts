import { type EtcdBackupObject, isFinal, mirroredJob } from '../objects/backup-object.ts';

const phases = ['Pending', 'BackingUp', 'Completed', 'Failed'] as const;

export interface BackupMetrics {
  readonly phases: readonly (readonly [phase: string, count: number])[];
  /** The newest run that has ended, for each schedule. */
  readonly runs: readonly {
    readonly cluster: string;
    readonly schedule: string;
    readonly failed: boolean;
    /** Seconds since 1970. */
    readonly endedAt: number;
    /** Undefined if its start is not known. */
    readonly seconds?: number;
    /** Size of the newest snapshot. */
    readonly sizeBytes?: number;
  }[];
}

export function backupMetrics(all: readonly EtcdBackupObject[]): BackupMetrics {
  const runs = new Map<string, BackupMetrics['runs'][number]>();
  const ended = all.filter((backup) => mirroredJob(backup) && isFinal(backup));
  for (const { spec, status } of ended.sort((a, b) => endOf(a) - endOf(b))) {
    const { clusterName: cluster = '', schedule = '' } = spec;
    const key = `${cluster} ${schedule}`;
    const sizeBytes = status?.sizeBytes ?? runs.get(key)?.sizeBytes;
    const endedAt = endOf({ status }) / 1000;
    const seconds = endedAt - Date.parse(status?.startTime ?? '') / 1000;
    runs.set(key, {
      ...{ cluster, schedule, failed: status?.phase === 'Failed', endedAt },
      seconds: seconds >= 0 ? seconds : undefined,
      sizeBytes,
    });
  }
  const count = (phase: string) => all.filter(({ status }) => (status?.phase ?? 'Pending') === phase).length;
  return { phases: phases.map((phase) => [phase, count(phase)] as const), runs: [...runs.values()] };
}

const endOf = ({ status }: Pick<EtcdBackupObject, 'status'>): number => Date.parse(status?.completionTime ?? '') || 0;
