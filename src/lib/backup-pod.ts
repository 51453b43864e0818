// Builds the pod of a backup as plain data, from plain data. This file imports no construct: the library uses it at synthesis and
// the reconciler at run time.
import { larger } from '../resource/quantity.ts';
import type {
  BackupRetentionSpec,
  BackupScheduleSpec,
  FilesOfObject,
  NodeStoreSpec,
  ResourceAmounts,
  ResourcesSpec,
} from '../resource/types.ts';

/** Files from a Secret or a ConfigMap (the keys in `items`, or all keys), or files of the node. */
export interface BackupPodFiles extends FilesOfObject {
  readonly hostFiles?: readonly { readonly hostPath: string; readonly path: string }[];
}

/** Files from a Secret: their content must not be in a ConfigMap. */
export interface BackupPodSecret extends BackupPodFiles {
  readonly secretName: string;
}

export interface BackupPodTls {
  /** `ca.crt`, and `tls.crt` with `tls.key` if there is a client certificate. */
  readonly files: BackupPodFiles;
  /** A Secret whose key has `ca.crt` instead, for a cluster that changes the source of its certificates. */
  readonly trust?: { readonly secretName: string; readonly key: string };
  readonly clientCertificate: boolean;
}

/** A store of a schedule. `filesystem.hostPath` is allowed only if `host` is set. */
export type BackupPodStore = NodeStoreSpec;

/** A pod that runs on the same node as etcd. */
export interface BackupPodHost {
  /** Labels of the nodes: a node with one of them qualifies. */
  readonly nodeLabels: readonly string[];
  /** Path of the manifest of etcd's static pod. */
  readonly etcdManifest?: string;
  /** etcd is a service of the node: the pod must see its process. */
  readonly etcdProcess?: boolean;
  /** Files of the node that are stored with the snapshot. */
  readonly extraPaths?: readonly { readonly path: string; readonly type: 'File' | 'Directory' }[];
  readonly extraAgeRecipients?: readonly string[];
}

/** Fields of a schedule that become flags of the agent. */
type AgentFlags = 'compression' | 'verify' | 'fileName' | 'fileNameTimeZone' | 'dialTimeout' | 'timeout';

export interface BackupPodSpec extends Pick<BackupScheduleSpec, AgentFlags> {
  readonly cluster: string;
  readonly endpoints: readonly string[];
  readonly tls?: BackupPodTls;
  /** The files `username` and `password`. */
  readonly auth?: BackupPodSecret;
  readonly stores: readonly BackupPodStore[];
  /** ConfigMap with the record of the cluster. Beside it are the snapshots that retention keeps. */
  readonly record?: string;
  readonly host?: BackupPodHost;
  readonly trigger: string;
  /** Identifies the request: if its backup is already stored, none is taken. */
  readonly request?: string;
  /** Key of an export in each store. */
  readonly objectKey?: string;
  /** Undefined means that the backup is not encrypted. */
  readonly ageRecipients?: readonly string[];
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly serviceAccountName: string;
  readonly resources: Complete<Required<ResourceAmounts>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly priorityClassName?: string;
  /** Further variables of the container. */
  readonly env?: readonly object[];
  /** Labels of a pod that uses the same volumes. */
  readonly near?: Readonly<Record<string, string>>;
}

export interface BackupJobSpec extends BackupPodSpec {
  readonly backoffLimit: number;
  readonly activeDeadlineSeconds: number;
  /** Further exit codes after which a retry does not help. */
  readonly endsAt?: readonly number[];
}

export const backupContainerName = 'backup';
/** The ids of the snapshots that retention keeps, one per line. */
export const keptSnapshotsKey = 'kept-snapshots';
const recordDirectory = '/etc/etcd-agent/record';
const tlsDirectory = '/etc/etcd-agent/tls';
const etcdManifestFile = '/etc/etcd-agent/etcd.yaml';
const authDirectory = '/etc/etcd-agent/auth';
const credentialsDirectory = (index: number) => `/etc/etcd-agent/stores/${index}/credentials`;
const caDirectory = (index: number) => `/etc/etcd-agent/stores/${index}/ca`;
const sseCustomerKeyDirectory = (index: number) => `/etc/etcd-agent/stores/${index}/sse-customer-key`;
const backupDirectory = (index: number) => `/backup/${index}`;
const placesOf = (index: number): StorePlaces => ({
  directory: backupDirectory(index),
  credentials: credentialsDirectory(index),
  caFile: `${caDirectory(index)}/ca.crt`,
  sseCustomerKeyFile: `${sseCustomerKeyDirectory(index)}/key`,
});

