type Labels = Readonly<Record<string, string>>;

/** What finds a cluster's members, and nothing else. It can never change: a StatefulSet's selector is immutable. */
export function memberSelector(cluster: string): Labels {
  return { ...identity(cluster), 'app.kubernetes.io/component': 'member' };
}

/** What finds the pods of a cluster's backup Jobs: those of its schedules, and those that the reconciler makes. */
export function jobSelector(cluster: string): Labels {
  return { 'app.kubernetes.io/name': 'etcd-backup', 'app.kubernetes.io/part-of': cluster };
}

/** What finds the reconcilers of the namespace. */
export const reconcilerSelector: Labels = { 'app.kubernetes.io/name': 'etcd-reconciler' };

/** The labels of each object of a cluster. */
export function clusterLabels(cluster: string, extra: Labels = {}): Labels {
  return {
    'app.kubernetes.io/part-of': cluster,
    'app.kubernetes.io/managed-by': 'cdk8s',
    ...extra,
    ...identity(cluster),
  };
}

/** The labels of a cluster's members. */
export function memberLabels(cluster: string, extra: Labels = {}): Labels {
  return { ...clusterLabels(cluster, extra), ...memberSelector(cluster) };
}

function identity(cluster: string): Labels {
  return { 'app.kubernetes.io/name': 'etcd', 'app.kubernetes.io/instance': cluster };
}
