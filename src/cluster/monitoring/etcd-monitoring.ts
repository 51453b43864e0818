import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { MonitoringObjects } from '../../monitoring/monitoring-objects';
import { monitoringSpec } from '../../monitoring/monitoring-options';
import { propProblems, withFound } from '../../resource/prop-problems';
import { fieldProblems } from '../../resource/resource-problems';
import type { ClusterMonitoringSpec } from '../../resource/types';
import { requireFreeId } from '../../validation/construct-id';
import * as types from '../../validation/property-types';
import { requireTypes } from '../../validation/type-checks';
import { clusterMonitoringProblems, monitoringManifests } from './cluster-monitoring';
import type { EtcdMonitoringProps } from './etcd-monitoring-props';
import { hasMetrics } from './monitored-cluster';

/**
 * Adds what Prometheus needs to monitor an `EtcdCluster`: what to scrape, who may connect, and alerts.
 *
 * `cluster.addMonitoring` does the same. Use this class for a cluster that another app creates.
 */
export class EtcdMonitoring extends Construct {
  /** Lists the ServiceMonitors of the members and of the reconciler. The list is empty with another `scrape`. */
  readonly serviceMonitors: ApiObject[];
  /** Lists the Services with annotations for Prometheus. The list is empty with another `scrape`. */
  readonly services: ApiObject[];
  /** Lists the NetworkPolicies that let Prometheus connect to the members and to the reconciler. */
  readonly networkPolicies: ApiObject[];
  /**
   * Holds the alerts: a PrometheusRule, or a ConfigMap without the Prometheus operator. It is undefined with
   * `EtcdAlerts.none()`.
   */
  readonly alerts?: ApiObject;
  /** Holds the dashboard for Grafana: a ConfigMap. It is undefined with `EtcdDashboard.none()`. */
  readonly dashboard?: ApiObject;
  /**
   * As the resource of the cluster has it.
   * @internal
   */
  readonly _spec: ClusterMonitoringSpec;

  /**
   * Creates the objects for Prometheus.
   *
   * @param scope The chart, or a construct inside of one.
   * @param id An id that is unique within `scope`.
   * @param props The cluster, and what differs from the defaults.
   * @throws if `cluster` is not an `EtcdCluster`
   */
  constructor(scope: Construct, id: string, props: EtcdMonitoringProps) {
    super(scope, requireFreeId(scope, id));
    requireTypes(this, props, types.EtcdMonitoringProps);
    const { cluster } = props;
    if (!hasMetrics(cluster)) {
      throw new Error(
        `${this.node.path}: cluster: '${cluster.clusterName}' is an existing etcd; give an EtcdCluster or EtcdCluster.fromAttributes(), or call addMonitoring of its backup schedule`,
      );
    }
    const monitored = cluster._monitored();
    this._spec = props._written ?? monitoringSpec(props);
    const objects = new MonitoringObjects(this, () => monitoringManifests(monitored, this._spec));
    this.serviceMonitors = objects.all('MemberMonitor', 'ReconcilerMonitor');
    this.services = objects.all('MemberService', 'AgentService');
    this.networkPolicies = objects.all('MemberPolicy', 'ReconcilerPolicy');
    this.alerts = objects.get('Alerts');
    this.dashboard = objects.get('Dashboard');
    this.node.addValidation({
      validate: () => {
        const own = [...clusterMonitoringProblems(monitored, this._spec), ...objects.problems()];
        return withFound(own, propProblems(fieldProblems('EtcdCluster', 'spec.monitoring', this._spec)));
      },
    });
  }
}
