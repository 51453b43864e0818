import type { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { ports } from '../../etcd/cluster-ports';
import { clusterAlerts } from '../../monitoring/alerts/cluster-alerts';
import { MonitoringObjects } from '../../monitoring/monitoring-objects';
import { requireFreeId } from '../../validation/construct-id';
import { etcdMonitoringTypes } from '../../validation/property-types';
import { requireTypes } from '../../validation/type-checks';
import type { EtcdMonitoringProps } from './etcd-monitoring-props';
import { hasMetrics, type MonitoredCluster } from './monitored-cluster';
import { clusterLabel, memberMonitor, reconcilerMonitor } from './service-monitors';

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
  private readonly cluster: MonitoredCluster;
  private readonly objects: MonitoringObjects;

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
    requireTypes(this, props, etcdMonitoringTypes);
    const { cluster } = props;
    if (!hasMetrics(cluster)) {
      throw new Error(
        `${this.node.path}: cluster: '${cluster.clusterName}' is an existing etcd; give an EtcdCluster or EtcdCluster.fromAttributes(), or call addMonitoring of its backup schedule`,
      );
    }
    this.cluster = cluster._monitored();
    const { name, namespace, labels, reconciler } = this.cluster;
    this.objects = new MonitoringObjects(this, labels, props);
    this.serviceMonitors = this.createServiceMonitors();
    this.services = this.createServices();
    this.networkPolicies = this.createPolicies();
    this.alerts = this.objects.rules(name, () => ({
      ...{ name, title: `etcd ${name}` },
      groups: clusterAlerts({ cluster: name, namespace }, reconciler()),
    }));
    this.dashboard = this.objects.dashboard(name, {
      ...{ of: 'cluster', title: `etcd ${name}`, namespace },
      chosen: { [clusterLabel]: name },
    });
    this.node.addValidation({ validate: () => [...this.tlsProblems(), ...this.objects.problems()] });
  }

  private createServiceMonitors(): ApiObject[] {
    const { objects, cluster } = this;
    const { name } = cluster;
    return [
      ...objects.serviceMonitor('MemberMonitor', name, memberMonitor(cluster, objects.scrape)),
      ...objects.serviceMonitor('ReconcilerMonitor', `${name}-reconciler`, reconcilerMonitor(cluster, objects.scrape)),
    ];
  }

  private createServices(): ApiObject[] {
    const { name, memberSelector: selector, agentTls } = this.cluster;
    const copied = { [clusterLabel]: name };
    const agent = { selector, copied, port: ports.agent, https: agentTls !== undefined };
    return [
      ...this.objects.annotatedService('MemberService', `${name}-metrics`, { selector, copied, port: ports.metrics }),
      ...this.objects.annotatedService('AgentService', `${name}-agent-metrics`, agent),
    ];
  }

  private createPolicies(): ApiObject[] {
    const { name, memberSelector } = this.cluster;
    const reconciler = { 'app.kubernetes.io/name': 'etcd-reconciler' };
    const ofEtcd = this.objects.scrape._tls ? ports.client : ports.metrics;
    return [
      ...this.objects.access('MemberPolicy', `${name}-metrics`, memberSelector, [ofEtcd, ports.agent]),
      ...this.objects.access('ReconcilerPolicy', `${name}-reconciler-metrics`, reconciler, [ports.agent]),
    ];
  }

  private tlsProblems(): string[] {
    const lacksCertificate = this.objects.scrape._tls && this.cluster.clientTls === undefined;
    return lacksCertificate ? ['scrape: tls: the cluster has no certificate for clients; leave tls out'] : [];
  }
}
