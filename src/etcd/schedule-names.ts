import type { BackupScheduleSpec } from '../resource/types.ts';

type Named = Pick<BackupScheduleSpec, 'name' | 'cronJobName' | 'serviceAccountName'>;

// The constructs use these at synthesis and the reconciler at run time.

/** Name of the CronJob of a schedule. */
export const cronJobOf = (cluster: string, { name, cronJobName }: Named): string => cronJobName ?? `${cluster}-${name}`;

/** Name of the ServiceAccount of a schedule. */
export const serviceAccountOf = (cluster: string, schedule: Named): string =>
  schedule.serviceAccountName ?? cronJobOf(cluster, schedule);