/** Paths at which the agent finds the files of a store. */
export interface StorePlaces {
  /** Directory of a filesystem store. */
  readonly directory: string;
  /** Directory with the credentials. */
  readonly credentials: string;
  readonly caFile: string;
  readonly sseCustomerKeyFile: string;
}

/**
 * The default resources of a pod that takes, verifies or restores a backup. One that opens the database needs more memory,
 * because etcdutl keeps an index of all revisions of all keys.
 */
export function defaultResources({
  opens,
  cpuLimit = '100m',
}: {
  readonly opens: boolean;
  readonly cpuLimit?: string;
}) {
  return {
    requests: { cpu: '100m', memory: opens ? '128Mi' : '100Mi' },
    limits: { cpu: cpuLimit, memory: opens ? '1Gi' : '100Mi' },
  };
}

/** Requests and limits of a container. Without a limit by default, there is one only if it is given. */
export interface Complete<Limits> {
  readonly requests: Required<ResourceAmounts>;
  readonly limits: Limits;
}

export function completeResources<Limits extends ResourceAmounts = Required<ResourceAmounts>>(
  { requests, limits }: ResourcesSpec,
  defaults: Complete<Limits>,
): Complete<Limits> {
  const request = (name: keyof ResourceAmounts) => requests?.[name] ?? limits?.[name] ?? defaults.requests[name];
  const memory = requests?.memory ?? defaults.limits.memory;
  return {
    requests: { cpu: request('cpu'), memory: request('memory') },
    limits: {
      // A limit of CPU only makes the work slower, so a small request is not one.
      cpu: limits?.cpu ?? (defaults.limits.cpu && larger(defaults.limits.cpu, requests?.cpu ?? '0')),
      memory: limits?.memory ?? (defaults.limits.memory && memory),
    } as Limits,
  };
}

/** Returns the JobSpec of a backup. */
export function backupJob(spec: BackupJobSpec): object {
  return {
    backoffLimit: spec.backoffLimit,
    activeDeadlineSeconds: spec.activeDeadlineSeconds,
    podFailurePolicy: {
      rules: [
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        // SIGTERM (143): the node was drained; the backup did not fail.
        onExitCodes('Ignore', [143]),
        // A retry does not help: wrong configuration, some stores failed, suspect source, store refused, verification
        // failed, refused by a safety rule.
        onExitCodes('FailJob', [2, 3, 11, 21, 30, 40, ...(spec.endsAt ?? [])]),
      ],
    },
    template: backupPod(spec),
  };
}

function onExitCodes(action: string, values: number[]): object {
  return { action, onExitCodes: { containerName: backupContainerName, operator: 'In', values } };
}

/**
 * Returns the PodTemplateSpec of a backup. It meets the restricted Pod Security Standard, unless a store is an NFS
 * export or the pod runs on etcd's own node.
 */
