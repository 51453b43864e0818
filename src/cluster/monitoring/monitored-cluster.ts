import type { IEtcdCluster } from '../../backup/i-etcd-cluster';
import type { Labels } from '../../lib/manifest';
import type { EtcdClientTls } from '../../tls/etcd-client-tls';

/** What Prometheus needs to know of a cluster. */
export interface MonitoredCluster {
  readonly name: string;
  readonly namespace?: string;
  readonly peerService: string;
  readonly memberSelector: Labels;
  readonly labels: Labels;
  readonly annotations?: Labels;
  /** Name of its reconciler. It is final only at synthesis: another chart may create the reconciler later. */
  readonly reconciler: () => string;
  /** How clients use TLS. Undefined if they use http. */
  readonly clientTls?: EtcdClientTls;
  /** Verifies the agents, which serve https as soon as members have certificates. Undefined if they serve http. */
  readonly agentTls?: EtcdClientTls;
}

/** An `EtcdCluster`, of this app or of another one. Another copy of this library may have created it. */
export interface ClusterWithMetrics extends IEtcdCluster {
  /** @internal */
  _monitored(): MonitoredCluster;
}

export const hasMetrics = (cluster: IEtcdCluster): cluster is ClusterWithMetrics => '_monitored' in cluster;
