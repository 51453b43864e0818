import { ports } from '../../../../../src/etcd/cluster-ports.ts';
import {
  type BackupJobSpec,
  type BackupPodFiles,
  type BackupPodStore,
  type BackupPodTls,
  backupArguments,
  backupJob,
} from '../../../../../src/lib/backup-pod.ts';
import type { PodTemplate } from '../../../kube/objects.ts';
import { group, groupVersion } from '../../../kube/paths.ts';
import { AgentError, ExitCode } from '../../../lib/errors.ts';
import type { RestoreSource } from '../../../protocol/record.ts';
import type { JobRequest } from '../effect.ts';
import { type BackupSettings, type JobFacts, jobCommand } from '../job-arguments.ts';
import type { EtcdClusterObject, Schedule } from '../kubernetes/cluster-object.ts';
import { gateOf, peerSecretOf } from '../kubernetes/stateful-set.ts';
import { jobSettings } from './job-settings.ts';

/** Where the snapshot of an EtcdBackup is. */
export interface StoredBackup {
  readonly store: BackupPodStore;
  readonly id: string;
  /** Its folder within the store. */
  readonly folder: string;
  /** Of one that lies under a key of its own. */
  readonly key?: string;
}

export interface JobSurroundings {
  readonly cluster: EtcdClusterObject;
  /** Of the members: Jobs go where they may go. */
  readonly template: PodTemplate;
  /** Client URLs, by ordinal. */
  readonly endpoints: Readonly<Record<number, string>>;
  /** What the certificate of the members shows each other. */
  readonly peerName: string;
  /** Of the restore's `source.backupName`. */
  readonly backup?: StoredBackup;
}

export const opAnnotation = `${group}/op`;
const identityDirectory = '/etc/etcd-agent/identities';
const peerTlsDirectory = '/etc/etcd/tls/peer';
const tlsDirectory = '/etc/etcd-agent/tls';
export const weekSeconds = 7 * 24 * 3600;
const hour = 3600;

export const jobLabels = (cluster: string): Record<string, string> => ({
  'app.kubernetes.io/name': 'etcd-backup',
  'app.kubernetes.io/part-of': cluster,
  'app.kubernetes.io/managed-by': 'etcd-reconciler',
});

