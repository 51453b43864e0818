import { createHash } from 'node:crypto';
import { clientServiceName } from '../../../../src/etcd/client-service-name.ts';
import { recordName } from '../../../../src/etcd/record-name.ts';
import { serviceAccountOf } from '../../../../src/etcd/schedule-names.ts';
import { type BackupJobSpec, backupJob } from '../../../../src/lib/backup-pod.ts';
import { jobAccountOf } from '../../../../src/lib/pods/job-account.ts';
import {
  type JobSources,
  jobAnnotationsOf,
  jobLabelsOf,
  jobPodOf,
  jobSources,
} from '../../../../src/lib/pods/job-pod.ts';
import { backupResources } from '../../../../src/lib/pods/job-resources.ts';
import { defaults } from '../../../../src/resource/defaults.ts';
import type { BackupScheduleSpec } from '../../../../src/resource/types.ts';
import type { Container, PodTemplate } from '../../kube/objects.ts';
import { groupVersion } from '../../kube/paths.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { parseDuration } from '../../lib/input/duration.ts';
import { backupAccess, backupTls } from '../jobs/backup-access.ts';
import { activeDeadlineOf, jobLabels } from '../jobs/job-manifest.ts';
import { finished } from '../jobs/job-overrides.ts';
import { keyOf, storesOf } from '../jobs/stores.ts';
import { type EtcdBackupObject, folderOf } from '../objects/backup-object.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';

/** Facts besides the EtcdBackup that its Job is built from. */
export interface BackupJobInputs {
  /** The EtcdCluster of spec.clusterName. */
  readonly cluster?: EtcdClusterObject;
  /** Pod template of the members or of the reconciler. The Job's pod uses its scheduling constraints. */
  readonly template?: PodTemplate;
  /** Container of the agent. */
  readonly container: Pick<Container, 'image' | 'imagePullPolicy'>;
  /** DNS domain of the Kubernetes cluster. */
  readonly domain: string;
  readonly proxy: readonly { readonly name: string }[];
}

const defaultTimeout = defaults.EtcdBackupSpec.timeouts.total;
/** Time for the pod to start, in seconds. */
const startTime = 60;

/** Name of the Job. Derived from the EtcdBackup, so that the same attempt is never created twice. */
export function backupJobName({ metadata }: EtcdBackupObject, attempt: number): string {
  const hash = createHash('sha256').update(metadata.uid).digest('hex').slice(0, 8);
  return `${metadata.name}-${hash}${attempt > 1 ? `-${attempt}` : ''}`;
}

export const backupJobLabels = (backup: EtcdBackupObject): Record<string, string> => ({
  ...jobLabels(folderOf(backup)),
  'app.kubernetes.io/instance': backup.metadata.name,
});

/** Builds the Job. Throws an AgentError if no Job can ever fulfil the request. */
export function backupJobManifest(backup: EtcdBackupObject, attempt: number, inputs: BackupJobInputs): object {
  const { name, namespace, uid } = backup.metadata;
  const { cluster } = inputs;
  const sources = sourcesOf(backup, inputs);
  const annotations = jobAnnotationsOf(sources);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: backupJobName(backup, attempt),
      namespace,
      labels: jobLabelsOf(sources, backupJobLabels(backup)),
      annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
      ownerReferences: [{ apiVersion: groupVersion, kind: 'EtcdBackup', name, uid, controller: true }],
    },
    spec: finished(backupJob(podSpec(backup, inputs)), sources, {
      cluster,
      opens: scheduleOf(backup, cluster)?.verify === 'open',
    }),
  };
}

export const scheduleOf = (
  { spec }: EtcdBackupObject,
  cluster: EtcdClusterObject | undefined,
): BackupScheduleSpec | undefined => cluster?.spec.backup?.schedules?.find(({ name }) => name === spec.schedule);

const sourcesOf = (backup: EtcdBackupObject, { cluster, template }: BackupJobInputs): JobSources =>
  jobSources(scheduleOf(backup, cluster), cluster?.spec, template, backup.spec);

const accountOf = (cluster: EtcdClusterObject | undefined, schedule: BackupScheduleSpec | undefined) =>
  cluster && schedule && serviceAccountOf(cluster.metadata.name, schedule);

function podSpec(backup: EtcdBackupObject, inputs: BackupJobInputs): BackupJobSpec {
  const { spec, metadata } = backup;
  const { cluster, container } = inputs;
  const sources = sourcesOf(backup, inputs);
  const schedule = scheduleOf(backup, cluster);
  const { dial, total } = spec.timeouts ?? {};
  const dialTimeout = dial ?? schedule?.dialTimeout;
  const timeout = total ?? schedule?.timeout;
  const compression = spec.compression ?? schedule?.compression;
  const recipients = (spec.encryption ?? schedule?.encryption)?.age?.recipients;
  const objectKey = keyOf(backup);
  return {
    cluster: folderOf(backup),
    ...access(backup, inputs),
    stores: storesOf(backup, schedule),
    record: cluster && recordName(cluster.metadata.name),
    trigger: 'manual',
    request: metadata.uid,
    objectKey,
    compression,
    ageRecipients: recipients,
    verify: schedule?.verify,
    dialTimeout,
    timeout,
    image: spec.image ?? schedule?.image ?? container.image,
    imagePullPolicy: container.imagePullPolicy,
    ...jobPodOf(sources, backupJobLabels(backup), inputs.proxy),
    serviceAccountName: jobAccountOf('backup', metadata.name, spec) ?? accountOf(cluster, schedule) ?? 'default',
    resources: backupResources(spec.resources ?? schedule?.resources, schedule?.verify),
    backoffLimit: 3,
    activeDeadlineSeconds: total || !schedule ? afterTimeout(total) : activeDeadlineOf(schedule),
  };
}

/** Later than the agent's own time-out, which reports the phase. Kubernetes would delete the pod and its message. */
const afterTimeout = (total: string = defaultTimeout): number =>
  Math.ceil(parseDuration(total, 'timeouts.total') / 1000) + startTime;

function access(
  { spec }: EtcdBackupObject,
  { cluster, domain }: BackupJobInputs,
): Pick<BackupJobSpec, 'endpoints' | 'tls' | 'auth'> {
  const { endpoints, tls, auth } = spec;
  if (endpoints) {
    return {
      endpoints,
      tls: tls && { ...tls, clientCertificate: tls.clientCertificate ?? true },
      auth,
    };
  }
  if (!cluster) throw new AgentError(ExitCode.usage, 'spec names neither clusterName nor endpoints');
  const { name, namespace = '' } = cluster.metadata;
  const { size, tls: own } = cluster.spec;
  const { port } = backupAccess(own);
  const access = backupTls(own);
  const scheme = own ? 'https' : 'http';
  const host = (ordinal: number) => `${clientServiceName(`${name}-${ordinal}`)}.${namespace}.svc.${domain}`;
  return {
    endpoints: Array.from({ length: size }, (_, ordinal) => `${scheme}://${host(ordinal)}:${port}`),
    tls: access,
  };
}
