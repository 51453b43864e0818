import { epochAnnotation } from '../../etcd/annotations';
import { dataVolume } from '../../etcd/cluster-names';
import { ports } from '../../etcd/cluster-ports';
import { apiTokenDirectory } from '../../lib/api-token';
import { completeResources } from '../../lib/backup-pod';
import { fieldVariable, restrictedContainer } from '../../lib/pod-parts';
import { defaults } from '../../resource/defaults';
import type { ResourceAmounts, ResourcesSpec } from '../../resource/types';
import { backupUser } from '../../tls/tls-names';
import { memberResources } from '../etcd-resources';
import type { ResolvedCluster } from '../resolved-cluster';
import { settingsFile } from './cluster-settings';

export const volumes = {
  data: dataVolume,
  scratch: 'scratch',
  settings: 'settings',
  apiToken: 'api-token',
  peerTls: 'peer-tls',
  serverTls: 'server-tls',
  rootTls: 'root-tls',
} as const;

const directories = {
  data: '/data',
  scratch: '/scratch',
  settings: '/etc/etcd-agent/settings',
  apiToken: apiTokenDirectory,
  peerTls: '/etc/etcd/tls/peer',
  serverTls: '/etc/etcd/tls/server',
  rootTls: '/etc/etcd/tls/root',
} as const;

/**
 * Prepares the volume and waits for the permit to start. It ends before etcd starts: data may only be moved before
 * that.
 */
export function gateContainer(cluster: ResolvedCluster): object {
  return {
    ...agentBase(cluster, 'gate', [`--scratch-dir=${directories.scratch}`]),
    image: cluster.images.gate,
    resources: gateResources(cluster),
    volumeMounts: [...agentMounts(cluster), mount('scratch')],
  };
}

/** Serves the running member. It is a native sidecar: it starts before etcd and ends after it. */
export function agentContainer(cluster: ResolvedCluster): object {
  const { name, tls } = cluster;
  const scheme = tls.secrets ? 'HTTPS' : 'HTTP';
  // It passes what a backup needs on to etcd, with root's certificate: etcd gives a snapshot to root alone.
  const forBackups = tls.secrets?.root !== undefined;
  const probe = (path: string) => ({ path, port: ports.agent, scheme });
  return {
    ...agentBase(cluster, 'serve', forBackups ? backupFlags(name) : []),
    name: 'agent',
    restartPolicy: 'Always',
    ports: [port('agent'), ...(forBackups ? [port('backup')] : [])],
    resources: agentResources(cluster.containers?.agent?.resources),
    readinessProbe: { httpGet: probe('/readyz'), periodSeconds: 3, timeoutSeconds: 3, failureThreshold: 2 },
    livenessProbe: { httpGet: probe('/livez'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    volumeMounts: [...agentMounts(cluster), ...(forBackups ? [mount('rootTls')] : [])],
  };
}

function backupFlags(cluster: string): string[] {
  return [
    `--root-tls-dir=${directories.rootTls}`,
    `--backup-listen=0.0.0.0:${ports.backup}`,
    `--backup-user=${backupUser(cluster)}`,
  ];
}

export function etcdContainer(cluster: ResolvedCluster): object {
  const livez = { path: '/livez', port: ports.metrics };
  return {
    name: 'etcd',
    image: cluster.images.etcd,
    imagePullPolicy: cluster.imagePullPolicy,
    command: ['etcd', `--config-file=${directories.data}/etcd.yaml`],
    ports: [port('client'), port('peer'), port('metrics')],
    resources: memberResources(cluster.resources),
    // etcd may need up to half an hour to replay its log.
    startupProbe: { httpGet: livez, periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 900 },
    livenessProbe: {
      httpGet: livez,
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: livenessFailures(cluster.volume.quotaBytes),
      // A hung etcd does not react to SIGTERM, so a longer grace period would only delay its restart.
      terminationGracePeriodSeconds: 10,
    },
    // Gives clients time to leave before etcd stops.
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
    securityContext: restrictedContainer,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [mount('data'), ...tlsMounts(cluster, 'peerTls', 'serverTls')],
  };
}

/** A defragmentation blocks `/livez` until it ends. It takes up to half a minute per GiB, for at most the quota. */
function livenessFailures(quotaBytes: number): number {
  return 6 + Math.ceil((quotaBytes / 2 ** 30) * 3);
}

function agentBase(cluster: ResolvedCluster, command: string, args: readonly string[] = []): object {
  const { names, images } = cluster;
  return {
    name: command,
    image: images.agent,
    imagePullPolicy: cluster.imagePullPolicy,
    args: [
      command,
      `--cluster=${names.cluster}`,
      `--data-dir=${directories.data}`,
      `--settings=${directories.settings}/${settingsFile}`,
      `--record=${names.record}`,
      `--peer-service=${names.peerService}`,
      `--cluster-domain=${cluster.clusterDomain}`,
      ...(cluster.tls.secrets
        ? [`--peer-tls-dir=${directories.peerTls}`, `--server-tls-dir=${directories.serverTls}`]
        : []),
      ...args,
    ],
    env: [
      fieldVariable('POD_NAME', 'metadata.name'),
      fieldVariable('POD_UID', 'metadata.uid'),
      fieldVariable('POD_IP', 'status.podIP'),
      fieldVariable('ETCD_AGENT_NAMESPACE', 'metadata.namespace'),
      fieldVariable('MIN_EPOCH', `metadata.annotations['${epochAnnotation}']`),
      { name: 'ETCD_VERSION', value: images.version.version },
    ],
    securityContext: restrictedContainer,
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

const agentDefaults = defaults.AgentContainerSpec.resources;
const agentResources = (given: ResourcesSpec = {}, limits: ResourceAmounts = agentDefaults.limits) =>
  completeResources(given, { ...agentDefaults, limits });

/** A restore runs etcdutl, which needs as much memory as etcd itself. */
export const gateResources = ({ containers, resources }: Pick<ResolvedCluster, 'containers' | 'resources'>) =>
  agentResources(containers?.gate?.resources, { memory: memberResources(resources).limits.memory });

function agentMounts(cluster: ResolvedCluster): object[] {
  return [mount('data'), mount('settings'), mount('apiToken'), ...tlsMounts(cluster, 'peerTls', 'serverTls')];
}

function tlsMounts({ tls }: ResolvedCluster, ...names: ('peerTls' | 'serverTls')[]): object[] {
  return tls.secrets ? names.map(mount) : [];
}

function mount(name: keyof typeof volumes): object {
  const readOnly = name === 'data' || name === 'scratch' ? undefined : true;
  return { name: volumes[name], mountPath: directories[name], readOnly };
}

function port(name: keyof typeof ports): object {
  return { name, containerPort: ports[name], protocol: 'TCP' };
}
