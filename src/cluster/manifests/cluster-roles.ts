import type { ClusterNames } from '../../etcd/cluster-names';
import type { TlsBinding } from '../../tls/tls-binding';
import { managedSecrets } from '../../tls/tls-names';
import { issuedSource } from '../../tls/tls-trust';
import type { ResolvedCluster } from '../resolved-cluster';

/** Returns the rules of a member's Role. */
export function memberRules({ record }: ClusterNames): object[] {
  return [rule('', ['configmaps'], [record], ['get'])];
}

/** Returns the rules of the reconciler's Role for this cluster. Its own Role has the rules for the namespace. */
export function reconcilerRules({ names, volume, pvcPolicy, tls }: ResolvedCluster): object[] {
  const { cluster, record, pods, claims, jobs } = names;
  // If the volumes are deleted with the cluster, so is the record.
  const deletesRecord = pvcPolicy?.onDelete === 'Delete';
  return [
    rule('', ['configmaps'], [record], ['get', 'update', ...(deletesRecord ? ['delete'] : [])]),
    rule('apps', ['statefulsets', 'statefulsets/scale'], [cluster], ['get', 'patch']),
    rule('', ['pods'], pods, ['get', 'delete']),
    rule('', ['pods/eviction'], pods, ['create']),
    // Whatever the policies: a new, empty volume may be on the only node for another member's pod, and must be deleted.
    ...(volume.ephemeral ? [] : [rule('', ['persistentvolumeclaims'], claims, ['get', 'patch', 'delete'])]),
    rule('batch', ['jobs'], jobs, ['get', 'delete']),
    rule(group, ['etcdclusters/status'], [cluster], ['patch']),
    // For the finalizer: the reconciler must be able to remove it after `onDelete` and `finalBackup` have been unset.
    rule(group, ['etcdclusters'], [cluster], ['patch']),
    ...secretRules(tls),
  ];
}

function secretRules(tls: TlsBinding): object[] {
  const { secrets, trust } = tls;
  if (!secrets) return [];
  const issued = issuedSource(tls);
  const written = [...(issued ? managedSecrets(issued.secrets, issued.managed) : []), ...(trust ? [trust.secret] : [])];
  // It reads the authorities of both sources beside the keys of the members.
  const sources = trust
    ? [secrets, trust.other.secrets].flatMap(({ peer, server, client }) => [peer, server, client])
    : [];
  const read = [secrets.client, ...(secrets.root ? [secrets.root] : []), ...sources];
  const readOnly = [...new Set(read)].filter((name) => !written.includes(name));
  return [
    ...(written.length > 0 ? [rule('', ['secrets'], written, ['get', 'update'])] : []),
    ...(readOnly.length > 0 ? [rule('', ['secrets'], readOnly, ['get'])] : []),
  ];
}

const group = 'cdk8s-etcd.dev';

function rule(apiGroup: string, resources: string[], resourceNames: readonly string[], verbs: string[]): object {
  return { apiGroups: [apiGroup], resources, resourceNames, verbs };
}

/** Binds a Role to a ServiceAccount of the same namespace. */
export function binding(role: string, serviceAccount: string): object {
  return {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role },
    subjects: [{ kind: 'ServiceAccount', name: serviceAccount }],
  };
}
