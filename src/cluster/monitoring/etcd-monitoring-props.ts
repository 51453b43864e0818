import type { IEtcdCluster } from '../../backup/i-etcd-cluster';
import type { MonitoringOptions } from '../../monitoring/monitoring-options';
import type { ClusterMonitoringSpec } from '../../resource/types';

/** Configures an `EtcdMonitoring`. */
export interface EtcdMonitoringProps extends MonitoringOptions {
  /** Refers to the cluster: an `EtcdCluster`, or `EtcdCluster.fromAttributes` for one that another app creates. */
  readonly cluster: IEtcdCluster;
  /**
   * The monitoring as the resource of the cluster has it, in the place of the options.
   * @internal
   */
  readonly _written?: ClusterMonitoringSpec;
}