/** The Job `<cluster>-<kind>`: the pod of a backup, with the command line of what is asked for. */
export function jobManifest(request: JobRequest, around: JobSurroundings): object {
  const { cluster } = around;
  const { name, namespace, uid } = cluster.metadata;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${name}-${request.kind}`,
      namespace,
      labels: jobLabels(name),
      annotations: { [opAnnotation]: request.op },
      ownerReferences: [{ apiVersion: groupVersion, kind: 'EtcdCluster', name, uid }],
    },
    spec: jobSpec(request, around),
  };
}

/** What is of no type in backup-pod.ts: it is plain data. */
interface JobSpec {
  template: { spec: { containers: JobContainer[]; volumes: object[] } };
  activeDeadlineSeconds?: number;
}

interface JobContainer {
  args: readonly string[];
  env: object[];
  volumeMounts: object[];
  ports?: object[];
}

function jobSpec(request: JobRequest, around: JobSurroundings): object {
  const spec = backupJob(podSpec(request, around)) as JobSpec;
  const pod = spec.template.spec;
  const [container] = pod.containers as [JobContainer];
  const { args, env } = jobCommand(request, factsOf(around, request));
  const files = extraFiles(request, around);
  const { activeDeadlineSeconds, ...rest } = spec;
  return {
    ...rest,
    // A restore serves its snapshot for as long as it takes.
    ...(!request.restore && { activeDeadlineSeconds }),
    ttlSecondsAfterFinished: weekSeconds,
    template: {
      ...spec.template,
      spec: {
        ...pod,
        containers: [
          {
            ...container,
            // Kubernetes replaces `$(NAME)` in arguments; `$$` is a plain dollar.
            args: args.map((argument) => argument.replaceAll('$', '$$$$')),
            env: [...container.env, ...variables(env)],
            volumeMounts: [
              ...container.volumeMounts,
              ...files.map(({ name, mountPath }) => ({ name, mountPath, readOnly: true })),
            ],
            ...(request.restore && { ports: [{ name: 'agent', containerPort: ports.agent, protocol: 'TCP' }] }),
          },
        ],
        volumes: [
          ...pod.volumes,
          ...files.map(({ name, secretName }) => ({ name, secret: { secretName, defaultMode: 0o440 } })),
        ],
      },
    },
  };
}

/** The namespace is there already, from the pod itself. */
const variables = (env: Readonly<Record<string, string>>): object[] =>
  Object.entries(env)
    .filter(([name]) => name !== 'ETCD_AGENT_NAMESPACE')
    .map(([name, value]) => ({ name, value }));

function podSpec(request: JobRequest, around: JobSurroundings): BackupJobSpec {
  const { cluster, template } = around;
  const gate = gateOf(template);
  const schedule = scheduleOf(request, cluster);
  const { serviceAccountName, image } = request.restore ? jobSettings.of(request.restore.source) : (schedule ?? {});
  const { imagePullSecrets, nodeSelector, tolerations, priorityClassName } = template.spec;
  const { clientTlsSecret } = cluster.spec;
  const tls: BackupPodTls | undefined = clientTlsSecret
    ? { files: { secretName: clientTlsSecret } satisfies BackupPodFiles, clientCertificate: true }
    : undefined;
  return {
    cluster: cluster.metadata.name,
    endpoints: Object.values(around.endpoints),
    ...(tls && { tls }),
    stores: storesOf(request, around),
    trigger: request.kind,
    image: image ?? gate?.image ?? '',
    ...(gate?.imagePullPolicy && { imagePullPolicy: gate.imagePullPolicy }),
    ...(imagePullSecrets && { imagePullSecrets }),
    serviceAccountName: serviceAccountName ?? 'default',
    resources: request.restore || request.salvage ? large : small,
    labels: jobLabels(cluster.metadata.name),
    ...(nodeSelector && { nodeSelector }),
    ...(tolerations && { tolerations }),
    ...(priorityClassName && { priorityClassName }),
    backoffLimit: 3,
    activeDeadlineSeconds: 4 * hour,
  };
}

export const small = { requests: { cpu: '100m', memory: '100Mi' }, limits: { cpu: '1', memory: '100Mi' } };
/** etcdutl maps the database into memory for a trial restore. */
const large = { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '1Gi' } };

/** The stores whose files the pod mounts, in the order of its `--store` flags. */
function storesOf(request: JobRequest, { cluster, backup }: JobSurroundings): readonly BackupPodStore[] {
  const source = request.restore?.source;
  if (backup) return [backup.store];
  if (source?.store) return [source.store as BackupPodStore];
  // An operation's backup deletes nothing: the snapshot that is being restored may be the next one to go.
  return (scheduleOf(request, cluster)?.stores ?? []).map(({ retention: _, ...store }) => store);
}

function scheduleOf({ schedule, restore }: JobRequest, { spec }: EtcdClusterObject): Schedule | undefined {
  const name = schedule ?? (restore?.source.schedule as string | undefined);
  return spec.backup?.schedules?.find((each) => each.name === name);
}

function factsOf(around: JobSurroundings, request: JobRequest): JobFacts {
  const { cluster, template, endpoints, backup } = around;
  const stores = storeArguments(storesOf(request, around));
  const schedule = scheduleOf(request, cluster);
  return {
    cluster: cluster.metadata.name,
    namespace: cluster.metadata.namespace ?? '',
    endpoints,
    schedules: schedule ? { [schedule.name]: settingsOf(schedule, stores) } : {},
    storeOf: () => stores[0] ?? mistake(request.restore?.source),
    backupOf: () => backup && { ...backup, store: stores[0]! },
    identityFiles: () => [identityDirectory],
    ...(cluster.spec.clientTlsSecret && {
      clientTls: {
        cacert: `${tlsDirectory}/ca.crt`,
        cert: `${tlsDirectory}/tls.crt`,
        key: `${tlsDirectory}/tls.key`,
      },
    }),
    ...(peerSecretOf(template) && { peerTlsDir: peerTlsDirectory }),
    serverName: around.peerName,
  };
}

function mistake(source: RestoreSource | undefined): never {
  throw new AgentError(ExitCode.usage, `no store is named in ${JSON.stringify(source)}`);
}

/** As the pod of a backup finds them, with its mounts. */
const storeArguments = (stores: readonly BackupPodStore[]): string[] => {
  const flag = '--store=';
  const spec = { cluster: '', endpoints: [], stores } as unknown as BackupJobSpec;
  return backupArguments(spec).flatMap((argument) => (argument.startsWith(flag) ? [argument.slice(flag.length)] : []));
};

function settingsOf(schedule: Schedule, stores: readonly string[]): BackupSettings {
  const { compression, encryption, verify, timeout } = schedule;
  return {
    stores,
    ...(compression && { compression }),
    ...(encryption?.age && { ageRecipients: encryption.age.recipients }),
    ...(verify && { verify }),
    ...(timeout && { timeout }),
  };
}

interface SecretFiles {
  readonly name: string;
  readonly mountPath: string;
  readonly secretName: string;
}

function extraFiles({ restore, salvage }: JobRequest, { template }: JobSurroundings): SecretFiles[] {
  const peer = restore || salvage ? peerSecretOf(template) : undefined;
  const identity = restore?.identitySecret;
  return [
    ...(peer ? [{ name: 'peer-tls', mountPath: peerTlsDirectory, secretName: peer }] : []),
    ...(identity ? [{ name: 'identities', mountPath: identityDirectory, secretName: identity }] : []),
  ];
}
