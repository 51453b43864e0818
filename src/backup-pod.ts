// The pod of a backup as plain data, from plain data. No imports: the constructs use it at synth, and whoever else
// starts backups may use it at run time.

/** Files from a Secret or a ConfigMap: the keys in `items`, or all. */
export interface BackupPodFiles {
  readonly secretName?: string;
  readonly configMapName?: string;
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

export interface BackupPodSpec {
  readonly cluster: string;
  readonly endpoints: readonly string[];
  readonly tls?: BackupPodTls;
  /** `username` and `password`. */
  readonly auth?: BackupPodSecret;
  readonly stores: readonly BackupPodStore[];
  readonly trigger: string;
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
const authDirectory = '/etc/etcd-agent/auth';
const credentialsDirectory = (index: number) => `/etc/etcd-agent/stores/${index}/credentials`;
const caDirectory = (index: number) => `/etc/etcd-agent/stores/${index}/ca`;
const sseCustomerKeyDirectory = (index: number) => `/etc/etcd-agent/stores/${index}/sse-customer-key`;
const backupDirectory = (index: number) => `/backup/${index}`;

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

/** The PodTemplateSpec of a backup. It holds to the restricted Pod Security Standard, unless a store is an NFS export. */
export function backupPod(spec: BackupPodSpec): object {
  const mounts = [...accessMounts(spec), ...spec.stores.flatMap(storeMounts), mount('tmp', '/tmp', { emptyDir: {} })];
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
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        runAsGroup: 65532,
        fsGroup: 65532,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [backupContainer(spec, mounts)],
      volumes: mounts.map(({ name, source }) => ({ name, ...source })),
    },
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
    ...flag('verify', spec.verify),
    ...flag('file-name', spec.fileName),
    ...flag('file-name-time-zone', spec.fileNameTimeZone),
    ...flag('trigger', spec.trigger),
    ...flag('output', 'json'),
    ...spec.stores.flatMap((store, index) => flag('store', storeArgument(store, index))),
  ];
}

function flag(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}

function storeArgument({ s3, oss, sftp, filesystem, command, retention }: BackupPodStore, index: number): string {
  if (filesystem) {
    const path = [backupDirectory(index), filesystem.directory].filter(Boolean).join('/');
    return JSON.stringify({ filesystem: { path }, retention });
  }
  if (command) {
    const { path, env, idleTimeout } = command;
    const directory = command.credentials && credentialsDirectory(index);
    return JSON.stringify({ command: { path, env, credentialsDirectory: directory, idleTimeout }, retention });
  }
  if (sftp) return JSON.stringify({ sftp: sftpArgument(sftp, index), retention });
  if (oss) return JSON.stringify({ oss: ossArgument(oss, index), retention });
  return JSON.stringify({
    s3: s3 && {
      bucket: s3.bucket,
      prefix: s3.prefix,
      region: s3.region,
      endpoint: s3.endpoint,
      pathStyle: s3.pathStyle,
      caFile: s3.ca && `${caDirectory(index)}/ca.crt`,
      credentialsDirectory: s3.credentials && credentialsDirectory(index),
      profile: s3.profile,
      serverSideEncryption: s3.serverSideEncryption,
      kmsKeyId: s3.kmsKeyId,
      sseCustomerKeyFile: s3.sseCustomerKey && `${sseCustomerKeyDirectory(index)}/key`,
    },
    retention,
  });
}

function ossArgument(oss: NonNullable<BackupPodStore['oss']>, index: number): object {
  return {
    bucket: oss.bucket,
    prefix: oss.prefix,
    region: oss.region,
    endpoint: oss.endpoint,
    caFile: oss.ca && `${caDirectory(index)}/ca.crt`,
    credentialsDirectory: credentialsDirectory(index),
  };
}

function sftpArgument({ credentials: _, ...sftp }: NonNullable<BackupPodStore['sftp']>, index: number): object {
  return { ...sftp, credentialsDirectory: credentialsDirectory(index) };
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

function storeMounts({ s3, oss, sftp, filesystem, command }: BackupPodStore, index: number): Mount[] {
  if (filesystem) {
    const { persistentVolumeClaim, nfs } = filesystem;
    return [mount(`store-${index}`, backupDirectory(index), { persistentVolumeClaim, nfs })];
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
  const { secretName, configMapName, items } = files;
  // 0440: the files belong to root and the pod's fsGroup.
  const content = { items, defaultMode: 0o440 };
  const source = secretName
    ? { secret: { secretName, ...content } }
    : { configMap: { name: configMapName, ...content } };
  return [{ name, mountPath, source, readOnly: true }];
}
