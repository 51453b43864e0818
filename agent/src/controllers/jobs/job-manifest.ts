import { ports } from '../../../../src/etcd/cluster-ports.ts';
import { memoryToOpen } from '../../../../src/etcd/quota.ts';
import { serviceAccountOf } from '../../../../src/etcd/schedule-names.ts';
import { type BackupJobSpec, type BackupPodStore, backupArguments, backupJob } from '../../../../src/lib/backup-pod.ts';
import {
  type JobSettings,
  type JobSources,
  jobAnnotationsOf,
  jobLabelsOf,
  jobPodOf,
  jobSources,
} from '../../../../src/lib/pods/job-pod.ts';
import { backupResources, restoreResources } from '../../../../src/lib/pods/job-resources.ts';
import { defaults } from '../../../../src/resource/defaults.ts';
import type { BackupScheduleSpec } from '../../../../src/resource/types.ts';
import type { PodTemplate } from '../../kube/objects.ts';
import { group, groupVersion } from '../../kube/paths.ts';
import { ExitCode, usageError } from '../../lib/errors.ts';
import { parseDuration } from '../../lib/input/duration.ts';
import { isRootCertificate } from '../etcd/root-certificate.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import { jobSettings } from '../objects/job-settings.ts';
import { peerVolumeOf, sidecarOf } from '../objects/stateful-set.ts';
import type { JobRequest } from '../port/effect.ts';
import { backupTls } from './backup-access.ts';
import { type BackupSettings, type JobFacts, jobCommand } from './job-arguments.ts';
import { finished } from './job-overrides.ts';

/** Location of the snapshot of an EtcdBackup. */
export interface StoredBackup {
  readonly store: BackupPodStore;
  readonly id: string;
  /** Folder of the snapshot in the store. */
  readonly folder: string;
  /** Object key, if the snapshot has one of its own. */
  readonly key?: string;
}

export interface JobInputs {
  readonly cluster: EtcdClusterObject;
  /** Pod template of the members. The pods of Jobs use its scheduling constraints. */
  readonly template: PodTemplate;
  /** URLs for a backup, by ordinal. */
  readonly endpoints: Readonly<Record<number, string>>;
  /** A name in the members' peer certificate. */
  readonly peerName: string;
  /** The certificate in `spec.tls.rootSecret`, for a restore. */
  readonly rootCertificate?: Uint8Array;
  /** The EtcdBackup that the restore's `source.backupName` names. Always set if it names one. */
  readonly backup?: StoredBackup;
  readonly proxy?: readonly { readonly name: string }[];
}

export const opAnnotation = `${group}/op`;
/** The generation of the EtcdCluster from which the Job was made. */
export const generationAnnotation = `${group}/generation`;
/** Where the snapshot lies that the Job restores, if an EtcdBackup named it. */
export const backupAnnotation = `${group}/backup`;
/** On a Job whose snapshot its operation restores next. */
export const restoredAnnotation = `${group}/restored`;
const identityDirectory = '/etc/etcd-agent/identities';
const peerTlsDirectory = '/etc/etcd/tls/peer';
const tlsDirectory = '/etc/etcd-agent/tls';

export const jobLabels = (cluster: string): Record<string, string> => ({
  'app.kubernetes.io/name': 'etcd-backup',
  'app.kubernetes.io/part-of': cluster,
  'app.kubernetes.io/managed-by': 'etcd-reconciler',
});

/** The time in seconds after which Kubernetes ends a Job that runs as its schedule says. */
export const activeDeadlineOf = ({
  activeDeadline = defaults.BackupScheduleSpec.activeDeadline,
}: Partial<BackupScheduleSpec> = {}): number => Math.ceil(parseDuration(activeDeadline, 'activeDeadline') / 1000);

