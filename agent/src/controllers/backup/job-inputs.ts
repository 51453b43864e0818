import { agentImage } from '../../../../src/lib/agent-image.ts';
import { mainContainer, reconcilerContainer } from '../../kube/containers.ts';
import type { DeploymentObject, KubeObject, StatefulSetObject } from '../../kube/objects.ts';
import { jobLabels } from '../jobs/job-manifest.ts';
import { backupProblem } from '../jobs/job-overrides.ts';
import { mayRun } from '../jobs/pod-state.ts';
import { type OwnDeployment, proxyVariables, readOwnDeployment } from '../jobs/proxy-variables.ts';
import { type EtcdBackupObject, isFinal, mirroredJob, type Why } from '../objects/backup-object.ts';
import { type EtcdClusterObject, type ReturnedCluster, readCluster } from '../objects/cluster-object.ts';
import { domainOf, sidecarOf } from '../objects/stateful-set.ts';
import { type BackupJobInputs, scheduleOf } from './job.ts';

/** Why no Job can be created now, or ever (`permanent`). */
export type Obstacle = Why & { readonly permanent?: true };

/** The inputs of a Job, or the reason why it cannot be created. */
export type InputsOrObstacle = { readonly inputs: BackupJobInputs } | { readonly obstacle: Obstacle };

export async function jobInputs(
  backup: EtcdBackupObject,
  all: readonly EtcdBackupObject[],
  api: OwnDeployment,
): Promise<InputsOrObstacle> {
  const problem = backupProblem(backup);
  // Reported at once, whatever it would wait for.
  if (problem) return { obstacle: { reason: 'BadSpec', message: problem, permanent: true } };
  const { clusterName } = backup.spec;
  if (clusterName === undefined) return { inputs: fromReconciler(await readOwnDeployment(api)) };
  const found = await findByName<ReturnedCluster>(api, 'etcdclusters', clusterName);
  if (!found) return obstacle('ClusterNotFound', `EtcdCluster ${clusterName} does not exist; waiting for it`);
  const cluster = readCluster(found);
  if (lacksSchedule(backup, cluster)) {
    const known = (cluster.spec.backup?.schedules ?? []).map(({ name }) => name).join(', ');
    return obstacle(
      'ScheduleNotFound',
      `EtcdCluster ${clusterName} has no backup schedule '${backup.spec.schedule}'${known && `, only ${known}`}; waiting for it`,
    );
  }
  const statefulSet = await findByName<StatefulSetObject>(api, 'statefulsets', clusterName);
  const sidecar = statefulSet && sidecarOf(statefulSet.spec.template);
  if (!statefulSet || !sidecar)
    return obstacle('ManifestsMissing', `the StatefulSet ${clusterName} that the constructs generate does not exist`);
  if (isStarting(cluster)) return obstacle('ClusterNotServing', `EtcdCluster ${clusterName} is not serving yet`);
  const running = await ownersOfJobs(clusterName, api);
  const first = all.find((other) => comesBefore(other, backup, { cluster, running }));
  if (first) return obstacle('AnotherRuns', `waiting for EtcdBackup ${first.metadata.name} of the same cluster`);
  const { template } = statefulSet.spec;
  const proxy = proxyVariables(await readOwnDeployment(api));
  return { inputs: { cluster, template, container: sidecar, domain: domainOf(template), proxy } };
}

const obstacle = (reason: string, message: string): InputsOrObstacle => ({ obstacle: { reason, message } });

/** Does not wait for a lost quorum: that backup fails and reports it. */
function isStarting({ status }: EtcdClusterObject): boolean {
  const available = status?.conditions?.find(({ type }) => type === 'Available');
  return !available || ['Bootstrapping', 'Restoring', 'StateUnknown'].includes(available.reason);
}

const lacksSchedule = (backup: EtcdBackupObject, cluster: EtcdClusterObject): boolean =>
  backup.spec.schedule !== undefined && !scheduleOf(backup, cluster);

/**
 * Backups of one cluster run one at a time, the oldest first. One that waits for something of its own is not in the queue. The order
 * of the others never changes: two whose order changed could wait for each other.
 */
function comesBefore(
  other: EtcdBackupObject,
  backup: EtcdBackupObject,
  { cluster, running }: { readonly cluster: EtcdClusterObject; readonly running: ReadonlySet<string> },
): boolean {
  if (other.metadata.uid === backup.metadata.uid || other.spec.clusterName !== backup.spec.clusterName) return false;
  if (isFinal(other) || mirroredJob(other) || other.metadata.deletionTimestamp !== undefined) return false;
  if (running.has(other.metadata.uid) || mayRun(other)) return true;
  return !lacksSchedule(other, cluster) && other.status?.reason !== 'JobNotCreated' && rank(other) < rank(backup);
}

/** Uids of the EtcdBackups of a cluster that have a Job: its status says so only after the next pass. */
async function ownersOfJobs(clusterName: string, { client, paths }: OwnDeployment): Promise<ReadonlySet<string>> {
  const labelSelector = Object.entries(jobLabels(clusterName)).map(([name, value]) => `${name}=${value}`);
  const { items } = await client.list<KubeObject>(paths.of('jobs'), { labelSelector: labelSelector.join(',') });
  return new Set(items.flatMap(({ metadata }) => metadata.ownerReferences ?? []).map(({ uid }) => uid));
}

const rank = ({ metadata }: Pick<KubeObject, 'metadata'>): string => `${metadata.creationTimestamp} ${metadata.name}`;

function fromReconciler(own: DeploymentObject | undefined): BackupJobInputs {
  const template = own?.spec.template;
  const container = mainContainer(template?.spec.containers, reconcilerContainer) ?? { image: agentImage };
  return { container, domain: 'cluster.local', proxy: proxyVariables(own), template };
}

/** Finds an object with a list request, because the Role does not allow `get` for these resources. */
export async function findByName<T extends KubeObject>(
  { client, paths }: OwnDeployment,
  resource: 'etcdclusters' | 'statefulsets',
  name: string,
): Promise<T | undefined> {
  const { items } = await client.list<T>(paths.of(resource), { fieldSelector: `metadata.name=${name}` });
  return items.find(({ metadata }) => metadata.name === name);
}
