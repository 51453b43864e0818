import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { openingProblem } from '../etcd/quota';
import { agentImage } from '../lib/agent-image';
import { annotated } from '../lib/labels';
import { takeName } from '../lib/name-registry';
import { agentImageProblem } from '../lib/pod-problems';
import { jobAccountOf } from '../lib/pods/job-account';
import type { JobFields } from '../lib/pods/pod-fields';
import { inside } from '../resource/prop-problems';
import type { BackupScheduleSpec, BackupStoreSpec, EtcdBackupSpec, EtcdClusterSpec } from '../resource/types';
import type { StoreDefinition } from '../stores/store-definition';
import type { INamed } from '../validation/named';
import { problemsOf } from '../validation/problems';
import { type BackupResources, resourcesPropNames } from './backup-resources';
import { isEtcdCluster } from './etcd-cluster-checks';
import type { IEtcdCluster } from './i-etcd-cluster';
import { finishedProblems, scheduleObjects } from './schedule-manifests';

/** The identity, image and resources of a Job of the reconciler that accesses a store. */
export interface JobIdentity {
  readonly serviceAccountName?: string | INamed;
  readonly image?: string;
  readonly resources?: BackupResources;
}

/** Problems that the schema does not know. */
export function jobIdentityProblems(image: string | undefined, store: BackupStoreSpec | undefined): string[] {
  return problemsOf(
    agentImageProblem(image),
    store?.command && image === agentImage
      ? "image: store runs executables that the agent's own image does not contain; give your own image with these and the agent"
      : undefined,
  );
}

/** Properties of the fields of a Job. */
export const jobPropNames = { ...inside('resources', resourcesPropNames), ttlSecondsAfterFinished: 'ttlAfterFinished' };

const job = { name: 'job', cron: '@daily', stores: [] };
const target = { cronJobName: 'job', cluster: 'job', endpoints: [], labels: {} };

/** Problems with the changes of the pods of a Job. The reconciler applies them, after those of its cluster. */
export function jobOverrideProblems({ overrides, ...fields }: JobFields & Pick<EtcdBackupSpec, 'overrides'>) {
  return finishedProblems({ ...job, ...fields, overrides }, overrides, target, ['BackupPods']);
}

/**
 * Problems with the memory that a resource itself gives to a Job that opens the snapshot: `opens` says so of the cluster's spec. What it does
 * not say, the cluster judges.
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
    const { jobTemplate } = scheduleObjects({ ...job, verify: 'open', ...own }, target).get('CronJob')!.spec as {
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

/** The annotations of the workload identity of a store, unless a ServiceAccount is given. */
export function accountAnnotations({ serviceAccountName }: JobIdentity, store: StoreDefinition | undefined) {
  const annotations = store?.serviceAccountAnnotations ?? {};
  return serviceAccountName === undefined && Object.keys(annotations).length > 0 ? annotations : undefined;
}

/** Creates the Job's ServiceAccount if the spec has annotations for it. */
export function jobAccount(
  scope: Construct,
  kind: 'backup' | 'restore',
  { name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
  spec: Pick<EtcdBackupSpec, 'annotations' | 'serviceAccountAnnotations'>,
): ApiObject | undefined {
  if (!spec.serviceAccountAnnotations) return undefined;
  const account = jobAccountOf(kind, name, spec)!;
  takeName(scope, 'ServiceAccount', account);
  return new ApiObject(scope, 'ServiceAccount', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: account, labels, ...annotated({ ...spec.annotations, ...spec.serviceAccountAnnotations }) },
    automountServiceAccountToken: false,
  });
}
