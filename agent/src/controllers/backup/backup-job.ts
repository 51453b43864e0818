import { createHash } from 'node:crypto';
import { clientServiceName } from '../../../../src/etcd/client-service-name.ts';
import { ports } from '../../../../src/etcd/cluster-ports.ts';
import { type BackupJobSpec, backupJob } from '../../../../src/lib/backup-pod.ts';
import type { Container, PodTemplate } from '../../kube/objects.ts';
import { groupVersion } from '../../kube/paths.ts';
import { parseDuration } from '../../lib/duration.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { jobLabels, small, weekSeconds } from '../cluster/jobs/job-manifest.ts';
import type { EtcdClusterObject, Schedule } from '../cluster/kubernetes/cluster-object.ts';
import { type EtcdBackupObject, folderOf } from './backup-object.ts';
import { keyOf, storesOf } from './backup-stores.ts';

export interface BackupSurroundings {
  /** Of spec.clusterName. */
  readonly cluster?: EtcdClusterObject;
  /** The members' or the reconciler's: the Job goes where that may go. */
  readonly template?: PodTemplate;
  /** Of the agent. */
  readonly container: Pick<Container, 'image' | 'imagePullPolicy'>;
  /** Of the Kubernetes cluster. */
  readonly domain: string;
}

const defaultTimeout = '1h';
/** Of a pod, in seconds. */
const startTime = 60;

/** The same for the same EtcdBackup, so that it is made once. A second attempt asks the store what the first one stored. */
export function backupJobName({ metadata }: EtcdBackupObject, attempt: number): string {
  const hash = createHash('sha256').update(metadata.uid).digest('hex').slice(0, 8);
  return `${metadata.name}-${hash}${attempt > 1 ? `-${attempt}` : ''}`;
}

export const backupJobLabels = (backup: EtcdBackupObject): Record<string, string> => ({
  ...jobLabels(folderOf(backup)),
  'app.kubernetes.io/instance': backup.metadata.name,
});

/** Throws when no Job can ever do what is asked for. */
export function backupJobManifest(backup: EtcdBackupObject, attempt: number, around: BackupSurroundings): object {
  const { name, namespace, uid } = backup.metadata;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: backupJobName(backup, attempt),
      namespace,
      labels: backupJobLabels(backup),
      ownerReferences: [{ apiVersion: groupVersion, kind: 'EtcdBackup', name, uid, controller: true }],
    },
    spec: { ...backupJob(podSpec(backup, around)), ttlSecondsAfterFinished: weekSeconds },
  };
}

export const scheduleOf = ({ spec }: EtcdBackupObject, cluster: EtcdClusterObject | undefined): Schedule | undefined =>
  cluster?.spec.backup?.schedules?.find(({ name }) => name === spec.schedule);

function podSpec(backup: EtcdBackupObject, around: BackupSurroundings): BackupJobSpec {
  const { spec, metadata } = backup;
  const { cluster, template, container } = around;
  const schedule = scheduleOf(backup, cluster);
  const { imagePullSecrets, nodeSelector, tolerations, priorityClassName } = template?.spec ?? {};
  const { dial, total } = spec.timeouts ?? {};
  const dialTimeout = dial ?? schedule?.dialTimeout;
  const timeout = total ?? schedule?.timeout;
  const compression = spec.compression ?? schedule?.compression;
  const recipients = (spec.encryption ?? schedule?.encryption)?.age?.recipients;
  const objectKey = keyOf(backup);
  return {
    cluster: folderOf(backup),
    ...access(backup, around),
    stores: storesOf(backup, schedule),
    trigger: 'manual',
    request: metadata.uid,
    ...(objectKey !== undefined && { objectKey }),
    ...(compression && { compression }),
    ...(recipients && { ageRecipients: recipients }),
    ...(schedule?.verify && { verify: schedule.verify }),
    ...(dialTimeout && { dialTimeout }),
    ...(timeout && { timeout }),
    image: spec.image ?? schedule?.image ?? container.image,
    ...(container.imagePullPolicy && { imagePullPolicy: container.imagePullPolicy }),
    ...(imagePullSecrets && { imagePullSecrets }),
    serviceAccountName: spec.serviceAccountName ?? schedule?.serviceAccountName ?? 'default',
    resources: small,
    labels: backupJobLabels(backup),
    ...(nodeSelector && { nodeSelector }),
    ...(tolerations && { tolerations }),
    ...(priorityClassName && { priorityClassName }),
    backoffLimit: 3,
    // The agent's own limit ends first, and it says in which phase; Kubernetes' would take the pod away with its words.
    activeDeadlineSeconds: Math.ceil(parseDuration(total ?? defaultTimeout, 'timeouts.total') / 1000) + startTime,
  };
}

function access(
  { spec }: EtcdBackupObject,
  { cluster, domain }: BackupSurroundings,
): Pick<BackupJobSpec, 'endpoints' | 'tls' | 'auth'> {
  const { endpoints, tls, auth } = spec;
  if (endpoints) {
    return {
      endpoints,
      ...(tls && { tls: { ...tls, clientCertificate: tls.clientCertificate ?? true } }),
      ...(auth && { auth }),
    };
  }
  if (!cluster) throw new AgentError(ExitCode.usage, 'it names neither a cluster nor endpoints');
  const { name, namespace = '' } = cluster.metadata;
  const { size, clientTlsSecret } = cluster.spec;
  const scheme = cluster.spec.tls ? 'https' : 'http';
  const host = (ordinal: number) => `${clientServiceName(`${name}-${ordinal}`)}.${namespace}.svc.${domain}`;
  return {
    endpoints: Array.from({ length: size }, (_, ordinal) => `${scheme}://${host(ordinal)}:${ports.client}`),
    ...(clientTlsSecret && { tls: { files: { secretName: clientTlsSecret }, clientCertificate: true } }),
  };
}
