// The pod of a backup as plain data, from plain data. No imports: the constructs use it at synth, and whoever else
// starts backups may use it at run time.

/** Files from a Secret or a ConfigMap: the keys in `items`, or all. Or files of the machine. */
export interface BackupPodFiles {
  readonly secretName?: string;
  readonly configMapName?: string;
  readonly hostFiles?: readonly { readonly hostPath: string; readonly path: string }[];
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

/** What no ConfigMap may hold. */
export interface BackupPodSecret extends BackupPodFiles {
  readonly secretName: string;
}

export interface BackupPodTls {
  /** `ca.crt`, and `tls.crt` with `tls.key` when there is a client certificate. */
  readonly files: BackupPodFiles;
  readonly clientCertificate: boolean;
}

export interface BackupPodStore {
  readonly s3?: {
    readonly bucket: string;
    readonly prefix?: string;
    readonly region?: string;
    readonly endpoint?: string;
    readonly pathStyle?: boolean;
    readonly profile?: string;
    readonly serverSideEncryption?: string;
    readonly kmsKeyId?: string;
    /** `key`. */
    readonly sseCustomerKey?: BackupPodSecret;
    /** `ca.crt`. */
    readonly ca?: BackupPodFiles;
    /** None means the AWS default chain: workload identity. */
    readonly credentials?: BackupPodSecret;
  };
  readonly oss?: {
    readonly bucket: string;
    readonly prefix?: string;
    readonly region?: string;
    readonly endpoint?: string;
    /** `ca.crt`. */
    readonly ca?: BackupPodFiles;
    readonly credentials: BackupPodSecret;
  };
  readonly sftp?: {
    readonly host: string;
    readonly port?: number;
    readonly username?: string;
    readonly path?: string;
    readonly hostKey?: string;
    readonly legacyAlgorithms?: boolean;
    readonly credentials: BackupPodSecret;
  };
  readonly filesystem?: {
    readonly persistentVolumeClaim?: { readonly claimName: string };
    readonly nfs?: { readonly server: string; readonly path: string };
    /** Only where `host` is given. */
    readonly hostPath?: string;
    readonly directory?: string;
  };
  /** Needs an image with these executables in it. */
  readonly command?: {
    readonly path: string;
    readonly env?: Readonly<Record<string, string>>;
    /** A duration as the agent reads it. */
    readonly idleTimeout?: string;
    readonly credentials?: BackupPodSecret;
  };
  /** None means that nothing is ever deleted. */
  readonly retention?: Readonly<Record<string, number | string>>;
}

/** A pod that runs beside etcd, on the same machine. */
export interface BackupPodHost {
  /** Labels of the nodes, of which one is enough. */
  readonly nodeLabels: readonly string[];
  /** Of etcd's static pod. */
  readonly etcdManifest?: string;
  /** etcd is a service of the machine: the pod has to see its process. */
  readonly etcdProcess?: boolean;
  /** What is stored beside the snapshot. */
  readonly extraPaths?: readonly { readonly path: string; readonly type: 'File' | 'Directory' }[];
  readonly extraAgeRecipients?: readonly string[];
}

export interface BackupPodSpec {
  readonly cluster: string;
  readonly endpoints: readonly string[];
  readonly tls?: BackupPodTls;
  /** `username` and `password`. */
  readonly auth?: BackupPodSecret;
  readonly stores: readonly BackupPodStore[];
  readonly host?: BackupPodHost;
  readonly trigger: string;
  /** Whose backup it is: one that is stored already is not taken again. */
  readonly request?: string;
  /** Exactly this object in each store, out of retention's reach. */
  readonly objectKey?: string;
  readonly compression?: string;
  /** None means that it is not encrypted. */
  readonly ageRecipients?: readonly string[];
  readonly verify?: string;
  /** A strftime pattern. */
  readonly fileName?: string;
  readonly fileNameTimeZone?: string;
  /** Durations as the agent reads them: `5s`, `10m`. */
  readonly dialTimeout?: string;
  readonly timeout?: string;
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly serviceAccountName: string;
  readonly resources: Readonly<Record<'requests' | 'limits', { readonly cpu: string; readonly memory: string }>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly priorityClassName?: string;
}

export interface BackupJobSpec extends BackupPodSpec {
  readonly backoffLimit: number;
  readonly activeDeadlineSeconds: number;
}

const containerName = 'backup';
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

/** Where the agent finds what a store needs. */
export interface StorePlaces {
  /** Of a filesystem store. */
  readonly directory: string;
  /** A directory. */
  readonly credentials: string;
  readonly caFile: string;
  readonly sseCustomerKeyFile: string;
}

/** The JobSpec of a backup. */
export function backupJob(spec: BackupJobSpec): object {
  return {
    backoffLimit: spec.backoffLimit,
    activeDeadlineSeconds: spec.activeDeadlineSeconds,
    podFailurePolicy: {
      rules: [
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        // SIGTERM: the node was drained, the backup did not fail.
        onExitCodes('Ignore', [143]),
        // Trying again does not help: configuration, some stores failed, suspect source, store refused, verification
        // failed, refused by a safety rule.
        onExitCodes('FailJob', [2, 3, 11, 21, 30, 40]),
      ],
    },
    template: backupPod(spec),
  };
}

function onExitCodes(action: string, values: number[]): object {
  return { action, onExitCodes: { containerName, operator: 'In', values } };
}

/**
 * The PodTemplateSpec of a backup. It holds to the restricted Pod Security Standard, unless a store is an NFS export, or it
 * runs on etcd's own machine.
 */
export function backupPod(spec: BackupPodSpec): object {
  const mounts = [
    ...accessMounts(spec),
    ...hostMounts(spec.host),
    ...spec.stores.flatMap(storeMounts),
    mount('tmp', '/tmp', { emptyDir: {} }),
  ];
  return {
    metadata: { labels: spec.labels },
    spec: {
      restartPolicy: 'Never',
      // The agent needs up to 20 seconds to abort an upload and remove its parts.
      terminationGracePeriodSeconds: 60,
      serviceAccountName: spec.serviceAccountName,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      imagePullSecrets: spec.imagePullSecrets,
      nodeSelector: spec.nodeSelector,
      tolerations: spec.tolerations,
      priorityClassName: spec.priorityClassName,
      ...(spec.host && hostPlacement(spec.host)),
      securityContext: {
        // etcd's keys on its own machine belong to root; without capabilities root may read no file of others.
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

/** Nodes with one of these labels. */
export function nodeAffinity(nodeLabels: readonly string[]): object {
  const nodeSelectorTerms = nodeLabels.map((key) => ({ matchExpressions: [{ key, operator: 'Exists' }] }));
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}

function hostPlacement({ nodeLabels, etcdProcess }: BackupPodHost): object {
  return {
    hostNetwork: true,
    hostPID: etcdProcess || undefined,
    // The node's own: what a backup reaches by it, a restore reaches too, when the cluster's DNS is gone.
    dnsPolicy: 'Default',
    affinity: nodeAffinity(nodeLabels),
  };
}

function backupContainer(spec: BackupPodSpec, mounts: readonly Mount[]): object {
  return {
    name: containerName,
    image: spec.image,
    imagePullPolicy: spec.imagePullPolicy,
    // Kubernetes replaces `$(NAME)` in arguments; `$$` is a plain dollar.
    args: backupArguments(spec).map((argument) => argument.replace(/\$/g, '$$$$')),
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
    ],
    resources: spec.resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    // The agent writes its result there itself; one that was killed leaves only its log.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: mounts.map(({ name, mountPath, readOnly }) => ({ name, mountPath, readOnly })),
  };
}

/** The agent's argument list. What is not set is left to the agent's defaults. */
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
    ...spec.stores.flatMap((store, index) => flag('store', storeArgument(store, placesOf(index)))),
  ];
}

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

/** The value of `--store`. */
export function storeArgument(store: BackupPodStore, places: StorePlaces): string {
  const { s3, oss, sftp, filesystem, command, retention } = store;
  const credentialsDirectory = places.credentials;
  if (filesystem) {
    const path = [places.directory, filesystem.directory].filter(Boolean).join('/');
    return JSON.stringify({ filesystem: { path }, retention });
  }
  if (command) {
    const { path, env, idleTimeout } = command;
    const directory = command.credentials && credentialsDirectory;
    return JSON.stringify({ command: { path, env, credentialsDirectory: directory, idleTimeout }, retention });
  }
  if (sftp) {
    const { credentials: _, ...server } = sftp;
    return JSON.stringify({ sftp: { ...server, credentialsDirectory }, retention });
  }
  if (oss) return JSON.stringify({ oss: ossArgument(oss, places), retention });
  return JSON.stringify({ s3: s3 && s3Argument(s3, places), retention });
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

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly source: object;
  readonly readOnly?: true;
}

function accessMounts({ tls, auth }: BackupPodSpec): Mount[] {
  return [...filesMount('tls', tlsDirectory, tls?.files), ...filesMount('auth', authDirectory, auth)];
}

function hostMounts({ etcdManifest, extraPaths = [] }: Partial<BackupPodHost> = {}): Mount[] {
  return [
    ...(etcdManifest ? [hostMount('etcd-manifest', etcdManifestFile, etcdManifest, 'File')] : []),
    ...extraPaths.map(({ path, type }, index) => hostMount(`extra-${index}`, path, path, type)),
  ];
}

/** The kubelet waits for what is not there; without a type the container runtime would make a directory of it. */
function hostMount(name: string, mountPath: string, path: string, type: 'File' | 'Directory'): Mount {
  return { name, mountPath, source: { hostPath: { path, type } }, readOnly: true };
}

function storeMounts({ s3, oss, sftp, filesystem, command }: BackupPodStore, index: number): Mount[] {
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
