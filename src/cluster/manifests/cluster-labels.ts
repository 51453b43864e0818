import { clusterNames } from '../../etcd/cluster-names';
import type { Labels } from '../../lib/manifest';
import type { MonitoredCluster } from '../monitoring/monitored-cluster';
import type { ResolvedCluster } from '../resolved-cluster';

/** Selects a cluster's members and nothing else. It must never change: the selector of a StatefulSet is immutable. */
export function memberSelector(cluster: string): Labels {
  return { ...identity(cluster), 'app.kubernetes.io/component': 'member' };
}

/** Selects the pods of a cluster's backup Jobs: those of its schedules and those that the reconciler creates. */
export function jobSelector(cluster: string): Labels {
  return { 'app.kubernetes.io/name': 'etcd-backup', 'app.kubernetes.io/part-of': cluster };
}

/** Selects the reconcilers of the namespace. */
export const reconcilerSelector: Labels = { 'app.kubernetes.io/name': 'etcd-reconciler' };

/** Returns the labels of every object of a cluster. */
export function clusterLabels({ name, labels }: Pick<ResolvedCluster, 'name' | 'labels'>): Labels {
  return {
    'app.kubernetes.io/managed-by': 'cdk8s',
    ...labels,
    ...identity(name),
    'app.kubernetes.io/part-of': name,
  };
}

/** Returns the labels of a cluster's members. */
export function memberLabels(cluster: ResolvedCluster): Labels {
  return { ...clusterLabels(cluster), ...memberSelector(cluster.name) };
}

/** What Prometheus needs to know of a cluster, by its name. */
export function monitored(name: string, namespace: string | undefined): Omit<MonitoredCluster, 'reconciler'> {
  const { peerService } = clusterNames(name);
  return {
    name,
    namespace,
    peerService,
    memberSelector: memberSelector(name),
    labels: clusterLabels({ name, labels: {} }),
  };
}

function identity(cluster: string): Labels {
  return { 'app.kubernetes.io/name': 'etcd', 'app.kubernetes.io/instance': cluster };
}
