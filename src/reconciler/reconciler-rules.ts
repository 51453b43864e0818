interface Rule {
  readonly apiGroups: string[];
  readonly resources: string[];
  readonly resourceNames?: string[];
  readonly verbs: string[];
}

/**
 * What a reconciler may do in its namespace. What it may do with a cluster, the cluster's own Role says. RBAC cannot name
 * what is listed, watched or created.
 */
export function namespaceRules(reconcilerName: string, lease: string): Rule[] {
  const seen = ['list', 'watch'];
  return [
    rule('cdk8s-etcd.dev', ['etcdclusters', 'etcdbackups', 'etcdrestores'], seen),
    // Its finalizer alone: the Role of the cluster may be deleted with it, and nobody could remove it any more.
    rule('cdk8s-etcd.dev', ['etcdclusters'], ['patch']),
    // Those that tell of scheduled runs.
    rule('cdk8s-etcd.dev', ['etcdbackups'], ['create']),
    rule('cdk8s-etcd.dev', ['etcdbackups/status', 'etcdclusters/status', 'etcdrestores/status'], ['patch']),
    rule('apps', ['statefulsets'], seen),
    rule('', ['pods', 'persistentvolumeclaims'], seen),
    rule('batch', ['jobs'], seen),
    rule('', ['configmaps'], ['create']),
    rule('batch', ['jobs'], ['create']),
    // Listed for what does not start: a mount that fails, a quota.
    rule('', ['events'], ['create', 'list', 'patch']),
    // Argo CD leaves Leases out, and so the one of the manifests.
    rule('coordination.k8s.io', ['leases'], ['create']),
    { ...rule('coordination.k8s.io', ['leases'], ['get', 'update']), resourceNames: [lease] },
    // Whether it is being deleted itself: it then lets go of what waits for it.
    { ...rule('apps', ['deployments'], ['get']), resourceNames: [reconcilerName] },
    rule('', ['namespaces'], ['get']),
  ];
}

function rule(apiGroup: string, resources: string[], verbs: string[]): Rule {
  return { apiGroups: [apiGroup], resources, verbs };
}
