import { type ClusterNames, clusterNames } from '../etcd/cluster-names';
import { ports } from '../etcd/cluster-ports';
import { type EtcdImages, etcdImages } from '../etcd/etcd-image';
import { EtcdVersion } from '../etcd/etcd-version';
import { agentImage } from '../lib/agent-image';
import { defaults } from '../resource/defaults';
import type { EtcdClusterSpec, NetworkAccessSpec } from '../resource/types';
import { readTls, type TlsBinding } from '../tls/tls-binding';
import { type ResolvedVolume, resolveVolume } from './etcd-volume';
import { type EtcdSettings, etcdSettings } from './settings/etcd-settings';

/** The EtcdCluster resource, before the API server has filled in its defaults or after that. */
export interface ClusterResource {
  readonly metadata: {
    readonly name: string;
    /** Undefined: whoever applies the objects chooses it. */
    readonly namespace?: string;
  };
  readonly spec: EtcdClusterSpec;
  /** What the annotation of its manifests says. Default: what follows from the spec, if that is complete. */
  readonly madeFrom?: string;
}

/** Fields that always have a value after their default has been applied. */
type Defaulted = Required<
  Pick<
    EtcdClusterSpec,
    'size' | 'imagePullPolicy' | 'clusterDomain' | 'labels' | 'podAnnotations' | 'protect' | 'serviceAccountName'
  >
>;

/** What the objects of an EtcdCluster are made of: its resource with every default applied. */
export interface ResolvedCluster
  extends Omit<EtcdClusterSpec, keyof Defaulted | 'tls' | 'settings' | 'networkAccess' | 'metricsAccess'>,
    Defaulted {
  readonly name: string;
  readonly names: ClusterNames;
  readonly namespace?: string;
  readonly images: EtcdImages;
  /** The pull policy of the resource, without the default of the members' pods. */
  readonly givenPullPolicy: EtcdClusterSpec['imagePullPolicy'];
  readonly volume: ResolvedVolume;
  /** False: the ServiceAccount of the members exists already. */
  readonly hasOwnAccount: boolean;
  /** etcd's complete configuration, and the problems with the `settings` that were given. */
  readonly settings: EtcdSettings;
  readonly tls: TlsBinding;
  readonly networkAccess: NetworkAccessSpec;
  readonly metricsAccess: NetworkAccessSpec;
  /** ServiceAccount of the reconciler. */
  readonly reconcilerAccount: string;
  readonly reconcilerName: string;
}

const usual = defaults.EtcdClusterSpec;

/** Applies the defaults of a cluster. This is the only place where that is done for its objects. */
export function resolveCluster({ metadata: { name, namespace }, spec }: ClusterResource): ResolvedCluster {
  const { serviceAccountName: reconcilerAccount = usual.reconciler.serviceAccountName } = spec.reconciler ?? {};
  const { clusterDomain = usual.clusterDomain, registry, agentImage, image } = spec;
  const images = etcdImages({ version: EtcdVersion.of(spec.version), image, registry, agentImage });
  const volume = resolveVolume(spec.storage, spec.quota);
  return {
    ...spec,
    ...{ name, namespace, clusterDomain, images, volume },
    names: clusterNames(name),
    size: spec.size ?? usual.size,
    givenPullPolicy: spec.imagePullPolicy,
    hasOwnAccount: spec.serviceAccountName === undefined,
    imagePullPolicy: spec.imagePullPolicy ?? usual.imagePullPolicy,
    settings: etcdSettings({
      version: images.version,
      quotaBytes: volume.quotaBytes,
      tuning: spec.tuning,
      settings: (spec.settings ?? {}) as { readonly [key: string]: unknown },
    }),
    tls: readTls(spec.tls, { name, namespace, clusterDomain }),
    networkAccess: spec.networkAccess ?? usual.networkAccess,
    metricsAccess: spec.metricsAccess ?? usual.metricsAccess,
    labels: spec.labels ?? {},
    podAnnotations: spec.podAnnotations ?? {},
    protect: spec.protect ?? !volume.ephemeral,
    reconcilerAccount,
    reconcilerName: spec.reconciler?.name ?? reconcilerAccount,
    serviceAccountName: spec.serviceAccountName ?? name,
  };
}

/** How the agents outside of the pods of members get their image. What is undefined has the default of their own pod. */
export interface AgentPull extends Pick<EtcdClusterSpec, 'image' | 'imagePullPolicy' | 'imagePullSecrets'> {}

export const agentPull = ({ images, imagePullSecrets, givenPullPolicy }: ResolvedCluster): AgentPull => ({
  image: images.agent === agentImage ? undefined : images.agent,
  imagePullPolicy: givenPullPolicy,
  imagePullSecrets,
});

/** The same for a schedule. A mirror has only the agent's own image, which is not enough for executables of the user. */
export const schedulePull = (cluster: ResolvedCluster, needsOwnImage: boolean): AgentPull => ({
  ...agentPull(cluster),
  ...(needsOwnImage && cluster.agentImage === undefined && { image: undefined }),
});

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
