import { openingProblem } from '../etcd/quota';
import type { BackupScheduleSpec, EtcdBackupSpec, EtcdClusterSpec } from '../resource/types';
import { isEtcdCluster } from './etcd-cluster-checks';
import type { IEtcdCluster } from './i-etcd-cluster';
import { jobAsSchedule, jobTarget } from './job-identity';
import { scheduleObjects } from './schedule-manifests';

/**
 * Problems with the memory that a resource itself gives to a Job that opens the snapshot: `opens` says so of the cluster's
 * schedules. The cluster judges the memory that its schedules give.
 */
export function jobMemoryProblems(
  cluster: IEtcdCluster | undefined,
  { resources, overrides = [] }: Pick<EtcdBackupSpec, 'resources' | 'overrides'>,
  opens: (schedules: readonly BackupScheduleSpec[]) => boolean = () => true,
): string[] {
  if (!isEtcdCluster(cluster) || (!resources && overrides.length === 0)) return [];
  const { spec } = cluster.customResource.toJson() as { readonly spec: EtcdClusterSpec };
  if (!opens(spec.backup?.schedules ?? [])) return [];
  const limitOf = (own: Pick<EtcdBackupSpec, 'resources' | 'overrides'>) => {
    const { jobTemplate } = scheduleObjects({ ...jobAsSchedule, verify: 'open', ...own }, jobTarget).get('CronJob')!
      .spec as {
      readonly jobTemplate: { readonly spec: { readonly template: object } };
    };
    return openingProblem(jobTemplate.spec.template, spec);
  };
  const given = resources && limitOf({ resources });
  if (given) return [`resources: ${given}`];
  const changed = limitOf({
    resources: resources ?? { requests: { memory: '1Mi' }, limits: { memory: '1Ei' } },
    overrides,
  });
  return changed ? [`overrides: ${changed}`] : [];
}
