import { type ClusterNames, dataVolume } from '../../etcd/cluster-names';
import { memberSelector } from './cluster-labels';

export interface ClusterStatefulSetSpec {
  readonly names: ClusterNames;
  readonly template: object;
  /** The claim of each member; none means that its data is in an emptyDir. */
  readonly claim?: {
    readonly size: string;
    readonly storageClass?: string;
    readonly accessMode: string;
  };
}

/**
 * The StatefulSetSpec of the members. It has no `replicas`, and no pod is replaced by Kubernetes on its own: both are up
 * to the reconciler, member by member.
 */
export function clusterStatefulSet({ names, template, claim }: ClusterStatefulSetSpec): object {
  return {
    serviceName: names.peerService,
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    selector: { matchLabels: memberSelector(names.cluster) },
    template,
    ...(claim && {
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [claimTemplate(claim)],
    }),
  };
}

function claimTemplate({ size, storageClass, accessMode }: NonNullable<ClusterStatefulSetSpec['claim']>): object {
  return {
    // Kubernetes would add these two and the status: an apply then has nothing to change, nor a conflict of owners.
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: dataVolume },
    spec: {
      accessModes: [accessMode],
      storageClassName: storageClass,
      volumeMode: 'Filesystem',
      resources: { requests: { storage: size } },
    },
    status: { phase: 'Pending' },
  };
}
