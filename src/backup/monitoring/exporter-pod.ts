import { ports } from '../../etcd/cluster-ports';
import {
  type BackupPodSpec,
  type BackupPodStore,
  identityAndPlace,
  inArguments,
  type Mount,
  nodeAffinity,
  storeFlags,
  storeMounts,
} from '../../lib/backup-pod';
import { fieldVariable, restrictedContainer, restrictedPod } from '../../lib/pod-parts';

/** The pod of a schedule, of which the exporter uses what leads to the stores. */
export type ExporterPodSpec = Pick<
  BackupPodSpec,
  | 'cluster'
  | 'stores'
  | 'host'
  | 'image'
  | 'imagePullPolicy'
  | 'imagePullSecrets'
  | 'serviceAccountName'
  | 'resources'
  | 'labels'
  | 'nodeSelector'
  | 'tolerations'
  | 'priorityClassName'
>;

/** Returns the stores that a pod on any node can read. */
export const exportedStores = (stores: readonly BackupPodStore[]): BackupPodStore[] =>
  stores
    .filter(({ filesystem }) => filesystem?.hostPath === undefined)
    // It deletes nothing, and need not restart if that changes.
    .map((store) => ({ ...store, retention: undefined }));

/**
 * Returns the PodTemplateSpec of an exporter, which reads the stores of a schedule. It has no access to etcd. It meets the
 * restricted Pod Security Standard, unless root has written a volume or a store is an NFS export.
 */
export function exporterPod(spec: ExporterPodSpec): object {
  const { host } = spec;
  const stores = exportedStores(spec.stores);
  const mounts: Mount[] = [
    ...stores.flatMap(storeMounts).map((mount) => ({ ...mount, readOnly: true as const })),
    { name: 'tmp', mountPath: '/tmp', source: { emptyDir: {} } },
  ];
  const asRoot = host !== undefined && stores.some(({ filesystem }) => filesystem);
  return {
    metadata: { labels: spec.labels },
    spec: {
      ...identityAndPlace(spec),
      // The stores have the names that they have for the backups.
      ...(host && { dnsPolicy: 'Default', affinity: nodeAffinity(host.nodeLabels) }),
      securityContext: asRoot
        ? { ...restrictedPod, runAsNonRoot: undefined, runAsUser: 0, runAsGroup: 0 }
        : restrictedPod,
      containers: [container(spec, stores, mounts)],
      volumes: mounts.map(({ name, source }) => ({ name, ...source })),
    },
  };
}

function container(
  { cluster, image, imagePullPolicy, resources }: ExporterPodSpec,
  stores: readonly BackupPodStore[],
  mounts: readonly Mount[],
): object {
  const probe = (path: string) => ({ httpGet: { path, port: ports.agent }, periodSeconds: 10, timeoutSeconds: 5 });
  return {
    name: 'exporter',
    image,
    imagePullPolicy,
    args: inArguments(['exporter', `--cluster=${cluster}`, ...storeFlags(stores)]),
    env: [fieldVariable('ETCD_AGENT_NAMESPACE', 'metadata.namespace')],
    ports: [{ name: 'http', containerPort: ports.agent, protocol: 'TCP' }],
    startupProbe: { ...probe('/livez'), periodSeconds: 2, failureThreshold: 60 },
    livenessProbe: { ...probe('/livez'), failureThreshold: 6 },
    readinessProbe: { ...probe('/readyz'), failureThreshold: 3 },
    resources,
    securityContext: restrictedContainer,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: mounts.map(({ name, mountPath, readOnly }) => ({ name, mountPath, readOnly })),
  };
}
