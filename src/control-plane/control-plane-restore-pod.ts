import { dirname } from 'node:path';
import { type BackupPodStore, storeArgument } from '../lib/backup-pod';
import { restrictedContainer } from '../lib/pod-parts';

interface RestorePod {
  readonly cluster: string;
  /** Namespace of the backups. The pod itself is in `kube-system`. */
  readonly namespace: string;
  readonly store: BackupPodStore;
  readonly encrypted: boolean;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Paths on the node; the pod uses the same paths. */
  readonly manifestsDirectory: string;
  readonly dataDir: string;
  readonly restoreDirectory: string;
}

interface HostDirectory {
  readonly name: string;
  readonly path: string;
  readonly type: 'Directory' | 'DirectoryOrCreate';
  readonly readOnly?: true;
}

/**
 * Returns a static Pod that restores a control plane's etcd on its node. It refers to no API objects, because there is
 * no API server: all files that it needs are in one directory on the node.
 */
export function restorePod(spec: RestorePod): object {
  const { manifestsDirectory, dataDir, restoreDirectory, store } = spec;
  const directories: HostDirectory[] = [
    // The restore moves the manifests to a directory beside their own, so it needs the parent directory.
    { name: 'kubernetes', path: dirname(manifestsDirectory), type: 'Directory' },
    { name: 'data', path: dataDir, type: 'DirectoryOrCreate' },
    { name: 'restore', path: restoreDirectory, type: 'Directory', readOnly: true },
    ...(store.filesystem?.hostPath ? [storeDirectory(store.filesystem.hostPath)] : []),
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'etcd-restore', namespace: 'kube-system', labels: spec.labels },
    spec: {
      // The kubelet ignores this name. If the pod is applied by mistake, it stays Pending: no scheduler has the name.
      schedulerName: 'static-pods-only',
      hostNetwork: true,
      // The restore checks by file locks that etcd has stopped, and locks are visible only within one PID namespace.
      hostPID: true,
      dnsPolicy: 'Default',
      priorityClassName: 'system-node-critical',
      restartPolicy: 'OnFailure',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 60,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'restore',
          image: spec.image,
          // The node already has the image; a registry may be as unreachable as the API server.
          imagePullPolicy: 'IfNotPresent',
          args: restoreArguments(spec).map((argument) => argument.replace(/\$/g, '$$$$')),
          // For the commands that the restore prints.
          env: [{ name: 'ETCD_AGENT_IMAGE', value: spec.image }],
          resources: { requests: { cpu: '100m', memory: '100Mi' } },
          securityContext: {
            ...restrictedContainer,
            runAsUser: 0,
            runAsGroup: 0,
            // The data may belong to a dedicated etcd user, and its ownership is restored. Only with SYS_PTRACE is it known
            // which directory a running etcd has: one in a pod may have another under the same path. KILL ends an etcd of another
            // user that the kubelet does not stop.
            capabilities: { drop: ['ALL'], add: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SYS_PTRACE'] },
          },
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: [
            ...directories.map(({ name, path, readOnly }) => ({ name, mountPath: path, readOnly })),
            { name: 'tmp', mountPath: '/tmp' },
          ],
        },
      ],
      volumes: [
        ...directories.map(({ name, path, type }) => ({ name, hostPath: { path, type } })),
        { name: 'tmp', emptyDir: {} },
      ],
    },
  };
}

const storeDirectory = (path: string): HostDirectory => ({ name: 'store', path, type: 'Directory' });

function restoreArguments({
  cluster,
  namespace,
  store,
  encrypted,
  manifestsDirectory,
  restoreDirectory,
}: RestorePod): string[] {
  const places = {
    directory: store.filesystem?.hostPath ?? '',
    credentials: `${restoreDirectory}/credentials`,
    caFile: `${restoreDirectory}/ca.crt`,
    sseCustomerKeyFile: `${restoreDirectory}/sse-customer-key`,
  };
  return [
    'restore',
    'control-plane',
    `--manifests-dir=${manifestsDirectory}`,
    `--cluster=${cluster}`,
    `--namespace=${namespace}`,
    `--store=${storeArgument(withFiles(store), places)}`,
    ...(encrypted ? [`--age-identity-file=${restoreDirectory}/age`] : []),
    `--config=${restoreDirectory}/restore.yaml`,
    '--output=json',
  ];
}

/** Removes retention, because a restore deletes nothing, and workload identity, which needs an API server. */
function withFiles({ retention: _, ...store }: BackupPodStore): BackupPodStore {
  const { s3 } = store;
  return s3 ? { ...store, s3: { ...s3, credentials: s3.credentials ?? { secretName: '' } } } : store;
}