/** Builds the Job `<cluster>-<kind>`: a backup pod with the command line of the request. */
export function jobManifest(request: JobRequest, inputs: JobInputs): object {
  const { cluster } = inputs;
  const { name, namespace, uid, generation } = cluster.metadata;
  const sources = sourcesOf(request, inputs);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${name}-${request.kind}`,
      namespace,
      labels: jobLabelsOf(sources, jobLabels(name)),
      annotations: jobAnnotationsOf(sources, {
        [opAnnotation]: request.op,
        ...(generation !== undefined && { [generationAnnotation]: `${generation}` }),
        ...(request.restored && { [restoredAnnotation]: 'true' }),
        ...(inputs.backup && { [backupAnnotation]: JSON.stringify(inputs.backup) }),
      }),
      ownerReferences: [{ apiVersion: groupVersion, kind: 'EtcdCluster', name, uid }],
    },
    spec: finished(jobSpec(request, inputs), sources, {
      cluster,
      opens: isOpening(request) || scheduleOf(request, cluster)?.verify === 'open',
      field: request.restore?.isOrigin && 'origin',
    }),
  };
}

/** It opens the snapshot, whatever a schedule says. */
const isOpening = ({ restore, salvage }: JobRequest): boolean => restore !== undefined || salvage !== undefined;

const sourcesOf = (request: JobRequest, { cluster, template }: JobInputs): JobSources =>
  jobSources(scheduleOf(request, cluster), cluster.spec, template, settingsOfRestore(request, cluster));

/** An origin is not in the record with the settings of its Job: a Job that does not work can be corrected. */
function settingsOfRestore({ restore }: JobRequest, { spec }: EtcdClusterObject): JobSettings | undefined {
  if (!restore?.isOrigin) return restore && jobSettings.of(restore.source);
  const { serviceAccountName, image, resources } = spec.origin ?? {};
  return { serviceAccountName, image, resources };
}

/** The parts of the Job that are changed here. backup-pod.ts returns it as untyped data. */
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

function jobSpec(request: JobRequest, inputs: JobInputs): object {
  const spec = backupJob(podSpec(request, inputs)) as JobSpec;
  const pod = spec.template.spec;
  const [container] = pod.containers as [JobContainer];
  const { args, env } = jobCommand(request, factsOf(inputs, request));
  const files = extraFiles(request, inputs);
  const { activeDeadlineSeconds, ...rest } = spec;
  return {
    ...rest,
    // No deadline for a restore, which serves its snapshot until the members have it.
    activeDeadlineSeconds: request.restore ? undefined : activeDeadlineSeconds,
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
        volumes: [...pod.volumes, ...files.map(({ name, source }) => ({ name, ...source }))],
      },
    },
  };
}

/** Omits the namespace variable, which the pod already has. */
const variables = (env: Readonly<Record<string, string>>): object[] =>
  Object.entries(env)
    .filter(([name]) => name !== 'ETCD_AGENT_NAMESPACE')
    .map(([name, value]) => ({ name, value }));

function podSpec(request: JobRequest, inputs: JobInputs): BackupJobSpec {
  const { cluster, template } = inputs;
  const sidecar = sidecarOf(template);
  const schedule = scheduleOf(request, cluster);
  const own = settingsOfRestore(request, cluster);
  const { image } = own ?? schedule ?? {};
  const account = own ? own.serviceAccountName : schedule && serviceAccountOf(cluster.metadata.name, schedule);
  const sources = sourcesOf(request, inputs);
  const tls = isSafe(inputs) ? backupTls(cluster.spec.tls) : undefined;
  return {
    cluster: cluster.metadata.name,
    endpoints: Object.values(inputs.endpoints),
    tls,
    stores: storesOf(request, inputs),
    trigger: request.kind,
    image: image ?? sidecar?.image ?? '',
    imagePullPolicy: sidecar?.imagePullPolicy,
    ...jobPodOf(sources, jobLabels(cluster.metadata.name), inputs.proxy),
    serviceAccountName: account ?? 'default',
    resources: resourcesOf(request, schedule, sources, memoryToOpen(cluster.spec)),
    backoffLimit: 3,
    // A snapshot that is not in the store does not come back.
    endsAt: request.restore && [ExitCode.nothingThere],
    activeDeadlineSeconds: activeDeadlineOf(schedule),
  };
}

/** Before TLS is switched on, no member has certificates yet. */
const isSafe = ({ endpoints }: JobInputs): boolean =>
  Object.values(endpoints).every((endpoint) => endpoint.startsWith('https:'));

function resourcesOf(
  request: JobRequest,
  schedule: BackupScheduleSpec | undefined,
  sources: JobSources,
  needed: string,
) {
  if (!isOpening(request)) return backupResources(schedule?.resources, schedule?.verify);
  return restoreResources(sources.own?.resources, sources.schedule, needed);
}

/** The stores whose files the pod mounts, in the order of its `--store` flags. */
function storesOf(request: JobRequest, { cluster, backup }: JobInputs): readonly BackupPodStore[] {
  const source = request.restore?.source;
  if (backup) return [backup.store];
  if (source?.store) return [source.store as BackupPodStore];
  // Without retention: the backup of an operation must not delete the snapshot that is being restored.
  return (scheduleOf(request, cluster)?.stores ?? []).map(({ retention: _, ...store }) => store);
}

function scheduleOf({ schedule, restore }: JobRequest, { spec }: EtcdClusterObject): BackupScheduleSpec | undefined {
  const name = schedule ?? (restore?.source.schedule as string | undefined);
  return spec.backup?.schedules?.find((each) => each.name === name);
}

function factsOf(inputs: JobInputs, request: JobRequest): JobFacts {
  const { cluster, template, endpoints, backup } = inputs;
  const stores = storeArguments(storesOf(request, inputs));
  const schedule = scheduleOf(request, cluster);
  return {
    cluster: cluster.metadata.name,
    namespace: cluster.metadata.namespace ?? '',
    endpoints,
    schedules: schedule ? { [schedule.name]: settingsOf(schedule, stores) } : {},
    storeOf: () => stores[0] ?? refuseWithoutStore(),
    backupOf: () => ({ ...backup!, store: stores[0]! }),
    identityFiles: () => [identityDirectory],
    clientTls:
      cluster.spec.tls && isSafe(inputs)
        ? {
            cacert: `${tlsDirectory}/ca.crt`,
            cert: `${tlsDirectory}/tls.crt`,
            key: `${tlsDirectory}/tls.key`,
          }
        : undefined,
    // With a certificate of another name the restored etcd would shut the reconciler out.
    hasRoot:
      !request.restore?.refusesAuth && inputs.rootCertificate && isRootCertificate(inputs.rootCertificate)
        ? true
        : undefined,
    peerTlsDir: peerVolumeOf(template) && peerTlsDirectory,
    serverName: inputs.peerName,
  };
}

function refuseWithoutStore(): never {
  throw usageError('the source of the restore names no store; set store or backupName in it');
}

/** `--store` arguments as in a backup pod, with the paths of its mounts. */
const storeArguments = (stores: readonly BackupPodStore[]): string[] => {
  const flag = '--store=';
  const spec = { cluster: '', endpoints: [], stores } as unknown as BackupJobSpec;
  return backupArguments(spec).flatMap((argument) => (argument.startsWith(flag) ? [argument.slice(flag.length)] : []));
};

function settingsOf(schedule: BackupScheduleSpec, stores: readonly string[]): BackupSettings {
  const { compression, encryption, verify, timeout } = schedule;
  return {
    stores,
    compression,
    ageRecipients: encryption?.age?.recipients,
    verify,
    timeout,
  };
}

interface Files {
  readonly name: string;
  readonly mountPath: string;
  /** The source of the volume. */
  readonly source: object;
}

function extraFiles({ restore, salvage }: JobRequest, { template }: JobInputs): Files[] {
  const { name, ...peer } = (restore || salvage ? peerVolumeOf(template) : undefined) ?? {};
  const identity = restore?.identitySecret;
  return [
    ...(name === undefined ? [] : [{ name, mountPath: peerTlsDirectory, source: peer }]),
    ...(identity
      ? [
          {
            name: 'identities',
            mountPath: identityDirectory,
            source: { secret: { secretName: identity, defaultMode: 0o440 } },
          },
        ]
      : []),
  ];
}
