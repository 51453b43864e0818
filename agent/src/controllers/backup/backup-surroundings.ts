import { agentImage } from '../../../../src/lib/agent-image.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { isStatus } from '../../kube/api-error.ts';
import type { DeploymentObject, KubeObject, StatefulSetObject } from '../../kube/objects.ts';
import type { Paths } from '../../kube/paths.ts';
import type { EtcdClusterObject } from '../cluster/kubernetes/cluster-object.ts';
import { domainOf, gateOf } from '../cluster/kubernetes/stateful-set.ts';
import { type BackupSurroundings, scheduleOf } from './backup-job.ts';
import { type EtcdBackupObject, isFinal, mirroredJob } from './backup-object.ts';
import type { Why } from './backup-status.ts';

export interface Looking {
  readonly client: ApiClient;
  readonly paths: Paths;
  /** Of this reconciler; undefined outside of one. */
  readonly deployment?: string | undefined;
}

/** What a Job is made of, or why there can be none at present. */
export type Found = { readonly around: BackupSurroundings } | { readonly obstacle: Why };

export async function surroundingsOf(
  backup: EtcdBackupObject,
  all: readonly EtcdBackupObject[],
  looking: Looking,
): Promise<Found> {
  const { clusterName } = backup.spec;
  if (clusterName === undefined) return { around: await ofReconciler(looking) };
  const cluster = await named<EtcdClusterObject>(looking, 'etcdclusters', clusterName);
  if (!cluster) return obstacle('ClusterNotFound', `there is no EtcdCluster ${clusterName}; waiting for it`);
  const { schedule } = backup.spec;
  if (schedule !== undefined && !scheduleOf(backup, cluster)) {
    const known = (cluster.spec.backup?.schedules ?? []).map(({ name }) => name).join(', ');
    return obstacle(
      'ScheduleNotFound',
      `EtcdCluster ${clusterName} has no backup schedule '${schedule}'${known && `, only ${known}`}; waiting for it`,
    );
  }
  const statefulSet = await named<StatefulSetObject>(looking, 'statefulsets', clusterName);
  const gate = statefulSet && gateOf(statefulSet.spec.template);
  if (!statefulSet || !gate)
    return obstacle('ManifestsMissing', `there is no StatefulSet ${clusterName} of the constructs`);
  if (isBeingMade(cluster)) return obstacle('ClusterNotServing', `EtcdCluster ${clusterName} does not serve yet`);
  const first = all.find((other) => comesBefore(other, backup));
  if (first) return obstacle('AnotherRuns', `EtcdBackup ${first.metadata.name} of this cluster comes first`);
  const { template } = statefulSet.spec;
  return { around: { cluster, template, container: gate, domain: domainOf(template) } };
}

const obstacle = (reason: string, message: string): Found => ({ obstacle: { reason, message } });

/** A lost quorum is no reason to wait: that backup fails, and tells so. */
function isBeingMade({ status }: EtcdClusterObject): boolean {
  const available = status?.conditions?.find(({ type }) => type === 'Available');
  return !available || ['Bootstrapping', 'Restoring', 'StateUnknown'].includes(available.reason);
}

/** One at a time for a cluster. */
function comesBefore(other: EtcdBackupObject, { metadata, spec }: EtcdBackupObject): boolean {
  if (other.metadata.uid === metadata.uid || other.spec.clusterName !== spec.clusterName) return false;
  if (isFinal(other) || mirroredJob(other) || other.metadata.deletionTimestamp !== undefined) return false;
  const { phase, reason } = other.status ?? {};
  if (phase === 'BackingUp') return true;
  const waitsToo = phase === undefined || reason === 'NotSeen' || reason === 'AnotherRuns';
  return waitsToo && rank(other) < rank({ metadata });
}

const rank = ({ metadata }: Pick<KubeObject, 'metadata'>): string => `${metadata.creationTimestamp} ${metadata.name}`;

async function ofReconciler({ client, paths, deployment }: Looking): Promise<BackupSurroundings> {
  const found =
    deployment === undefined
      ? undefined
      : await client.get<DeploymentObject>(paths.of('deployments', deployment)).catch(unlessHidden);
  const template = found?.spec.template;
  const container = template?.spec.containers[0] ?? { image: agentImage };
  return { container, domain: 'cluster.local', ...(template && { template }) };
}

function unlessHidden(error: unknown): undefined {
  if (!isStatus(error, 404) && !isStatus(error, 403)) throw error;
}

/** There is no right to get one. */
async function named<T extends KubeObject>(
  { client, paths }: Looking,
  resource: 'etcdclusters' | 'statefulsets',
  name: string,
): Promise<T | undefined> {
  const { items } = await client.list<T>(paths.of(resource), { fieldSelector: `metadata.name=${name}` });
  return items.find(({ metadata }) => metadata.name === name);
}