export function backupPod(spec: BackupPodSpec): object {
  const mounts = [
    ...accessMounts(spec),
    ...hostMounts(spec.host),
    ...recordMount(spec),
    ...spec.stores.flatMap(storeMounts),
    mount('tmp', '/tmp', { emptyDir: {} }),
  ];
  return {
    metadata: { labels: spec.labels },
    spec: {
      restartPolicy: 'Never',
      // The agent needs up to 20 seconds to abort an upload and remove its parts.
      terminationGracePeriodSeconds: 60,
      ...identityAndPlace(spec),
      ...(spec.host && hostPlacement(spec.host)),
      affinity: affinity(spec),
      securityContext: {
        // On etcd's own node the keys belong to root. Without capabilities, root cannot read the files of other users.
        ...(spec.host ? { runAsUser: 0, runAsGroup: 0 } : { runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532 }),
        fsGroup: 65532,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [backupContainer(spec, mounts)],
      volumes: mounts.map(({ name, source }) => ({ name, ...source })),
    },
  };
}

function affinity({ host, near }: BackupPodSpec): object | undefined {
  if (!host && !near) return undefined;
  return { ...(host && nodeAffinity(host.nodeLabels)), ...(near && { podAffinity: podAffinity(near) }) };
}

/** Returns the fields of a pod spec that say as whom and where it runs, without a token for the Kubernetes API. */
export const identityAndPlace = (
  spec: Pick<
    BackupPodSpec,
    'serviceAccountName' | 'imagePullSecrets' | 'nodeSelector' | 'tolerations' | 'priorityClassName'
  >,
) => ({
  serviceAccountName: spec.serviceAccountName,
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  imagePullSecrets: spec.imagePullSecrets,
  nodeSelector: spec.nodeSelector,
  tolerations: spec.tolerations,
  priorityClassName: spec.priorityClassName,
});

/**
 * Some volumes can be mounted on one node only; which ones is not known here. Only a preference: otherwise, the node of that
 * pod being full or lost would prevent backups into volumes that every node can mount. Without that pod, any node will do.
 */
function podAffinity(matchLabels: Readonly<Record<string, string>>): object {
  const podAffinityTerm = { labelSelector: { matchLabels }, topologyKey: 'kubernetes.io/hostname' };
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }] };
}

/** Returns the affinity for nodes that have at least one of these labels. */
export function nodeAffinity(nodeLabels: readonly string[]): object {
  const nodeSelectorTerms = nodeLabels.map((key) => ({ matchExpressions: [{ key, operator: 'Exists' }] }));
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}

function hostPlacement({ etcdProcess }: BackupPodHost): object {
  return {
    hostNetwork: true,
    hostPID: etcdProcess || undefined,
    // The node's own DNS: a host that a backup reaches is also reachable for a restore, when the cluster's DNS is down.
    dnsPolicy: 'Default',
  };
}

function backupContainer(spec: BackupPodSpec, mounts: readonly Mount[]): object {
  return {
    name: backupContainerName,
    image: spec.image,
    imagePullPolicy: spec.imagePullPolicy,
    args: inArguments(backupArguments(spec)),
    env: [
      {
        name: 'ETCD_AGENT_NAMESPACE',
        valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
      },
      ...(spec.host
        ? [
            {
              name: 'ETCD_AGENT_NODE_NAME',
              valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } },
            },
          ]
        : []),
      // Not a flag: an agent of an earlier release, which the user may have chosen, would refuse it.
      ...(keepsNamed(spec) ? [{ name: 'ETCD_AGENT_KEEP_FILE', value: `${recordDirectory}/${keptSnapshotsKey}` }] : []),
      ...(spec.env ?? []),
    ],
    resources: spec.resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    // The agent writes its result to the termination message. If it is killed, only its log remains.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: mounts.map(({ name, mountPath, readOnly }) => ({ name, mountPath, readOnly })),
  };
}

/** Returns the agent's arguments. Options that are not set keep the agent's defaults. */
export function backupArguments(spec: BackupPodSpec): string[] {
  return [
    'backup',
    ...flag('cluster', spec.cluster),
    ...flag('endpoints', spec.endpoints.join(',')),
    ...flag('cacert', spec.tls && `${tlsDirectory}/ca.crt`),
    ...flag('cert', spec.tls?.clientCertificate ? `${tlsDirectory}/tls.crt` : undefined),
    ...flag('key', spec.tls?.clientCertificate ? `${tlsDirectory}/tls.key` : undefined),
    ...flag('user-file', spec.auth && `${authDirectory}/username`),
    ...flag('password-file', spec.auth && `${authDirectory}/password`),
    ...flag('dial-timeout', spec.dialTimeout),
    ...flag('timeout', spec.timeout),
    ...flag('compression', spec.compression),
    ...(spec.ageRecipients ?? []).flatMap((recipient) => flag('age-recipient', recipient)),
    ...hostArguments(spec.host),
    ...flag('verify', spec.verify),
    ...flag('file-name', spec.fileName),
    ...flag('file-name-time-zone', spec.fileNameTimeZone),
    ...flag('object-key', spec.objectKey),
    ...flag('trigger', spec.trigger),
    ...flag('request', spec.request),
    ...flag('output', 'json'),
    ...storeFlags(spec.stores),
  ];
}

