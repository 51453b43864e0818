import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import type { Labels } from '../lib/manifest';
import type { TlsBinding } from '../tls/tls-binding';

/** What a cluster tells its users. */
export interface UserAccess {
  readonly tls: TlsBinding;
  readonly auth?: boolean;
  /** Version of etcd; undefined for a cluster of another app. */
  readonly version?: string;
  /** Labels and annotations of the cluster, which its users have too. */
  readonly labels?: Labels;
  readonly annotations?: Labels;
  /** Name of the ServiceAccount of the cluster's reconciler, or a token for it. */
  readonly reconcilerAccount: unknown;
}

/** A cluster that can have users. */
export interface ClusterWithUsers extends IEtcdCluster {
  /** @internal */
  _userAccess(): UserAccess;
}

/** Does not check the class: another copy of this library may have created the construct. */
export function canHaveUsers(cluster: IEtcdCluster): cluster is ClusterWithUsers {
  return '_userAccess' in cluster;
}
