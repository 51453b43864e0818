interface Rule {
  readonly apiGroups: string[];
  readonly resources: string[];
  readonly resourceNames?: string[];
  readonly verbs: string[];
}

/**
 * Returns the permissions of a reconciler in its namespace. Each cluster's own Role has the permissions for that
 * cluster. RBAC cannot limit list, watch and create to single objects, so these permissions are for the whole
 * namespace.
 */
export function namespaceRules(reconcilerName: string, lease: string): Rule[] {
  const observe = ['list', 'watch'];
  return [
    rule('cdk8s-etcd.dev', ['etcdclusters', 'etcdbackups', 'etcdrestores', 'etcdusers'], observe),
    // Only for the finalizer: the cluster's own Role may be deleted first, and then nothing else could remove it.
    rule('cdk8s-etcd.dev', ['etcdclusters'], ['patch']),
    // The reconciler creates EtcdBackups that report scheduled runs.
    rule('cdk8s-etcd.dev', ['etcdbackups'], ['create']),
    rule(
      'cdk8s-etcd.dev',
      ['etcdbackups/status', 'etcdclusters/status', 'etcdrestores/status', 'etcdusers/status'],
      ['patch'],
    ),
    rule('apps', ['statefulsets'], observe),
    rule('', ['pods', 'persistentvolumeclaims'], observe),
    rule('batch', ['jobs'], observe),
    rule('', ['configmaps'], ['create']),
    rule('batch', ['jobs'], ['create']),
    // Listed to report why a pod does not start, for example a failed mount or a quota.
    rule('', ['events'], ['create', 'list', 'patch']),
    // Not part of the manifests: Argo CD excludes Leases by default, and would warn about one.
    // Those of others are read to take a cluster over once they end, as after a change of the selector.
    rule('coordination.k8s.io', ['leases'], ['create', 'get']),
    { ...rule('coordination.k8s.io', ['leases'], ['update']), resourceNames: [lease] },
    // The reconciler checks whether it is being deleted itself; it then releases all objects that wait for it.
    { ...rule('apps', ['deployments'], ['get']), resourceNames: [reconcilerName] },
    rule('', ['namespaces'], ['get']),
  ];
}

function rule(apiGroup: string, resources: string[], verbs: string[]): Rule {
  return { apiGroups: [apiGroup], resources, verbs };
}
