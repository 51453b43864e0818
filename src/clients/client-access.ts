import type { IEtcdCluster } from '../backup/i-etcd-cluster';

/** What a cluster says to its clients. */
export interface ClientAccess {
  /** Labels of the members' pods. */
  readonly memberSelector: Readonly<Record<string, string>>;
  /** True if the members' network policy admits every pod of the namespace; undefined for a cluster of another app. */
  readonly admitsNamespace?: boolean;
}

/** An `EtcdCluster`, of this app or of another one. Another copy of this library may have created it. */
interface ClusterWithClients extends IEtcdCluster {
  /** @internal */
  _clientAccess(): ClientAccess;
}

/** Undefined for an existing etcd, which may run anywhere. */
export function clientAccess(cluster: IEtcdCluster): ClientAccess | undefined {
  return '_clientAccess' in cluster ? (cluster as ClusterWithClients)._clientAccess() : undefined;
}
