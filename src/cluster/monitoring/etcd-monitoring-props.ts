import type { IEtcdCluster } from '../../backup/i-etcd-cluster';
import type { MonitoringOptions } from '../../monitoring/monitoring-options';

/** Configures an `EtcdMonitoring`. */
export interface EtcdMonitoringProps extends MonitoringOptions {
  /** Refers to the cluster: an `EtcdCluster`, or `EtcdCluster.fromAttributes` for one that another app creates. */
  readonly cluster: IEtcdCluster;
}
