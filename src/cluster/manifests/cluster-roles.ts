import type { ClusterNames } from '../../etcd/cluster-names';

export interface ReconcilerRights {
  /** Members' data is in emptyDirs: there are no claims. */
  readonly ephemeral: boolean;
  /** The volumes go with the cluster, and the record with them. */
  readonly deletesRecord: boolean;
  readonly clientTlsSecret?: string;
}

/** What a member may do in Kubernetes. */
export function memberRules({ record }: ClusterNames): object[] {
  return [rule('', ['configmaps'], [record], ['get'])];
}

/** What the reconciler may do with this cluster, beyond what it may do in the namespace. */
export function reconcilerRules(names: ClusterNames, rights: ReconcilerRights): object[] {
  const { cluster, record, pods, claims, jobs } = names;
  const { ephemeral, deletesRecord, clientTlsSecret } = rights;
  return [
    rule('', ['configmaps'], [record], ['get', 'update', ...(deletesRecord ? ['delete'] : [])]),
    rule('apps', ['statefulsets', 'statefulsets/scale'], [cluster], ['get', 'patch']),
    rule('', ['pods'], pods, ['get', 'delete']),
    rule('', ['pods/eviction'], pods, ['create']),
    // Whatever the policies: a new volume may have to make room for a member's on the same node.
    ...when(!ephemeral, rule('', ['persistentvolumeclaims'], claims, ['get', 'patch', 'delete'])),
    rule('batch', ['jobs'], jobs, ['get', 'delete']),
    rule(group, ['etcdclusters/status'], [cluster], ['patch']),
    // For the finalizer, which it must be able to remove after `onDelete` and `finalBackup` were taken back.
    rule(group, ['etcdclusters'], [cluster], ['patch']),
    ...when(clientTlsSecret !== undefined, rule('', ['secrets'], [clientTlsSecret ?? ''], ['get'])),
  ];
}

const group = 'cdk8s-etcd.dev';

function rule(apiGroup: string, resources: string[], resourceNames: readonly string[], verbs: string[]): object {
  return { apiGroups: [apiGroup], resources, resourceNames, verbs };
}

function when(condition: boolean, granted: object): object[] {
  return condition ? [granted] : [];
}

/** A binding of a Role to a ServiceAccount of the same namespace, whichever that is. The account may be a token. */
export function binding(role: string, serviceAccount: unknown): object {
  return {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role },
    subjects: [{ kind: 'ServiceAccount', name: serviceAccount }],
  };
}
