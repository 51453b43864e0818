import { NetworkAccess } from '../../lib/network-access';
import { type ClusterModel, claimSpec, podSpec, reconcilerRights } from '../cluster-model';
import type { EtcdClusterProps } from '../etcd-cluster-props';
import { disruptionBudget } from './cluster-disruption-budget';
import { jobPolicy, memberPolicy } from './cluster-network-policy';
import { clusterPod } from './cluster-pod';
import { binding, memberRules, reconcilerRules } from './cluster-roles';
import { clientService, memberService, peerService } from './cluster-services';
import { clusterStatefulSet } from './cluster-stateful-set';

/** A Kubernetes object as plain data, but for what is known only when the app is complete. */
export interface ClusterManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly content: object;
}

export interface LateContent {
  /** The name of the ServiceAccount of the cluster's reconciler, as a string or a token of one. */
  readonly reconcilerAccount: unknown;
  /** The spec of the custom resource. */
  readonly resourceSpec: unknown;
}

/** The objects of a cluster by their ids, in the order in which they are applied. */
export function clusterManifests(model: ClusterModel, props: EtcdClusterProps, late: LateContent) {
  const { name, names } = model;
  const { networkAccess = NetworkAccess.sameNamespace(), metricsAccess = NetworkAccess.nobody() } = props;
  return {
    ServiceAccount: manifest('v1', 'ServiceAccount', name, { automountServiceAccountToken: false }),
    Role: manifest(rbac, 'Role', name, { rules: memberRules(names) }),
    RoleBinding: manifest(rbac, 'RoleBinding', name, binding(name, name)),
    ReconcilerRole: manifest(rbac, 'Role', names.reconcilerRole, {
      rules: reconcilerRules(names, reconcilerRights(model, props)),
    }),
    ReconcilerRoleBinding: manifest(
      rbac,
      'RoleBinding',
      names.reconcilerRole,
      binding(names.reconcilerRole, late.reconcilerAccount),
    ),
    Settings: manifest('v1', 'ConfigMap', names.settings, { data: model.settingsData }),
    PeerService: manifest('v1', 'Service', names.peerService, { spec: peerService(name) }),
    ClientService: manifest('v1', 'Service', name, { spec: clientService(name) }),
    NetworkPolicy: manifest(networking, 'NetworkPolicy', name, {
      spec: memberPolicy(name, networkAccess._peers(), metricsAccess._peers()),
    }),
    JobNetworkPolicy: manifest(networking, 'NetworkPolicy', names.jobPolicy, { spec: jobPolicy(name) }),
    PodDisruptionBudget: manifest('policy/v1', 'PodDisruptionBudget', name, { spec: disruptionBudget(name) }),
    StatefulSet: manifest('apps/v1', 'StatefulSet', name, {
      spec: clusterStatefulSet({ names, template: clusterPod(podSpec(model, props)), claim: claimSpec(model, props) }),
    }),
    EtcdCluster: manifest('cdk8s-etcd.dev/v1alpha1', 'EtcdCluster', name, { spec: late.resourceSpec }),
  };
}

/** One for each member that there may ever be: the size also changes without these manifests. */
export function memberServices({ name, names }: ClusterModel): ClusterManifest[] {
  return names.clientServices.map((service, ordinal) =>
    manifest('v1', 'Service', service, { spec: memberService(name, names.pods[ordinal]!) }),
  );
}

const rbac = 'rbac.authorization.k8s.io/v1';
const networking = 'networking.k8s.io/v1';

function manifest(apiVersion: string, kind: string, name: string, content: object): ClusterManifest {
  return { apiVersion, kind, name, content };
}
