import { App, Chart, Duration, Testing } from 'cdk8s';
import {
  EtcdAlerts,
  EtcdClientTls,
  EtcdCluster,
  EtcdDashboard,
  EtcdMonitoring,
  EtcdReconciler,
  EtcdScrape,
  EtcdTls,
  type MonitoringOptions,
  NetworkAccess,
} from '../../index';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: the shape differs by kind
  readonly [field: string]: any;
}

function monitored(options?: MonitoringOptions, tls?: EtcdTls): Manifest[] {
  const chart = new Chart(new App(), 'chart', { namespace: 'shop' });
  const etcd = new EtcdCluster(chart, 'orders', { tls });
  const before = Testing.synth(chart).map(key);
  etcd.addMonitoring(options);
  return Testing.synth(chart).filter((manifest) => !before.includes(key(manifest)));
}

const key = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

function problem(options: MonitoringOptions, tls?: EtcdTls): string {
  const app = new App();
  new EtcdCluster(new Chart(app, 'chart'), 'orders', { tls }).addMonitoring(options);
  try {
    app.synth();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('no problem was found');
}

test('the defaults are ServiceMonitors, alerts, and policies that let a Prometheus of any namespace connect', () => {
  const manifests = monitored();
  expect(manifests.map(key)).toEqual([
    'ServiceMonitor orders',
    'ServiceMonitor orders-reconciler',
    'NetworkPolicy orders-metrics',
    'NetworkPolicy orders-reconciler-metrics',
    'PrometheusRule orders',
    'ConfigMap orders-dashboard',
  ]);
  const [, , members, reconciler] = manifests;
  const from = [{ namespaceSelector: {}, podSelector: { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } } }];
  const tcp = (...numbers: number[]) => numbers.map((port) => ({ port, protocol: 'TCP' }));
  expect(members!.spec.ingress).toEqual([{ from, ports: tcp(2381, 8080) }]);
  expect(reconciler!.spec.ingress).toEqual([{ from, ports: tcp(8080) }]);
});

test('only the Service with the metrics is scraped, and what is scraped has the name of the cluster', () => {
  const [members, reconciler] = monitored({ scrape: EtcdScrape.serviceMonitors({ interval: Duration.seconds(15) }) });
  const relabelings = [
    { sourceLabels: ['__meta_kubernetes_service_name'], regex: 'orders-peers', action: 'keep' },
    { targetLabel: 'etcd_cluster', replacement: 'orders' },
  ];
  expect(members!.spec.endpoints).toEqual([
    { port: 'metrics', interval: '15s', relabelings },
    {
      ...{ port: 'agent', interval: '15s', relabelings, scheme: 'https' },
      tlsConfig: {
        serverName: 'orders',
        ca: { secret: { name: expect.stringMatching(/^orders-\w+-tls$/), key: 'ca.crt' } },
      },
    },
  ]);
  expect(reconciler!.spec.endpoints[0]).toMatchObject({ interval: '15s', honorLabels: true });
});

test('over https, with the certificate for clients, on the port that the policy opens', () => {
  const [members, , policy] = monitored({ scrape: EtcdScrape.serviceMonitors({ tls: true }) });
  expect(policy!.spec.ingress[0].ports.map(({ port }: { port: number }) => port)).toEqual([2379, 8080]);
  expect(members!.spec.endpoints[0]).toMatchObject({
    port: 'client',
    scheme: 'https',
    tlsConfig: {
      serverName: 'orders',
      ca: { secret: { name: 'orders-client-tls', key: 'ca.crt' } },
      cert: { secret: { name: 'orders-client-tls', key: 'tls.crt' } },
      keySecret: { name: 'orders-client-tls', key: 'tls.key' },
    },
  });
});

