import { Yaml } from 'cdk8s';
import type { ServiceMonitorSpec } from '../../imports/servicemonitor-monitoring.coreos.com';
import { durationText, parseDuration } from '../lib/duration';
import { annotated } from '../lib/labels';
import type { Labels, Manifest } from '../lib/manifest';
import { accessPeers, policyPorts } from '../lib/network-access';
import type { PlainData } from '../lib/plain-data';
import { defaults } from '../resource/defaults';
import type { ClusterMonitoringSpec } from '../resource/types';
import { type AlertedSubject, alertGroups } from './etcd-alerts';
import { dashboardConfigMap, type ShownSubject } from './etcd-dashboard';

/** An object, and the id of its construct. */
type Entry = readonly [id: string, manifest: Manifest];

const api = 'monitoring.coreos.com/v1';

/** That of the Prometheus which the operator or a common chart runs is its default. */
const usual = defaults.ClusterMonitoringSpec;

/** A Service of what Prometheus scrapes. */
interface ScrapedService {
  readonly selector: Labels;
  readonly port: number;
  /** Labels that such a Prometheus copies to what it scrapes. */
  readonly copied: Labels;
  readonly https?: boolean;
}

/** Makes the objects that Prometheus and Grafana need to monitor something, as the spec says. */
export class MonitoringManifests {
  private readonly method: 'ServiceMonitors' | 'Annotations' | 'None';
  private readonly labels: Labels;

  constructor(
    private readonly of: { readonly labels: Labels; readonly annotations?: Labels },
    private readonly spec: ClusterMonitoringSpec,
  ) {
    this.method = spec.scrape?.method ?? usual.scrape.method;
    this.labels = { ...of.labels, ...spec.labels };
  }

  /** The time between two scrapes, as Prometheus reads it. */
  get interval(): string | undefined {
    const { interval } = this.spec.scrape ?? {};
    const duration = interval === undefined ? undefined : parseDuration(interval);
    return duration && durationText(duration);
  }

  /** An object with the labels and annotations of all. */
  object(
    id: string,
    apiVersion: string,
    kind: string,
    name: string,
    content: object,
    { annotations, labels }: { readonly annotations?: Labels; readonly labels?: Labels } = {},
  ): Entry {
    const metadata = {
      name,
      labels: { ...this.labels, ...labels },
      ...annotated({ ...this.of.annotations, ...annotations }),
    };
    return [id, { apiVersion, kind, metadata, ...content }];
  }

  /** Nothing with another method. */
  serviceMonitor(id: string, name: string, spec: PlainData<ServiceMonitorSpec>): Entry[] {
    return this.method === 'ServiceMonitors' ? [this.object(id, api, 'ServiceMonitor', name, { spec })] : [];
  }

  /** A Service that has annotations only with that method. By convention, Prometheus scrapes one port of it. */
  service(id: string, name: string, { selector, port, copied, https }: ScrapedService): Entry {
    const ports = [{ name: 'metrics', port, targetPort: port, protocol: 'TCP' }];
    const annotations = this.method === 'Annotations' && {
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

  /** A Service for a Prometheus that follows annotations. Nothing with another method. */
  annotatedService(id: string, name: string, scraped: ScrapedService): Entry[] {
    return this.method === 'Annotations' ? [this.service(id, name, scraped)] : [];
  }

  /** Lets Prometheus connect to pods that another policy protects. */
  access(id: string, name: string, podLabels: Labels, ports: readonly number[]): Entry[] {
    return this.ingress(ports).length > 0 ? [this.policy(id, name, podLabels, ports)] : [];
  }

  /** Lets Prometheus alone connect to pods. */
  policy(id: string, name: string, matchLabels: Labels, ports: readonly number[]): Entry {
    const ingress = this.ingress(ports);
    const spec = { podSelector: { matchLabels }, policyTypes: ['Ingress'], ingress };
    return this.object(id, 'networking.k8s.io/v1', 'NetworkPolicy', name, { spec });
  }

  private ingress(numbers: readonly number[]): object[] {
    const peers = accessPeers(this.spec.scraper ?? usual.scraper);
    const ports = policyPorts(numbers);
    if (peers === 'any') return [{ ports }];
    // An empty `from` would allow every client.
    return peers.length === 0 ? [] : [{ ports, from: peers }];
  }

  rules(name: string, subject: AlertedSubject): Entry[] {
    const groups = alertGroups(this.spec.alerts, subject);
    if (groups.length === 0) return [];
    if (this.method === 'ServiceMonitors')
      return [this.object('Alerts', api, 'PrometheusRule', name, { spec: { groups } })];
    const data = { [`etcd-${name}.rules.yaml`]: Yaml.stringify({ groups }) };
    return [this.object('Alerts', 'v1', 'ConfigMap', `${name}-alerts`, { data })];
  }

  dashboard(name: string, subject: ShownSubject): Entry[] {
    const found = dashboardConfigMap(this.spec.dashboard, name, subject);
    if (!found) return [];
    const { data, ...metadata } = found;
    return [this.object('Dashboard', 'v1', 'ConfigMap', `${name}-dashboard`, { data }, metadata)];
  }
}
