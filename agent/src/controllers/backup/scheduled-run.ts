import { createHash } from 'node:crypto';
import { cronJobOf } from '../../../../src/etcd/schedule-names.ts';
import type { JobObject, KubeObject } from '../../kube/objects.ts';
import { group, groupVersion } from '../../kube/paths.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';

/** Longest name of an EtcdBackup that the CRD accepts. */
const longestName = 52;

/**
 * Builds the EtcdBackup that mirrors a scheduled run of a cluster. Returns undefined for other Jobs. The Job owns the EtcdBackup,
 * which is deleted with it when the CronJob has enough newer Jobs.
 */
export function mirrorOf(job: JobObject, clusters: readonly EtcdClusterObject[]): object | undefined {
  const { name, namespace, uid, labels } = job.metadata;
  const cronJob = job.metadata.ownerReferences?.find(({ kind }) => kind === 'CronJob')?.name;
  const cluster = clusters.find(({ metadata }) => metadata.name === labels?.['app.kubernetes.io/part-of']);
  if (cronJob === undefined || !cluster || job.metadata.deletionTimestamp !== undefined) return undefined;
  const schedule = cluster.spec.backup?.schedules?.find((each) => cronJobOf(cluster.metadata.name, each) === cronJob);
  if (!schedule) return undefined;
  return {
    apiVersion: groupVersion,
    kind: 'EtcdBackup',
    metadata: {
      name: nameOf(name),
      namespace,
      labels: {
        'app.kubernetes.io/name': 'etcd-backup',
        'app.kubernetes.io/instance': cronJob,
        'app.kubernetes.io/part-of': cluster.metadata.name,
        'app.kubernetes.io/managed-by': 'etcd-reconciler',
        [scheduleLabel]: schedule.name,
      },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid }],
    },
    spec: { clusterName: cluster.metadata.name, schedule: schedule.name },
  };
}

export const scheduleLabel = `${group}/schedule`;

export const isMirrorOf = (job: JobObject, { metadata }: KubeObject): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid) ?? false;

function nameOf(job: string): string {
  if (job.length <= longestName) return job;
  const hash = createHash('sha256').update(job).digest('hex').slice(0, 8);
  return `${job.slice(0, longestName - hash.length - 1)}-${hash}`;
}