test('without the operator: annotated Services, one for each port, and the alerts as a file', () => {
  const manifests = monitored({ scrape: EtcdScrape.annotations() });
  const services = manifests.filter(({ kind }) => kind === 'Service');
  expect(services.map(({ metadata, spec }) => [metadata.name, spec.ports[0].port])).toEqual([
    ['orders-metrics', 2381],
    ['orders-agent-metrics', 8080],
  ]);
  for (const { metadata, spec } of services) {
    expect(metadata).toMatchObject({
      labels: { etcd_cluster: 'orders' },
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(spec.ports[0].port) },
    });
  }
  const alerts = manifests.find(({ kind }) => kind === 'ConfigMap')!;
  expect(alerts.data['etcd-orders.rules.yaml']).toContain('alert: EtcdQuorumLost');
  expect(alerts.data['etcd-orders.rules.yaml']).toContain('reconciler: etcd-reconciler');
  expect(manifests.some(({ apiVersion }) => String(apiVersion).startsWith('monitoring.coreos.com'))).toBe(false);
});

test('the agents of a cluster without TLS', () => {
  const [members] = monitored({}, EtcdTls.none());
  expect(members!.spec.endpoints[1]).not.toHaveProperty('scheme');
});

test('nothing but the access', () => {
  const scraper = NetworkAccess.peers({ namespace: 'monitoring' });
  const manifests = monitored({
    scrape: EtcdScrape.none(),
    alerts: EtcdAlerts.none(),
    dashboard: EtcdDashboard.none(),
    scraper,
  });
  expect(manifests.map(({ kind }) => kind)).toEqual(['NetworkPolicy', 'NetworkPolicy']);
  const none = {
    scrape: EtcdScrape.none(),
    alerts: EtcdAlerts.none(),
    dashboard: EtcdDashboard.none(),
    scraper: NetworkAccess.nobody(),
  };
  expect(monitored(none)).toEqual([]);
});

