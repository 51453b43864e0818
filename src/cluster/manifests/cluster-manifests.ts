import { managedSecrets } from '../../tls/tls-names';
import { issuedSource } from '../../tls/tls-trust';
import type { ResolvedCluster } from '../resolve-cluster';
import { memberSelector } from './cluster-labels';
import { clientService, jobPolicy, memberPolicy, memberService, peerService } from './cluster-network';
import { binding, memberRules, reconcilerRules } from './cluster-roles';
import { settingsData } from './cluster-settings';
import { clusterStatefulSet } from './cluster-stateful-set';

/** A Kubernetes object as plain data, except for values that are known only when the app is complete. */
export interface ClusterManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly content: object;
}

/** Values that are known only when the app is complete, as tokens. */
export interface LateContent {
  /** Name of the ServiceAccount of the cluster's reconciler. */
  readonly reconcilerAccount: unknown;
  /** Spec of the custom resource. */
  readonly resourceSpec: unknown;
}

/** Returns the objects of a cluster by their ids. The order is the order in which they are applied. */
export function clusterManifests(cluster: ResolvedCluster, late: LateContent) {
  const { name, names } = cluster;
  return {
    ServiceAccount: manifest('v1', 'ServiceAccount', name, { automountServiceAccountToken: false }),
    Role: manifest(rbac, 'Role', name, { rules: memberRules(names) }),
    RoleBinding: manifest(rbac, 'RoleBinding', name, binding(name, name)),
    ReconcilerRole: manifest(rbac, 'Role', names.reconcilerRole, { rules: reconcilerRules(cluster) }),
    ReconcilerRoleBinding: manifest(
      rbac,
      'RoleBinding',
      names.reconcilerRole,
      binding(names.reconcilerRole, late.reconcilerAccount),
    ),
    Settings: manifest('v1', 'ConfigMap', names.settings, { data: settingsData(cluster) }),
    PeerService: manifest('v1', 'Service', names.peerService, { spec: peerService(cluster) }),
    ClientService: manifest('v1', 'Service', name, { spec: clientService(name) }),
    NetworkPolicy: manifest(networking, 'NetworkPolicy', name, { spec: memberPolicy(cluster) }),
    JobNetworkPolicy: manifest(networking, 'NetworkPolicy', names.jobPolicy, { spec: jobPolicy(cluster) }),
    PodDisruptionBudget: manifest('policy/v1', 'PodDisruptionBudget', name, { spec: disruptionBudget(name) }),
    StatefulSet: manifest('apps/v1', 'StatefulSet', name, { spec: clusterStatefulSet(cluster) }),
    EtcdCluster: manifest('cdk8s-etcd.dev/v1alpha1', 'EtcdCluster', name, { spec: late.resourceSpec }),
  };
}

/**
 * Returns the Secrets that the reconciler writes, with the ids of their objects, and without data: no apply changes a field that
 * it does not contain.
 */
export function tlsSecrets({ tls }: ResolvedCluster): [string, ClusterManifest][] {
  const issued = issuedSource(tls);
  const names = issued ? managedSecrets(issued.secrets, issued.managed) : [];
  const secret = (name: string) => manifest('v1', 'Secret', name, { type: 'Opaque' });
  return [
    ...names.map((name, index): [string, ClusterManifest] => [issuedIds[index]!, secret(name)]),
    ...(tls.trust ? [['Trust', secret(tls.trust.secret)] as [string, ClusterManifest]] : []),
  ];
}

const issuedIds = ['PeerAuthority', 'ClientAuthority', 'Peer', 'Server', 'Client', 'Root', 'Backup'];

/** Returns one Service for each possible member, because the size can also change without these manifests. */
export function memberServices(cluster: ResolvedCluster): ClusterManifest[] {
  const { clientServices, pods } = cluster.names;
  return clientServices.map((service, ordinal) =>
    manifest('v1', 'Service', service, { spec: memberService(cluster, pods[ordinal]!) }),
  );
}

/** Returns the PodDisruptionBudgetSpec: one member at a time, whatever the size. */
function disruptionBudget(cluster: string): object {
  return { maxUnavailable: 1, selector: { matchLabels: memberSelector(cluster) } };
}

const rbac = 'rbac.authorization.k8s.io/v1';
const networking = 'networking.k8s.io/v1';

function manifest(apiVersion: string, kind: string, name: string, content: object): ClusterManifest {
  return { apiVersion, kind, name, content };
}
