import { Chart, Testing } from 'cdk8s';
import { mayConnect } from '../../test/network-policies';
import type { Manifest } from '../../test/synth';
import {
  EtcdAlerts,
  EtcdCluster,
  EtcdDashboard,
  EtcdReconciler,
  type EtcdReconcilerProps,
  EtcdScrape,
  type MonitoringOptions,
  NetworkAccess,
} from '../index';

const key = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

function monitored(options?: MonitoringOptions, props?: EtcdReconcilerProps): Manifest[] {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'shop' });
  const reconciler = new EtcdReconciler(chart, 'reconciler', props);
  const before = Testing.synth(chart).map(key);
  reconciler.addMonitoring(options);
  return Testing.synth(chart).filter((manifest) => !before.includes(key(manifest)));
}

const find = (manifests: Manifest[], kind: string): Manifest => manifests.find((each) => each.kind === kind);
const alertsOf = (manifests: Manifest[]): string[] =>
  find(manifests, 'PrometheusRule').spec.groups.flatMap(({ rules }: Manifest) =>
    rules.map(({ alert }: Manifest) => alert),
  );

test('the defaults', () => {
  expect(monitored().map(key)).toEqual([
    'ServiceMonitor etcd-reconciler-scrape',
    'NetworkPolicy etcd-reconciler-scrape',
    'PrometheusRule etcd-reconciler',
    'ConfigMap etcd-reconciler-dashboard',
  ]);
});

test('nothing of a cluster is scraped, which that cluster scrapes for itself', () => {
  expect(find(monitored(), 'ServiceMonitor').spec).toEqual({
    selector: {
      matchLabels: { 'app.kubernetes.io/name': 'etcd-reconciler', 'app.kubernetes.io/instance': 'etcd-reconciler' },
    },
    endpoints: [
      {
        port: 'metrics',
        relabelings: [{ targetLabel: 'reconciler', replacement: 'etcd-reconciler' }],
        metricRelabelings: [{ sourceLabels: ['etcd_cluster'], regex: '.+', action: 'drop' }],
      },
    ],
  });
});

test('beside a cluster with monitoring, whatever its name', () => {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'shop' });
  new EtcdReconciler(chart, 'reconciler').addMonitoring();
  new EtcdCluster(chart, 'etcd').addMonitoring();
  const names = Testing.synth(chart).map(key);
  expect(new Set(names).size).toBe(names.length);
});

test('an alert on the second pod only if there is one', () => {
  expect(alertsOf(monitored())).toEqual(['EtcdReconcilerInactive', 'EtcdReconcilerNotSynced']);
  expect(alertsOf(monitored({}, { replicas: 2 }))).toContain('EtcdReconcilerStandbyDown');
});

test('Prometheus may connect to this reconciler, and nobody else', () => {
  const policies = monitored();
  const target = {
    labels: { 'app.kubernetes.io/name': 'etcd-reconciler', 'app.kubernetes.io/instance': 'etcd-reconciler' },
    namespace: 'shop',
  };
  const from = (name: string) => ({ labels: { 'app.kubernetes.io/name': name }, namespace: 'monitoring' });
  const ingress = policies.filter(({ kind }) => kind === 'NetworkPolicy');
  expect(mayConnect(ingress, from('prometheus'), target, 8080)).toBe(true);
  expect(mayConnect(ingress, from('shop'), target, 8080)).toBe(false);
  expect(monitored({ scraper: NetworkAccess.nobody() }).map(({ kind }) => kind)).not.toContain('NetworkPolicy');
});

test('without the operator', () => {
  const manifests = monitored({ scrape: EtcdScrape.annotations(), dashboard: EtcdDashboard.none() });
  expect(manifests.map(key)).toEqual([
    'Service etcd-reconciler-scrape',
    'NetworkPolicy etcd-reconciler-scrape',
    'ConfigMap etcd-reconciler-alerts',
  ]);
  expect(manifests[0].metadata).toMatchObject({
    labels: { reconciler: 'etcd-reconciler' },
    annotations: { 'prometheus.io/port': '8080' },
  });
});

test('mistakes', () => {
  expect(() => monitored({ scrape: EtcdScrape.serviceMonitors({ tls: true }) })).toThrow(
    'scrape: tls: the reconciler has no certificate for its metrics; leave tls out',
  );
  expect(() => monitored({ alerts: EtcdAlerts.of({ exclude: ['EtcdReconcilerActive'] }) })).toThrow(
    'did you mean EtcdReconcilerInactive?',
  );
});
