import { dataVolume } from '../../etcd/cluster-names';
import { apiTokenVolume } from '../../lib/api-token';
import { restrictedPod } from '../../lib/pod-parts';
import { withPodFields } from '../../lib/pods/pod-fields';
import { spreadConstraints } from '../etcd-spread';
import type { ResolvedCluster } from '../resolved-cluster';
import { agentContainer, etcdContainer, gateContainer, volumes } from './cluster-containers';
import { memberLabels, memberSelector } from './cluster-labels';
import { settingsHash } from './cluster-settings';
import { tlsVolumes } from './tls-volumes';

/**
 * Returns the StatefulSetSpec of the members. It has no `replicas`, and Kubernetes replaces no pod on its own: the
 * reconciler does both, member by member.
 */
export function clusterStatefulSet(cluster: ResolvedCluster): object {
  const { names, volume } = cluster;
  return {
    serviceName: names.peerService,
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    selector: { matchLabels: memberSelector(names.cluster) },
    revisionHistoryLimit: cluster.revisionHistoryLimit,
    template: withPodFields(clusterPod(cluster), cluster, cluster.containers),
    ...(!volume.ephemeral && {
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [claimTemplate(cluster)],
    }),
  };
}

function claimTemplate({ volume }: ResolvedCluster): object {
  return {
    // Kubernetes would add apiVersion, kind and status. With them an apply changes nothing and causes no conflict of
    // owners.
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: dataVolume, labels: volume.claim.labels, annotations: volume.claim.annotations },
    spec: {
      accessModes: [volume.accessMode],
      storageClassName: volume.storageClass,
      volumeMode: 'Filesystem',
      selector: volume.claim.selector,
      resources: { requests: { storage: volume.size } },
    },
    status: { phase: 'Pending' },
  };
}

/** Returns the PodTemplateSpec of a member. It meets the restricted Pod Security Standard. */
function clusterPod(cluster: ResolvedCluster): object {
  const { name, imagePullSecrets } = cluster;
  const spread = spreadConstraints(cluster.spread, memberSelector(name));
  return {
    metadata: { labels: memberLabels(cluster), annotations: annotations(cluster) },
    spec: {
      serviceAccountName: cluster.serviceAccountName,
      // Containers that need a token mount one themselves; etcd does not.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 60,
      imagePullSecrets,
      priorityClassName: cluster.priorityClassName,
      nodeSelector: cluster.nodeSelector,
      tolerations: cluster.tolerations,
      topologySpreadConstraints: spread.length > 0 ? spread : undefined,
      securityContext: {
        ...restrictedPod,
        // With Always, every mount would give the group access to the private keys on the volume.
        fsGroupChangePolicy: 'OnRootMismatch',
      },
      initContainers: [gateContainer(cluster), agentContainer(cluster)],
      containers: [etcdContainer(cluster)],
      volumes: podVolumes(cluster),
    },
  };
}

function annotations(cluster: ResolvedCluster): object {
  return {
    'kubectl.kubernetes.io/default-container': 'etcd',
    'cdk8s-etcd.dev/settings-hash': settingsHash(cluster),
    ...trusts(cluster),
  };
}

/** The Secrets of peers whose authorities a member trusts: the reconciler restarts no member that another one would refuse. */
function trusts({ tls: { secrets, trust } }: ResolvedCluster): object {
  return secrets && trust ? { 'cdk8s-etcd.dev/trusts': `${secrets.peer},${trust.other.secrets.peer}` } : {};
}

function podVolumes({ names, tls, volume }: ResolvedCluster): object[] {
  return [
    ...(volume.ephemeral ? [{ name: volumes.data, emptyDir: { sizeLimit: volume.size } }] : []),
    { name: volumes.scratch, emptyDir: {} },
    { name: volumes.settings, configMap: { name: names.settings } },
    apiTokenVolume(volumes.apiToken),
    ...tlsVolumes(tls),
  ];
}
