import { ApiObject, Lazy, Yaml } from 'cdk8s';
import type { Construct } from 'constructs';
import type { ServiceMonitorSpec } from '../../imports/servicemonitor-monitoring.coreos.com';
import { labelProblems } from '../lib/labels';
import { ObjectNames } from '../lib/name-registry';
import { NetworkAccess, policyPorts } from '../lib/network-access';
import type { PlainData } from '../lib/plain-data';
import { type AlertedSubject, EtcdAlerts } from './etcd-alerts';
import { EtcdDashboard, type ShownSubject } from './etcd-dashboard';
import { EtcdScrape } from './etcd-scrape';
import type { MonitoringOptions } from './monitoring-options';

type Labels = { readonly [name: string]: string };

const api = 'monitoring.coreos.com/v1';

/** Selects every pod of a Prometheus that the operator or a common chart runs, in any namespace. */
const anyPrometheus = () =>
  NetworkAccess.peers({ podLabels: { 'app.kubernetes.io/name': 'prometheus' }, namespaceLabels: {} });

/** A Service of what Prometheus scrapes. */
interface ScrapedService {
  readonly selector: Labels;
  readonly port: number;
  /** Labels that such a Prometheus copies to what it scrapes. */
  readonly copied: Labels;
  readonly https?: boolean;
}

/** Creates the objects that Prometheus and Grafana need to monitor something, as the options say. */
export class MonitoringObjects {
  readonly scrape: EtcdScrape;
  private readonly scraper: NetworkAccess;
  private readonly alerts: EtcdAlerts;
  private readonly dashboards: EtcdDashboard;
  private readonly labels: Labels;
  private readonly names: ObjectNames;
  private alertNames: readonly string[] = [];

  constructor(
    private readonly owner: Construct,
    standardLabels: Labels,
    private readonly options: MonitoringOptions,
  ) {
    this.scrape = options.scrape ?? EtcdScrape.serviceMonitors();
    this.scraper = options.scraper ?? anyPrometheus();
    this.alerts = options.alerts ?? EtcdAlerts.all();
    this.dashboards = options.dashboard ?? EtcdDashboard.configMap();
    this.labels = { ...standardLabels, ...options.labels };
    this.names = new ObjectNames(owner);
  }

  /** Creates an object with the labels of all. */
  object(
    id: string,
    apiVersion: string,
    kind: string,
    name: string,
    content: object,
    { annotations, labels }: { readonly annotations?: Labels; readonly labels?: Labels } = {},
  ): ApiObject {
    this.names.take(kind, name);
    const object = new ApiObject(this.owner, id, {
      apiVersion,
      kind,
      metadata: { name, annotations, labels: { ...this.labels, ...labels } },
      ...content,
    });
    this.owner.node.defaultChild ??= object;
    return object;
  }

  /** Creates nothing with another `scrape`. */
  serviceMonitor(id: string, name: string, spec: PlainData<ServiceMonitorSpec>): ApiObject[] {
    return this.scrape._kind === 'ServiceMonitors' ? [this.object(id, api, 'ServiceMonitor', name, { spec })] : [];
  }

  /** Creates a Service that has annotations only with that `scrape`. By convention, Prometheus scrapes one port of it. */
  service(id: string, name: string, { selector, port, copied, https }: ScrapedService): ApiObject {
    const ports = [{ name: 'metrics', port, targetPort: port, protocol: 'TCP' }];
    const annotations = this.scrape._kind === 'Annotations' && {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': String(port),
      'prometheus.io/path': '/metrics',
      ...(https && { 'prometheus.io/scheme': 'https' }),
    };
    return this.object(
      id,
      'v1',
      'Service',
      name,
      { spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector, ports } },
      { annotations: annotations || undefined, labels: copied },
    );
  }

  /** Creates a Service for a Prometheus that follows annotations. Creates nothing with another `scrape`. */
  annotatedService(id: string, name: string, scraped: ScrapedService): ApiObject[] {
    return this.scrape._kind === 'Annotations' ? [this.service(id, name, scraped)] : [];
  }

  /** Lets Prometheus connect to pods that another policy protects. */
  access(id: string, name: string, podLabels: Labels, ports: readonly number[]): ApiObject[] {
    return this.ingress(ports).length > 0 ? [this.policy(id, name, podLabels, ports)] : [];
  }

  /** Lets Prometheus alone connect to pods. */
  policy(id: string, name: string, matchLabels: Labels, ports: readonly number[]): ApiObject {
    const ingress = this.ingress(ports);
    const spec = { podSelector: { matchLabels }, policyTypes: ['Ingress'], ingress };
    return this.object(id, 'networking.k8s.io/v1', 'NetworkPolicy', name, { spec });
  }

  private ingress(numbers: readonly number[]): object[] {
    const peers = this.scraper._peers();
    const ports = policyPorts(numbers);
    if (peers === 'any') return [{ ports }];
    // An empty `from` would allow every client.
    return peers.length === 0 ? [] : [{ ports, from: peers }];
  }

  /** `subject`: the labels of its alerts are complete only at synthesis. */
  rules(name: string, subject: () => AlertedSubject): ApiObject | undefined {
    const now = subject();
    this.alertNames = now.groups.flatMap(({ alerts }) => alerts.map((alert) => alert.name));
    const groups = () => this.alerts._groups(subject()) ?? [];
    if (!this.alerts._groups(now)?.length) return undefined;
    if (this.scrape._kind === 'ServiceMonitors') {
      const spec = Lazy.any({ produce: () => ({ groups: groups() }) });
      return this.object('Alerts', api, 'PrometheusRule', name, { spec });
    }
    const produce = () => ({ [`etcd-${name}.rules.yaml`]: Yaml.stringify({ groups: groups() }) });
    const data = Lazy.any({ produce });
    return this.object('Alerts', 'v1', 'ConfigMap', `${name}-alerts`, { data });
  }

  dashboard(name: string, subject: ShownSubject): ApiObject | undefined {
    const found = this.dashboards._configMap(name, subject);
    if (!found) return undefined;
    const { data, ...metadata } = found;
    return this.object('Dashboard', 'v1', 'ConfigMap', `${name}-dashboard`, { data }, metadata);
  }

  problems(): string[] {
    return [
      ...this.scrape._problems(),
      ...this.scraper._problems('scraper'),
      ...this.alerts._problems(this.alertNames),
      ...this.dashboards._problems(),
      ...labelProblems('labels', this.options.labels),
      ...this.names.problems(),
    ];
  }
}