test('labels are on every object, and those of alerts on every alert', () => {
  const alerts = EtcdAlerts.of({
    labels: { team: 'shop' },
    exclude: ['EtcdSpecRefused'],
    runbookUrl: 'https://wiki/etcd/',
  });
  const manifests = monitored({ labels: { release: 'kube-prometheus-stack' }, alerts });
  for (const { metadata } of manifests) expect(metadata.labels).toMatchObject({ release: 'kube-prometheus-stack' });
  const rules = manifests
    .find(({ kind }) => kind === 'PrometheusRule')!
    .spec.groups.flatMap(({ rules }: { rules: object[] }) => rules);
  expect(rules.length).toBeGreaterThan(15);
  for (const rule of rules) {
    expect(rule).toMatchObject({
      labels: { team: 'shop', severity: expect.stringMatching(/^(critical|warning)$/) },
      annotations: { runbook_url: expect.stringMatching(/^https:\/\/wiki\/etcd\/(runbook|alerts)\.md#./) },
    });
    expect(rule).not.toMatchObject({ alert: 'EtcdSpecRefused' });
  }
});

test('mistakes', () => {
  expect(problem({ alerts: EtcdAlerts.of({ exclude: ['EtcdQuorumLos'] }) })).toContain(
    "alerts: exclude: 'EtcdQuorumLos' is not an alert; did you mean EtcdQuorumLost?",
  );
  expect(problem({ scrape: EtcdScrape.serviceMonitors({ tls: true }) }, EtcdTls.none())).toContain(
    'scrape: tls: the cluster has no certificate for clients; leave tls out',
  );
  expect(problem({ scrape: EtcdScrape.serviceMonitors({ interval: Duration.millis(1500) }) })).toContain(
    'scrape: interval: 1500ms is not a whole number of seconds',
  );
  expect(problem({ labels: { 'a b': 'c' } })).toContain("labels: 'a b' is not a valid name");
  // biome-ignore lint/suspicious/noExplicitAny: a mistake in JavaScript
  expect(() => problem({ scrape: 'annotations' as any })).toThrow(/scrape: .* is not an EtcdScrape/);
});

const reconcilerOf = (manifests: Manifest[]): unknown =>
  manifests
    .flatMap(({ kind, spec }) => (kind === 'PrometheusRule' ? spec.groups : []))
    .flatMap(({ rules }) => rules)
    .find(({ alert }) => alert === 'EtcdReconcilerDown').labels.reconciler;

test('the alert on the reconciler names it, also if another chart creates it later', () => {
  expect(reconcilerOf(monitored())).toBe('etcd-reconciler');
  const app = new App();
  const chart = new Chart(app, 'chart', { namespace: 'shop' });
  new EtcdCluster(chart, 'orders').addMonitoring();
  new EtcdReconciler(new Chart(app, 'later', { namespace: 'shop' }), 'reconciler', { name: 'keeper' });
  expect(reconcilerOf(Testing.synth(chart))).toBe('keeper');
  const other = new Chart(new App(), 'other');
  const theirs = { clusterName: 'orders', clientEndpoints: ['http://orders:2379'] };
  const reconciler = EtcdReconciler.external({ name: 'guard' });
  const cluster = EtcdCluster.fromAttributes(other, 'theirs', { ...theirs, reconciler });
  new EtcdMonitoring(other, 'Monitoring', { cluster });
  expect(reconcilerOf(Testing.synth(other))).toBe('guard');
});

test('a second call is refused', () => {
  const etcd = new EtcdCluster(new Chart(new App(), 'chart'), 'orders');
  etcd.addMonitoring();
  expect(() => etcd.addMonitoring()).toThrow('Monitoring');
});

test('a cluster of another app, with other keys in its Secret', () => {
  const chart = new Chart(new App(), 'chart');
  const cluster = EtcdCluster.fromAttributes(chart, 'theirs', {
    clusterName: 'orders',
    clientEndpoints: ['https://orders:2379'],
    clientTls: EtcdClientTls.fromSecret('mine', { caKey: 'ca.pem', certKey: 'cert.pem', keyKey: 'key.pem' }),
  });
  new EtcdMonitoring(chart, 'Monitoring', { cluster, scrape: EtcdScrape.serviceMonitors({ tls: true }) });
  const [monitor] = Testing.synth(chart);
  expect(monitor.spec.endpoints[0].tlsConfig).toEqual({
    serverName: 'orders',
    ca: { secret: { name: 'mine', key: 'ca.pem' } },
    cert: { secret: { name: 'mine', key: 'cert.pem' } },
    keySecret: { name: 'mine', key: 'key.pem' },
  });
});

test('an existing etcd is refused', () => {
  const chart = new Chart(new App(), 'chart');
  const cluster = EtcdCluster.fromEndpoints(chart, 'legacy', ['http://etcd:2379']);
  expect(() => new EtcdMonitoring(chart, 'Monitoring', { cluster })).toThrow(
    "chart/Monitoring: cluster: 'legacy' is an existing etcd",
  );
});

test('a dashboard of its own for each cluster, with the label by which Grafana finds it', () => {
  const [shop] = monitored({ dashboard: EtcdDashboard.configMap({ annotations: { grafana_folder: 'etcd' } }) }).slice(
    -1,
  );
  expect(shop!.metadata).toMatchObject({ labels: { grafana_dashboard: '1' }, annotations: { grafana_folder: 'etcd' } });
  const model = JSON.parse(shop!.data['etcd-orders.json']);
  expect(model).toMatchObject({ title: 'etcd orders (shop)', uid: expect.stringMatching(/^etcd-[0-9a-f]{12}$/) });
  expect(model.templating.list.map((each: Manifest) => [each.name, each.current?.value])).toEqual([
    ['datasource', undefined],
    ['namespace', 'shop'],
    ['etcd_cluster', 'orders'],
  ]);
  const chart = new Chart(new App(), 'chart');
  for (const name of ['orders', 'carts']) new EtcdCluster(chart, name).addMonitoring();
  const models = Testing.synth(chart).filter(({ metadata }) => metadata.name.endsWith('-dashboard'));
  const ids = models.flatMap(({ data }) => Object.values<string>(data).map((text) => JSON.parse(text).uid));
  expect(new Set([...ids, model.uid]).size).toBe(3);
});
