import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { type ClusterNames, clusterNames } from '../etcd/cluster-names';
import { type EtcdImages, etcdImages } from '../etcd/etcd-image';
import { defaultClusterDomain, defaultSize } from '../lib/defaults';
import { ImagePullPolicy } from '../lib/image-pull-policy';
import { EtcdTls, type TlsBinding } from '../tls/etcd-tls';
import { DeletionPolicy } from './deletion-policy';
import type { EtcdClusterProps } from './etcd-cluster-props';
import { EtcdResources } from './etcd-resources';
import { EtcdSpread } from './etcd-spread';
import { quotaBytes, volumeSize } from './etcd-volume';
import { clusterLabels, memberLabels, memberSelector } from './manifests/cluster-labels';
import type { ClusterPodSpec } from './manifests/cluster-pod';
import type { ReconcilerRights } from './manifests/cluster-roles';
import { settingsData, settingsHash } from './manifests/cluster-settings';
import type { ClusterStatefulSetSpec } from './manifests/cluster-stateful-set';
import { etcdSettings } from './settings/etcd-settings';
import { EtcdTuning } from './settings/etcd-tuning';

/** A cluster's properties, with their defaults, as what its objects are made of. */
export interface ClusterModel {
  readonly name: string;
  readonly names: ClusterNames;
  readonly size: number;
  readonly namespace?: string;
  readonly clusterDomain: string;
  readonly images: EtcdImages;
  readonly tls: TlsBinding;
  readonly labels: Readonly<Record<string, string>>;
  readonly volumeSize: string;
  readonly ephemeral: boolean;
  readonly finalBackup?: boolean;
  readonly settingsData: Record<string, string>;
}

export function clusterModel(cluster: Construct, props: EtcdClusterProps): ClusterModel {
  const { namespace } = Chart.of(cluster);
  const { volume = {}, quota, settings, tuning = EtcdTuning.LAN } = props;
  const name = props.name ?? cluster.node.id;
  const clusterDomain = props.clusterDomain ?? defaultClusterDomain;
  const images = etcdImages(props);
  const etcd = etcdSettings({ version: images.version, volume, quota, tuning, settings });
  return {
    name,
    names: clusterNames(name),
    size: props.size ?? defaultSize,
    namespace,
    clusterDomain,
    images,
    tls: (props.tls ?? EtcdTls.disabled())._bind({ name, namespace, clusterDomain }),
    labels: clusterLabels(name, props.labels),
    volumeSize: volumeSize(volume).asString(),
    ephemeral: volume.ephemeral ?? false,
    finalBackup: props.finalBackup ?? (props.onDelete === DeletionPolicy.DELETE ? true : undefined),
    settingsData: settingsData(etcd.settings),
  };
}

export function podSpec(model: ClusterModel, props: EtcdClusterProps): ClusterPodSpec {
  const { name, names, images, tls } = model;
  const { peerSecret, serverSecret } = tls;
  return {
    names,
    clusterDomain: model.clusterDomain,
    etcdImage: images.etcd,
    agentImage: images.agent,
    imagePullPolicy: props.imagePullPolicy ?? ImagePullPolicy.IF_NOT_PRESENT,
    imagePullSecrets: props.imagePullSecrets,
    etcdVersion: images.version.version,
    resources: (props.resources ?? EtcdResources.DEFAULT)._requirements(),
    quotaBytes: quotaBytes(props.volume ?? {}, props.quota),
    tls: peerSecret !== undefined && serverSecret !== undefined ? { peerSecret, serverSecret } : undefined,
    ephemeralSize: model.ephemeral ? model.volumeSize : undefined,
    serviceAccountName: name,
    settingsHash: settingsHash(model.settingsData),
    topologySpreadConstraints: (props.spread ?? EtcdSpread.DEFAULT)._constraints(memberSelector(name)),
    priorityClassName: props.priorityClassName,
    nodeSelector: props.nodeSelector,
    tolerations: props.tolerations,
    labels: memberLabels(name, props.labels),
    annotations: props.podAnnotations,
  };
}

/** The claim of each member, unless its data is in an emptyDir. */
export function claimSpec(model: ClusterModel, { volume }: EtcdClusterProps): ClusterStatefulSetSpec['claim'] {
  if (model.ephemeral) return undefined;
  return {
    size: model.volumeSize,
    storageClass: volume?.storageClass,
    accessMode: volume?.readWriteOncePod ? 'ReadWriteOncePod' : 'ReadWriteOnce',
  };
}

export function reconcilerRights(model: ClusterModel, props: EtcdClusterProps): ReconcilerRights {
  return {
    ephemeral: model.ephemeral,
    deletesRecord: props.onDelete === DeletionPolicy.DELETE,
    clientTlsSecret: model.tls.clientSecret,
  };
}

/** The client URL of each member, by its own Service: within the namespace when the chart does not say which one that is. */
export function clientEndpoints({ names, size, namespace, clusterDomain, tls }: ClusterModel): string[] {
  const scheme = tls.clientSecret === undefined ? 'http' : 'https';
  const domain = namespace === undefined ? '' : `.${namespace}.svc.${clusterDomain}`;
  return names.clientServices.slice(0, size).map((service) => `${scheme}://${service}${domain}:2379`);
}
