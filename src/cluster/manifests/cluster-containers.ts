import { type ClusterNames, dataVolume } from '../../etcd/cluster-names';
import { ports } from '../../etcd/cluster-ports';
import { apiTokenDirectory } from '../../lib/api-token';
import { fieldVariable } from '../../lib/field-variable';
import { restrictedContainer } from '../../lib/restricted';
import { settingsFile } from './cluster-settings';

export interface MemberResources {
  readonly requests: { readonly cpu?: string; readonly memory?: string };
  readonly limits: { readonly cpu?: string; readonly memory?: string };
}

export interface ContainersSpec {
  readonly names: ClusterNames;
  readonly clusterDomain: string;
  readonly etcdImage: string;
  readonly agentImage: string;
  readonly imagePullPolicy: string;
  /** The version of `etcdImage`, such as 3.6.16. */
  readonly etcdVersion: string;
  readonly resources: MemberResources;
  readonly quotaBytes: number;
  readonly tls: boolean;
}

/** The reconciler's alone: no manifest has it. */
export const epochAnnotation = 'cdk8s-etcd.dev/epoch';

export const volumes = {
  data: dataVolume,
  scratch: 'scratch',
  settings: 'settings',
  apiToken: 'api-token',
  peerTls: 'peer-tls',
  serverTls: 'server-tls',
} as const;

const directories = {
  data: '/data',
  scratch: '/scratch',
  settings: '/etc/etcd-agent/settings',
  apiToken: apiTokenDirectory,
  peerTls: '/etc/etcd/tls/peer',
  serverTls: '/etc/etcd/tls/server',
} as const;

/** Prepares the volume and waits for leave to start; ends before etcd begins, as data is moved only while none runs. */
export function gateContainer(spec: ContainersSpec): object {
  return {
    ...agentBase(spec, 'gate', [`--scratch-dir=${directories.scratch}`]),
    // A restore runs etcdutl, which needs as much as etcd itself.
    resources: agentResources(spec.resources.limits.memory),
    volumeMounts: [...agentMounts(spec), mount('scratch')],
  };
}

/** Looks after the running member. A native sidecar: it is up before etcd, and outlives it. */
export function agentContainer(spec: ContainersSpec): object {
  const scheme = spec.tls ? 'HTTPS' : 'HTTP';
  const probe = (path: string) => ({ path, port: ports.agent, scheme });
  return {
    ...agentBase(spec, 'serve'),
    name: 'agent',
    restartPolicy: 'Always',
    ports: [port('agent')],
    resources: agentResources('128Mi'),
    readinessProbe: { httpGet: probe('/readyz'), periodSeconds: 3, timeoutSeconds: 3, failureThreshold: 2 },
    livenessProbe: { httpGet: probe('/livez'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    volumeMounts: agentMounts(spec),
  };
}

export function etcdContainer(spec: ContainersSpec): object {
  const livez = { path: '/livez', port: ports.metrics };
  return {
    name: 'etcd',
    image: spec.etcdImage,
    imagePullPolicy: spec.imagePullPolicy,
    command: ['etcd', `--config-file=${directories.data}/etcd.yaml`],
    ports: [port('client'), port('peer'), port('metrics')],
    resources: spec.resources,
    // Half an hour to replay its log.
    startupProbe: { httpGet: livez, periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 900 },
    livenessProbe: {
      httpGet: livez,
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: livenessFailures(spec.quotaBytes),
      // A hung etcd does not end by itself: the pod's own period would only be waited out.
      terminationGracePeriodSeconds: 10,
    },
    // Clients leave before etcd does.
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
    securityContext: restrictedContainer,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [mount('data'), ...tlsMounts(spec, 'peerTls', 'serverTls')],
  };
}

/** A defragmentation blocks `/livez` for as long as it takes: up to half a minute a GiB, of at most the quota. */
function livenessFailures(quotaBytes: number): number {
  return 6 + Math.ceil((quotaBytes / 2 ** 30) * 3);
}

function agentBase(spec: ContainersSpec, command: string, args: readonly string[] = []): object {
  const { names, tls } = spec;
  return {
    name: command,
    image: spec.agentImage,
    imagePullPolicy: spec.imagePullPolicy,
    args: [
      command,
      `--cluster=${names.cluster}`,
      `--data-dir=${directories.data}`,
      `--settings=${directories.settings}/${settingsFile}`,
      `--record=${names.record}`,
      `--peer-service=${names.peerService}`,
      `--cluster-domain=${spec.clusterDomain}`,
      ...(tls ? [`--peer-tls-dir=${directories.peerTls}`, `--server-tls-dir=${directories.serverTls}`] : []),
      ...args,
    ],
    env: [
      fieldVariable('POD_NAME', 'metadata.name'),
      fieldVariable('POD_UID', 'metadata.uid'),
      fieldVariable('POD_IP', 'status.podIP'),
      fieldVariable('ETCD_AGENT_NAMESPACE', 'metadata.namespace'),
      fieldVariable('MIN_EPOCH', `metadata.annotations['${epochAnnotation}']`),
      { name: 'ETCD_VERSION', value: spec.etcdVersion },
    ],
    securityContext: restrictedContainer,
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

function agentResources(memoryLimit: string | undefined): MemberResources {
  return { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: memoryLimit } };
}

function agentMounts(spec: ContainersSpec): object[] {
  return [mount('data'), mount('settings'), mount('apiToken'), ...tlsMounts(spec, 'peerTls', 'serverTls')];
}

function tlsMounts({ tls }: ContainersSpec, ...names: ('peerTls' | 'serverTls')[]): object[] {
  return tls ? names.map(mount) : [];
}

function mount(name: keyof typeof volumes): object {
  const readOnly = name === 'data' || name === 'scratch' ? undefined : true;
  return { name: volumes[name], mountPath: directories[name], readOnly };
}

function port(name: keyof typeof ports): object {
  return { name, containerPort: ports[name], protocol: 'TCP' };
}
