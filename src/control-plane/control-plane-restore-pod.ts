import { dirname } from 'node:path';
import { type BackupPodStore, storeArgument } from '../lib/backup-pod';
import { restrictedContainer } from '../lib/restricted';

interface RestorePod {
  readonly cluster: string;
  /** Of the backups: this pod lies in another one. */
  readonly namespace: string;
  readonly store: BackupPodStore;
  readonly encrypted: boolean;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Paths of the node, which have the same names in the pod. */
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
 * A static Pod that restores a control plane's etcd on its node. It refers to no API object, as there is no API server:
 * everything that it needs lies in one directory of the node.
 */
export function restorePod(spec: RestorePod): object {
  const { manifestsDirectory, dataDir, restoreDirectory, store } = spec;
  const directories: HostDirectory[] = [
    // The manifests are moved out of their folder, to one beside it.
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
      // The kubelet passes this by. Applied by mistake, the pod stays Pending, as no scheduler has this name.
      schedulerName: 'static-pods-only',
      hostNetwork: true,
      // The locks of other processes, by which etcd is known to be gone, are seen by their own PID namespace alone.
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
          // The node has it; a registry may be as far away as the API server.
          imagePullPolicy: 'IfNotPresent',
          args: restoreArguments(spec).map((argument) => argument.replace(/\$/g, '$$$$')),
          // For the commands that it prints.
          env: [{ name: 'ETCD_AGENT_IMAGE', value: spec.image }],
          resources: { requests: { cpu: '100m', memory: '100Mi' } },
          securityContext: {
            ...restrictedContainer,
            runAsUser: 0,
            runAsGroup: 0,
            // The data may belong to a user of etcd's own, and go back to it.
            capabilities: { drop: ['ALL'], add: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'] },
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

/** Nothing is deleted by a restore, and no identity comes from an API server. */
function withFiles({ retention: _, ...store }: BackupPodStore): BackupPodStore {
  const { s3 } = store;
  return s3 ? { ...store, s3: { ...s3, credentials: s3.credentials ?? { secretName: '' } } } : store;
}