/** Returns the flags of the stores, whose files are where `storeMounts` puts them. */
export const storeFlags = (stores: readonly BackupPodStore[]): string[] =>
  stores.flatMap((store, index) => flag('store', storeArgument(store, placesOf(index))));

/** Kubernetes replaces `$(NAME)` in arguments; `$$` stands for one dollar sign. */
export const inArguments = (args: readonly string[]): string[] => args.map((each) => each.replace(/\$/g, '$$$$'));

function flag(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}

function hostArguments({ etcdManifest, etcdProcess, extraPaths, extraAgeRecipients }: Partial<BackupPodHost> = {}) {
  return [
    ...flag('etcd-manifest', etcdManifest && etcdManifestFile),
    ...(etcdProcess ? ['--etcd-process'] : []),
    ...(extraPaths ?? []).flatMap(({ path }) => flag('extra-path', path)),
    ...(extraAgeRecipients ?? []).flatMap((recipient) => flag('extra-age-recipient', recipient)),
  ];
}

/** Returns the value of `--store`. Its order does not depend on that of the fields, which an API server changes. */
export function storeArgument(store: BackupPodStore, places: StorePlaces): string {
  const { s3, oss, sftp, filesystem, command } = store;
  const retention = store.retention && retentionArgument(store.retention);
  const credentialsDirectory = places.credentials;
  if (filesystem) {
    const path = [places.directory, filesystem.directory].filter(Boolean).join('/');
    return JSON.stringify({ filesystem: { path }, retention });
  }
  if (command) {
    const { path, env, idleTimeout } = command;
    const directory = command.credentials && credentialsDirectory;
    const sorted = env && Object.fromEntries(Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1)));
    return JSON.stringify({ command: { path, env: sorted, credentialsDirectory: directory, idleTimeout }, retention });
  }
  if (sftp) {
    const { host, port, username, path, hostKey, legacyAlgorithms } = sftp;
    const server = { host, port, username, path, hostKey, legacyAlgorithms };
    return JSON.stringify({ sftp: { ...server, credentialsDirectory }, retention });
  }
  if (oss) return JSON.stringify({ oss: ossArgument(oss, places), retention });
  return JSON.stringify({ s3: s3 && s3Argument(s3, places), retention });
}

function retentionArgument(policy: BackupRetentionSpec): BackupRetentionSpec {
  const { last, within, hourly, daily, weekly, monthly, yearly, minKeep, timeZone } = policy;
  return { last, within, hourly, daily, weekly, monthly, yearly, minKeep, timeZone };
}

function s3Argument(s3: NonNullable<BackupPodStore['s3']>, places: StorePlaces): object {
  return {
    bucket: s3.bucket,
    prefix: s3.prefix,
    region: s3.region,
    endpoint: s3.endpoint,
    pathStyle: s3.pathStyle,
    caFile: s3.ca && places.caFile,
    credentialsDirectory: s3.credentials && places.credentials,
    profile: s3.profile,
    serverSideEncryption: s3.serverSideEncryption,
    kmsKeyId: s3.kmsKeyId,
    sseCustomerKeyFile: s3.sseCustomerKey && places.sseCustomerKeyFile,
  };
}

function ossArgument(oss: NonNullable<BackupPodStore['oss']>, places: StorePlaces): object {
  return {
    bucket: oss.bucket,
    prefix: oss.prefix,
    region: oss.region,
    endpoint: oss.endpoint,
    caFile: oss.ca && places.caFile,
    credentialsDirectory: places.credentials,
  };
}

/** A volume and where it is mounted. */
export interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly source: object;
  readonly readOnly?: true;
}

function accessMounts({ tls, auth }: BackupPodSpec): Mount[] {
  return [...tlsMount(tls), ...filesMount('auth', authDirectory, auth)];
}

