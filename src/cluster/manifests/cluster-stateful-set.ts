import { dataVolume } from '../../etcd/cluster-names';
import type { ResolvedCluster } from '../resolve-cluster';
import { memberSelector } from './cluster-labels';
import { clusterPod } from './cluster-pod';

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
    template: clusterPod(cluster),
    ...(!volume.ephemeral && {
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [claimTemplate(cluster)],
    }),
  };
}

function claimTemplate({ volume }: ResolvedCluster): object {
  return {
    // Kubernetes would add apiVersion, kind and status. With them an apply changes nothing and causes no conflict of owners.
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: dataVolume },
    spec: {
      accessModes: [volume.readWriteOncePod ? 'ReadWriteOncePod' : 'ReadWriteOnce'],
      storageClassName: volume.storageClass,
      volumeMode: 'Filesystem',
      resources: { requests: { storage: volume.size.asString() } },
    },
    status: { phase: 'Pending' },
  };
}
