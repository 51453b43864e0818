import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { type ClusterNames, clusterNames } from '../etcd/cluster-names';
import { ports } from '../etcd/cluster-ports';
import { type EtcdImages, etcdImages } from '../etcd/etcd-image';
import { agentImage } from '../lib/agent-image';
import { defaultClusterDomain, defaultSize } from '../lib/defaults';
import { ImagePullPolicy } from '../lib/image-pull-policy';
import { NetworkAccess } from '../lib/network-access';
import { EtcdTls } from '../tls/etcd-tls';
import type { TlsBinding } from '../tls/tls-binding';
import { derivedName } from '../validation/derived-name';
import { nameOf } from '../validation/named';
import { DeletionPolicy } from './cluster-policies';
import type { EtcdClusterProps } from './etcd-cluster-props';
import { EtcdResources } from './etcd-resources';
import { EtcdSpread } from './etcd-spread';
import { type ResolvedVolume, resolveVolume } from './etcd-volume';
import { type EtcdSettings, etcdSettings } from './settings/etcd-settings';
import { EtcdTuning } from './settings/etcd-tuning';

/** Properties that always have a value after their default has been applied. */
type Defaulted = Required<
  Pick<
    EtcdClusterProps,
    | 'name'
    | 'size'
    | 'allowEvenSize'
    | 'imagePullPolicy'
    | 'resources'
    | 'tuning'
    | 'clusterDomain'
    | 'spread'
    | 'networkAccess'
    | 'metricsAccess'
    | 'labels'
    | 'podAnnotations'
    | 'paused'
    | 'requireBackupForUpgrade'
    | 'protect'
  >
>;

/** Properties that may stay undefined: Kubernetes, the CRD or the reconciler then applies its own default. */
type Undefaulted = Pick<
  EtcdClusterProps,
  | 'priorityClassName'
  | 'egress'
  | 'nodeSelector'
  | 'tolerations'
  | 'reconciler'
  | 'replace'
  | 'origin'
  | 'recovery'
  | 'onShrink'
  | 'onDelete'
  | 'finalBackup'
  | 'backupSchedule'
  | 'onNoSpace'
  | 'auth'
>;

/** An etcd cluster with every default applied. Only `resolveCluster` reads the props; all other code reads this. */
export interface ResolvedCluster extends Defaulted, Undefaulted {
  readonly names: ClusterNames;
  /** Namespace of the chart; undefined if the chart has none. */
  readonly namespace?: string;
  readonly imagePullSecrets?: string[];
  readonly images: EtcdImages;
  /** Image settings of the agents outside the member pods. An undefined setting keeps the default of their own pod. */
  readonly agentPull: AgentPull;
  /** True if `agentImage` was given: that image may contain the executables of a command store. */
  readonly hasOwnAgentImage: boolean;
  readonly volume: ResolvedVolume;
  /** etcd's complete configuration, and the problems with the `settings` that were given. */
  readonly settings: EtcdSettings;
  readonly tls: TlsBinding;
}

export interface AgentPull {
  readonly image?: string;
  readonly imagePullPolicy?: ImagePullPolicy;
  readonly imagePullSecrets?: string[];
}

/** Applies the default of every property. This is the only place where a cluster's defaults are applied. */
export function resolveCluster(cluster: Construct, props: EtcdClusterProps): ResolvedCluster {
  const { namespace } = Chart.of(cluster);
  const { imagePullPolicy } = props;
  const imagePullSecrets = props.imagePullSecrets?.map((secret) => nameOf(secret));
  const name = props.name ?? derivedName(cluster.node.id);
  const clusterDomain = props.clusterDomain ?? defaultClusterDomain;
  const images = etcdImages(props);
  const volume = resolveVolume(props.volume, props.quota);
  const tuning = props.tuning ?? EtcdTuning.LAN;
  return {
    name,
    names: clusterNames(name),
    namespace,
    clusterDomain,
    size: props.size ?? defaultSize,
    allowEvenSize: props.allowEvenSize ?? false,
    images,
    imagePullPolicy: imagePullPolicy ?? ImagePullPolicy.IF_NOT_PRESENT,
    imagePullSecrets,
    agentPull: {
      image: images.agent === agentImage ? undefined : images.agent,
      imagePullPolicy,
      imagePullSecrets,
    },
    hasOwnAgentImage: props.agentImage !== undefined,
    volume,
    resources: props.resources ?? EtcdResources.DEFAULT,
    tuning,
    settings: etcdSettings({
      version: images.version,
      quotaBytes: volume.quotaBytes,
      tuning,
      settings: props.settings ?? {},
    }),
    tls: (props.tls ?? EtcdTls.managed())._bind({ name, namespace, clusterDomain }),
    auth: props.auth,
    spread: props.spread ?? EtcdSpread.DEFAULT,
    networkAccess: props.networkAccess ?? NetworkAccess.sameNamespace(),
    metricsAccess: props.metricsAccess ?? NetworkAccess.nobody(),
    egress: props.egress,
    priorityClassName: props.priorityClassName,
    nodeSelector: props.nodeSelector,
    tolerations: props.tolerations,
    labels: props.labels ?? {},
    podAnnotations: props.podAnnotations ?? {},
    reconciler: props.reconciler,
    paused: props.paused ?? false,
    replace: props.replace,
    origin: props.origin,
    recovery: props.recovery,
    onShrink: props.onShrink,
    onDelete: props.onDelete,
    finalBackup: props.finalBackup ?? (props.onDelete === DeletionPolicy.DELETE ? true : undefined),
    backupSchedule: props.backupSchedule,
    requireBackupForUpgrade: props.requireBackupForUpgrade ?? false,
    onNoSpace: props.onNoSpace,
    protect: props.protect ?? !volume.ephemeral,
  };
}

/**
 * Returns the client URL of each member, with the name of its own Service. Without a namespace in the chart the names
 * are valid only within the cluster's namespace.
 */
export function clientEndpoints(cluster: ResolvedCluster): string[] {
  return endpoints(cluster, clientSecret(cluster), ports.client);
}

/** Returns the name of the Secret with a certificate for clients. Undefined if they use http, or are to move to it. */
export function clientSecret({ tls }: ResolvedCluster): string | undefined {
  return tls.disabling ? undefined : tls.secrets?.client;
}

/**
 * Returns the URL of each member for backups. With a certificate for backups that is the agent's port, which etcd's
 * authentication does not close. While TLS is switched off, backups use their certificate as long as the members have
 * theirs.
 */
export function backupEndpoints(cluster: ResolvedCluster): string[] {
  const { backup, client } = cluster.tls.secrets ?? {};
  return endpoints(cluster, backup ?? client, backup === undefined ? ports.client : ports.backup);
}

function endpoints(
  { names, size, namespace, clusterDomain }: ResolvedCluster,
  secret: string | undefined,
  port: number,
): string[] {
  const scheme = secret === undefined ? 'http' : 'https';
  const domain = namespace === undefined ? '' : `.${namespace}.svc.${clusterDomain}`;
  return names.clientServices.slice(0, size).map((service) => `${scheme}://${service}${domain}:${port}`);
}