/** The reconciler writes it. Without it, as before the first record, the agent deletes nothing. */
function recordMount(spec: BackupPodSpec): Mount[] {
  if (!keepsNamed(spec)) return [];
  const items = [{ key: keptSnapshotsKey, path: keptSnapshotsKey }];
  const configMap = { name: spec.record, items, optional: true, defaultMode: 0o440 };
  return [{ name: 'record', mountPath: recordDirectory, source: { configMap }, readOnly: true }];
}

const keepsNamed = ({ record, stores }: BackupPodSpec): boolean =>
  record !== undefined && stores.some(({ retention }) => retention);

/** A Secret may have a list of what is revoked, too. One that the reconciler still has to fill keeps the pod waiting for the other keys. */
function tlsMount(tls: BackupPodTls | undefined): Mount[] {
  const { files, trust } = tls ?? {};
  if (!files?.secretName || (!trust && !files.items)) return filesMount('tls', tlsDirectory, files);
  const name = files.secretName;
  const own = ['tls.crt', 'tls.key'].map((path) => ({ path, key: keyOf(files, path) }));
  const sources = [
    { secret: { name, items: trust ? own : files.items } },
    ...(trust ? [{ secret: { name: trust.secretName, items: [{ key: trust.key, path: 'ca.crt' }] } }] : []),
    { secret: { name, items: [{ key: 'ca.crl', path: 'ca.crl' }], optional: true } },
  ];
  return [
    { name: 'tls', mountPath: tlsDirectory, source: { projected: { sources, defaultMode: 0o440 } }, readOnly: true },
  ];
}

/** The key whose content becomes the file. */
export const keyOf = ({ items = [] }: BackupPodFiles, path: string): string =>
  items.find((item) => item.path === path)?.key ?? path;

function hostMounts({ etcdManifest, extraPaths = [] }: Partial<BackupPodHost> = {}): Mount[] {
  return [
    ...(etcdManifest ? [hostMount('etcd-manifest', etcdManifestFile, etcdManifest, 'File')] : []),
    ...extraPaths.map(({ path, type }, index) => hostMount(`extra-${index}`, path, path, type)),
  ];
}

/** With a type the kubelet waits for a missing path. Without one the container runtime creates a directory there. */
function hostMount(name: string, mountPath: string, path: string, type: 'File' | 'Directory'): Mount {
  return { name, mountPath, source: { hostPath: { path, type } }, readOnly: true };
}

/** Returns the volumes with the files of a store. */
export function storeMounts({ s3, oss, sftp, filesystem, command }: BackupPodStore, index: number): Mount[] {
  if (filesystem) {
    const { persistentVolumeClaim, nfs, hostPath } = filesystem;
    const directory = hostPath === undefined ? undefined : { path: hostPath, type: 'DirectoryOrCreate' };
    return [mount(`store-${index}`, backupDirectory(index), { persistentVolumeClaim, nfs, hostPath: directory })];
  }
  return [
    ...filesMount(
      `store-${index}-credentials`,
      credentialsDirectory(index),
      (s3 ?? oss ?? sftp ?? command)?.credentials,
    ),
    ...filesMount(`store-${index}-ca`, caDirectory(index), (s3 ?? oss)?.ca),
    ...filesMount(`store-${index}-sse-customer-key`, sseCustomerKeyDirectory(index), s3?.sseCustomerKey),
  ];
}

function mount(name: string, mountPath: string, source: object): Mount {
  return { name, mountPath, source };
}

function filesMount(name: string, mountPath: string, files: BackupPodFiles | undefined): Mount[] {
  if (!files) return [];
  const { secretName, configMapName, items, hostFiles } = files;
  if (hostFiles) {
    return hostFiles.map(({ hostPath, path }, index) =>
      hostMount(`${name}-${index}`, `${mountPath}/${path}`, hostPath, 'File'),
    );
  }
  // 0440: the files belong to root and the pod's fsGroup.
  const content = { items, defaultMode: 0o440 };
  const source = secretName
    ? { secret: { secretName, ...content } }
    : { configMap: { name: configMapName, ...content } };
  return [{ name, mountPath, source, readOnly: true }];
}
