import { Chart, Cron, Duration, Size, Testing } from 'cdk8s';
import { mayConnect, mayOpen } from '../../../test/network-policies';
import { type Manifest, manifestsOf, s3, schedule, valid } from '../../../test/synth';
import {
  type BackupMonitoringOptions,
  BackupStore,
  ControlPlaneEtcdBackup,
  EtcdAlerts,
  EtcdAuth,
  EtcdBackupSchedule,
  type EtcdBackupScheduleProps,
  EtcdClientTls,
  EtcdCluster,
  EtcdDashboard,
  EtcdScrape,
  NetworkAccess,
  Retention,
  S3Credentials,
} from '../../index';

const claim = BackupStore.filesystem({ claimName: 'backup' });
const nodeDirectory = BackupStore.filesystem({ hostPath: '/var/backup' });
const key = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

/** Returns all manifests of the chart, by kind and name. */
function monitored(options?: BackupMonitoringOptions, props: Partial<EtcdBackupScheduleProps> = {}) {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'shop' });
  const backup = new EtcdBackupSchedule(chart, 'nightly', { ...valid, ...props });
  backup.addMonitoring(options);
  return Testing.synth(chart) as Manifest[];
}

const find = (manifests: Manifest[], kind: string): Manifest => manifests.find((each) => each.kind === kind);
const podOf = (manifests: Manifest[]): Manifest => find(manifests, 'Deployment').spec.template.spec;
const rulesOf = (manifests: Manifest[]): Manifest[] =>
  find(manifests, 'PrometheusRule').spec.groups.flatMap(({ rules }: Manifest) => rules);

function controlPlane(store = s3, more?: BackupStore) {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'etcd-backup' });
  const backup = new ControlPlaneEtcdBackup(chart, 'daily', { cluster: 'prod', schedule: Cron.daily(), store });
  if (more) backup.addStore(more);
  backup.addMonitoring();
  return Testing.synth(chart) as Manifest[];
}

