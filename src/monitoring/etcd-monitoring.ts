import { ApiObject, Yaml } from 'cdk8s';
import { Construct } from 'constructs';
import { ports } from '../etcd/cluster-ports';
import { labelProblems } from '../lib/labels';
import { ObjectNames } from '../lib/name-registry';
import { NetworkAccess, policyPorts } from '../lib/network-access';
import { requireFreeId } from '../validation/construct-id';
import { etcdMonitoringTypes } from '../validation/property-types';
import { requireTypes } from '../validation/type-checks';
import { EtcdAlerts } from './etcd-alerts';
import { EtcdDashboard } from './etcd-dashboard';
import type { EtcdMonitoringProps } from './etcd-monitoring-props';
import { EtcdScrape } from './etcd-scrape';
import { hasMetrics, type MonitoredCluster } from './monitored-cluster';
import { clusterLabel, memberMonitor, reconcilerMonitor } from './service-monitors';

type Labels = { readonly [name: string]: string };

const api = 'monitoring.coreos.com/v1';

/** Selects every pod of a Prometheus that the operator or a common chart runs, in any namespace. */
const anyPrometheus = () =>
  NetworkAccess.from({ podLabels: { 'app.kubernetes.io/name': 'prometheus' }, namespaceLabels: {} });

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
  private readonly names = new ObjectNames(this);

  private readonly cluster: MonitoredCluster;
  private readonly labels: { readonly [name: string]: string };

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
    const {
      cluster,
      scrape = EtcdScrape.serviceMonitors(),
      scraper = anyPrometheus(),
      alerts = EtcdAlerts.all(),
      dashboard = EtcdDashboard.configMap(),
    } = props;
    if (!hasMetrics(cluster)) {
      throw new Error(
        `${this.node.path}: cluster: '${cluster.clusterName}' is an existing etcd; give an EtcdCluster, or EtcdCluster.fromAttributes()`,
      );
    }
    this.cluster = cluster._monitored();
    this.labels = { ...this.cluster.labels, ...props.labels };
    this.serviceMonitors = scrape._kind === 'ServiceMonitors' ? this.createServiceMonitors(scrape) : [];
    this.services = scrape._kind === 'Annotations' ? this.createServices() : [];
    this.networkPolicies = this.createPolicies(scraper, scrape);
    this.alerts = this.createAlerts(alerts, scrape);
    this.dashboard = this.createDashboard(dashboard);
    this.node.addValidation({
      validate: () => [
        ...this.scrapeProblems(scrape),
        ...scraper._problems('scraper'),
        ...alerts._problems(),
        ...dashboard._problems(),
        ...labelProblems('labels', props.labels),
        ...this.names.problems(),
      ],
    });
  }

  private createServiceMonitors(scrape: EtcdScrape): ApiObject[] {
    const { name } = this.cluster;
    return [
      this.object('MemberMonitor', api, 'ServiceMonitor', name, { spec: memberMonitor(this.cluster, scrape) }),
      this.object('ReconcilerMonitor', api, 'ServiceMonitor', `${name}-reconciler`, {
        spec: reconcilerMonitor(this.cluster, scrape),
      }),
    ];
  }

  /** By convention, Prometheus scrapes one port of a Service. */
  private createServices(): ApiObject[] {
    const { name, memberSelector } = this.cluster;
    const service = (id: string, suffix: string, port: number) =>
      this.object(
        id,
        'v1',
        'Service',
        `${name}-${suffix}`,
        {
          spec: {
            clusterIP: 'None',
            publishNotReadyAddresses: true,
            selector: memberSelector,
            ports: [{ name: 'metrics', port, targetPort: port, protocol: 'TCP' }],
          },
        },
        {
          annotations: {
            'prometheus.io/scrape': 'true',
            'prometheus.io/port': String(port),
            'prometheus.io/path': '/metrics',
            ...(port === ports.agent && this.cluster.agentTls && { 'prometheus.io/scheme': 'https' }),
          },
          // Such a Prometheus copies the labels of the Service to what it scrapes.
          labels: { [clusterLabel]: name },
        },
      );
    return [service('MemberService', 'metrics', ports.metrics), service('AgentService', 'agent-metrics', ports.agent)];
  }

  private createPolicies(scraper: NetworkAccess, scrape: EtcdScrape): ApiObject[] {
    const { name, memberSelector } = this.cluster;
    const peers = scraper._peers();
    // An empty `from` would allow every client.
    if (peers !== 'any' && peers.length === 0) return [];
    const policy = (id: string, suffix: string, matchLabels: object, numbers: readonly number[]) => {
      const rule = { ports: policyPorts(numbers), ...(peers === 'any' ? {} : { from: peers }) };
      const spec = { podSelector: { matchLabels }, policyTypes: ['Ingress'], ingress: [rule] };
      return this.object(id, 'networking.k8s.io/v1', 'NetworkPolicy', `${name}-${suffix}`, { spec });
    };
    return [
      policy('MemberPolicy', 'metrics', memberSelector, [scrape._tls ? ports.client : ports.metrics, ports.agent]),
      policy('ReconcilerPolicy', 'reconciler-metrics', { 'app.kubernetes.io/name': 'etcd-reconciler' }, [ports.agent]),
    ];
  }

  private createAlerts(alerts: EtcdAlerts, scrape: EtcdScrape): ApiObject | undefined {
    const { name: cluster, namespace } = this.cluster;
    const groups = alerts._groups({ cluster, namespace });
    if (!groups || groups.length === 0) return undefined;
    if (scrape._kind === 'ServiceMonitors') {
      return this.object('Alerts', api, 'PrometheusRule', cluster, { spec: { groups } });
    }
    const data = { [`etcd-${cluster}.rules.yaml`]: Yaml.stringify({ groups }) };
    return this.object('Alerts', 'v1', 'ConfigMap', `${cluster}-alerts`, { data });
  }

  private createDashboard(dashboard: EtcdDashboard): ApiObject | undefined {
    const { name: cluster, namespace } = this.cluster;
    const found = dashboard._configMap({ cluster, namespace });
    if (!found) return undefined;
    const { data, ...metadata } = found;
    return this.object('Dashboard', 'v1', 'ConfigMap', `${cluster}-dashboard`, { data }, metadata);
  }

  private object(
    id: string,
    apiVersion: string,
    kind: string,
    name: string,
    content: object,
    { annotations, labels }: { readonly annotations?: Labels; readonly labels?: Labels } = {},
  ): ApiObject {
    this.names.take(kind, name);
    return new ApiObject(this, id, {
      apiVersion,
      kind,
      metadata: { name, annotations, labels: { ...this.labels, ...labels } },
      ...content,
    });
  }

  private scrapeProblems(scrape: EtcdScrape): string[] {
    const lacksCertificate = scrape._tls && this.cluster.clientTls === undefined;
    return [
      ...scrape._problems(),
      ...(lacksCertificate ? ['scrape: tls: the cluster has no certificate for clients; leave tls out'] : []),
    ];
  }
}