function problem(options: BackupMonitoringOptions, props: Partial<EtcdBackupScheduleProps> = {}): string {
  try {
    monitored(options, props);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('no problem was found');
}

test('the defaults are an exporter, what scrapes it, alerts and a dashboard', () => {
  const manifests = monitored();
  expect(manifests.map(key)).toEqual([
    'ServiceAccount orders-nightly',
    'CronJob orders-nightly',
    'Deployment orders-nightly-exporter',
    'Service orders-nightly-exporter',
    'NetworkPolicy orders-nightly-exporter',
    'ServiceMonitor orders-nightly-exporter',
    'PrometheusRule orders-nightly',
    'ConfigMap orders-nightly-dashboard',
  ]);
  expect(find(manifests, 'ServiceMonitor').spec.endpoints).toEqual([
    { port: 'metrics', honorLabels: true, relabelings: [{ targetLabel: 'cronjob', replacement: 'orders-nightly' }] },
  ]);
});

test('the exporter has the Secrets of the stores and no others, and writes to no volume', () => {
  const manifests = monitored(
    {},
    {
      store: s3,
      retention: Retention.last(7),
      tls: EtcdClientTls.fromSecret('client'),
      auth: EtcdAuth.fromSecret('root'),
      image: 'r/agent:1',
      imagePullSecrets: ['registry'],
      nodeSelector: { disk: 'ssd' },
    },
  );
  const pod = podOf(manifests);
  expect(pod).toMatchObject({
    serviceAccountName: 'orders-nightly',
    automountServiceAccountToken: false,
    imagePullSecrets: [{ name: 'registry' }],
    nodeSelector: { disk: 'ssd' },
    securityContext: { runAsNonRoot: true },
  });
  expect(JSON.stringify(pod).match(/"secretName":"[^"]*"/g)).toEqual(['"secretName":"s3"']);
  const [container] = pod.containers;
  expect(container.image).toBe('r/agent:1');
  expect(container.args.map((each: string) => each.replace(/=.*/, ''))).toEqual(['exporter', '--cluster', '--store']);
  // A change of retention would restart it.
  expect(container.args.join()).not.toContain('retention');
  const written = container.volumeMounts.filter(({ readOnly }: Manifest) => !readOnly);
  expect(written).toEqual([{ name: 'tmp', mountPath: '/tmp' }]);
});

test('stores that are added later are read, too, and each has memory', () => {
  const backup = schedule();
  backup.addMonitoring();
  backup.addStore(claim);
  const [container] = podOf(manifestsOf(backup)).containers;
  expect(container.args.filter((each: string) => each.startsWith('--store='))).toHaveLength(2);
  expect(container.resources).toEqual({
    requests: { cpu: '300m', memory: '300Mi' },
    limits: { cpu: '300m', memory: '300Mi' },
  });
});

test('resources of the user', () => {
  const resources = { cpuRequest: '50m', memoryLimit: Size.mebibytes(400) };
  const [container] = podOf(monitored({ resources })).containers;
  expect(container.resources).toEqual({
    requests: { cpu: '50m', memory: '400Mi' },
    limits: { cpu: '200m', memory: '400Mi' },
  });
});

test('Prometheus alone reaches the exporter, which reaches everything', () => {
  const manifests = monitored();
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  const { labels } = find(manifests, 'Deployment').spec.template.metadata;
  const target = { labels, namespace: 'shop' };
  const from = (name: string, namespace: string) => ({ labels: { 'app.kubernetes.io/name': name }, namespace });
  expect(mayConnect(policies, from('prometheus', 'monitoring'), target, 8080)).toBe(true);
  expect(mayConnect(policies, from('shop', 'shop'), target, 8080)).toBe(false);
  expect(mayOpen(policies, target, { address: '10.1.2.3' }, 443)).toBe(true);
  const nobody = monitored({ scraper: NetworkAccess.nobody() }).filter(({ kind }) => kind === 'NetworkPolicy');
  expect(mayConnect(nobody, from('prometheus', 'monitoring'), target, 8080)).toBe(false);
});

test('the labels of its pod are not those of a backup', () => {
  const manifests = monitored({}, { labels: { team: 'shop' } });
  const { labels } = find(manifests, 'Deployment').spec.template.metadata;
  expect(labels).toMatchObject({ team: 'shop', 'app.kubernetes.io/name': 'etcd-backup-exporter' });
  const job = find(manifests, 'CronJob').spec.jobTemplate.spec.template.metadata.labels;
  expect(job['app.kubernetes.io/name']).toBe('etcd-backup');
});

test('without the operator: an annotated Service with the label that the alerts need, and the alerts as a file', () => {
  const manifests = monitored({ scrape: EtcdScrape.annotations() });
  expect(find(manifests, 'Service').metadata).toMatchObject({
    labels: { cronjob: 'orders-nightly' },
    annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8080', 'prometheus.io/path': '/metrics' },
  });
  expect(find(manifests, 'ConfigMap').data['etcd-orders-nightly.rules.yaml']).toContain('alert: EtcdBackupTooOld');
  expect(manifests.some(({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com'))).toBe(false);
});

test('nothing but the exporter', () => {
  const none = { scrape: EtcdScrape.none(), alerts: EtcdAlerts.none(), dashboard: EtcdDashboard.none() };
  const manifests = monitored(none);
  expect(manifests.slice(2).map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'NetworkPolicy']);
  expect(find(manifests, 'Service').metadata).not.toHaveProperty('annotations');
});

test.each([
  ['every 5 minutes: at least half an hour', Cron.schedule({ minute: '*/5' }), undefined, 1_800],
  ['hourly: two hours', Cron.hourly(), undefined, 7_200],
  ['daily: two days', Cron.daily(), undefined, 172_800],
  ['as given', Cron.daily(), Duration.hours(30), 108_000],
])('a backup is too old: %s', (_, schedule, maxAge, seconds) => {
  const rules = rulesOf(monitored({ maxAge }, { schedule }));
  const of = (name: string) => rules.find(({ alert }) => alert === name);
  expect(of('EtcdBackupTooOld').expr).toContain(`> ${seconds} unless`);
  expect(of('EtcdBackupNone').for).toBe(`${seconds}s`);
});

test('each alert links to its description', () => {
  for (const { alert, annotations } of rulesOf(monitored()))
    expect(annotations.runbook_url).toMatch(new RegExp(`/alerts\\.md#${alert.toLowerCase()}$`));
});

test('a dashboard of its own, which shows this schedule', () => {
  const model = JSON.parse(find(monitored(), 'ConfigMap').data['etcd-orders-nightly.json']);
  expect(model.title).toBe('etcd orders, backups of orders-nightly (shop)');
  expect(model.templating.list.map((each: Manifest) => each.current?.value)).toEqual([
    undefined,
    'shop',
    'orders',
    'orders-nightly',
  ]);
});

test('with a claim, which may be bound to a node, backups prefer the node of the exporter', () => {
  const cronJob = (manifests: Manifest[]) => find(manifests, 'CronJob').spec.jobTemplate.spec.template.spec;
  const manifests = monitored({}, { store: claim });
  const { preferredDuringSchedulingIgnoredDuringExecution, ...required } = cronJob(manifests).affinity.podAffinity;
  // A pod of the monitoring must not prevent a backup.
  expect(required).toEqual({});
  const [term] = preferredDuringSchedulingIgnoredDuringExecution;
  expect(term.podAffinityTerm.labelSelector).toEqual(find(manifests, 'Deployment').spec.selector);
  expect(cronJob(monitored())).not.toHaveProperty('affinity');
});

test('the schedule of an EtcdCluster is part of the monitoring of the cluster', () => {
  const chart = new Chart(Testing.app(), 'chart');
  const nightly = new EtcdCluster(chart, 'orders').addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
  expect(() => nightly.addMonitoring()).toThrow(
    "chart/orders/nightly: addMonitoring: the monitoring of the EtcdCluster 'orders' covers its schedules; call addMonitoring of the cluster instead",
  );
});

test('a schedule of an existing etcd, and of a cluster of another app', () => {
  const chart = new Chart(Testing.app(), 'chart');
  const options = { schedule: Cron.daily(), store: s3 };
  EtcdCluster.fromEndpoints(chart, 'legacy', ['http://etcd:2379']).addBackupSchedule('a', options).addMonitoring();
  EtcdCluster.fromAttributes(chart, 'theirs', { clusterName: 'carts', clientEndpoints: ['http://carts:2379'] })
    .addBackupSchedule('b', options)
    .addMonitoring();
  const exporters = Testing.synth(chart).filter(({ kind }) => kind === 'Deployment');
  expect(exporters.map(({ metadata }) => metadata.name)).toEqual(['legacy-a-exporter', 'carts-b-exporter']);
});

describe('of a control plane', () => {
  test('the exporter runs where the backups run, without the files, the network and the rights of root', () => {
    const pod = podOf(controlPlane());
    expect(pod).not.toHaveProperty('hostNetwork');
    expect(JSON.stringify(pod)).not.toContain('hostPath');
    expect(pod).toMatchObject({
      dnsPolicy: 'Default',
      securityContext: { runAsNonRoot: true, runAsUser: 65532 },
      affinity: { nodeAffinity: {} },
      tolerations: expect.arrayContaining([{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }]),
    });
  });

  test('it reads as root what root has written', () => {
    expect(podOf(controlPlane(claim)).securityContext).toMatchObject({ runAsUser: 0 });
    expect(podOf(controlPlane(claim)).securityContext).not.toHaveProperty('runAsNonRoot');
  });

  test('the namespace is created first', () => {
    expect(controlPlane().map(({ kind }) => kind)[0]).toBe('Namespace');
  });

  test('a directory of the node is left out, and nothing else is refused', () => {
    const [container] = podOf(controlPlane(nodeDirectory, s3)).containers;
    const stores = container.args.filter((each: string) => each.startsWith('--store='));
    expect(stores).toEqual([expect.stringContaining('backups')]);
    expect(stores[0]).toContain('/stores/0/');
    expect(() => controlPlane(nodeDirectory)).toThrow('addMonitoring: every store is a directory of the node');
  });
});

test('workload identity needs no other ServiceAccount', () => {
  const credentials = S3Credentials.workloadIdentity({ serviceAccountAnnotations: { role: 'arn' } });
  const manifests = monitored({}, { store: BackupStore.s3({ bucket: 'backups', region: 'r', credentials }) });
  const accounts = manifests.filter(({ kind }) => kind === 'ServiceAccount');
  expect(accounts.map(({ metadata }) => metadata.name)).toEqual([podOf(manifests).serviceAccountName]);
});

test('mistakes', () => {
  expect(problem({ scrape: EtcdScrape.serviceMonitors({ tls: true }) })).toContain(
    'chart/nightly/Monitoring] scrape: tls: the exporter has no certificate',
  );
  expect(problem({ maxAge: Duration.minutes(10) })).toContain('maxAge: 10m is too short');
  expect(problem({ maxAge: Duration.millis(1_000_500) })).toContain(
    'maxAge: 1000500ms is not a whole number of seconds',
  );
  expect(problem({ resources: { cpuLimit: 'many' } })).toContain('cpuLimit');
  expect(problem({ alerts: EtcdAlerts.of({ exclude: ['EtcdBackupTooNew'] }) })).toContain(
    'did you mean EtcdBackupTooOld?',
  );
  expect(problem({ alerts: EtcdAlerts.of({ exclude: ['EtcdQuorumLost'] }) })).toContain('is not an alert');
  expect(problem({}, { name: '9orders' })).toContain("addMonitoring: '9orders' cannot begin the name of a Service");
  // biome-ignore lint/suspicious/noExplicitAny: a mistake in JavaScript
  expect(() => monitored({ maxAge: '1h' as any })).toThrow(
    /chart\/nightly\/Monitoring: maxAge: '1h' is not a Duration/,
  );
});

test('a second call is refused', () => {
  const backup = schedule();
  backup.addMonitoring();
  expect(() => backup.addMonitoring()).toThrow('addMonitoring was called before; call it once');
});
