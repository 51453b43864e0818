import { Chart, Cron, Testing } from 'cdk8s';
import { argumentsOf, cronJobOf, podOf, s3 } from '../../test/synth';
import { EtcdAuth, EtcdClientTls, EtcdCluster } from '..';

const chartOf = () => new Chart(Testing.app(), 'shop', { namespace: 'shop' });
const tls = EtcdClientTls.fromSecret('client');
const options = { schedule: Cron.daily(), store: s3 };

test('an existing etcd cluster is backed up on a schedule, and has no objects of its own', () => {
  const chart = chartOf();
  const auth = EtcdAuth.fromSecret('user');
  const legacy = EtcdCluster.fromEndpoints(chart, 'legacy', ['etcd-0:2379', 'etcd-1:2379'], { tls, auth });
  expect(Testing.synth(chart)).toEqual([]);
  expect(legacy).toMatchObject({
    clusterName: 'legacy',
    clientEndpoints: ['https://etcd-0:2379', 'https://etcd-1:2379'],
    clientTls: tls,
  });
  const nightly = legacy.addBackupSchedule('nightly', options);
  expect(cronJobOf(nightly).metadata.name).toBe('legacy-nightly');
  expect(argumentsOf(nightly)).toEqual(
    expect.arrayContaining([
      '--cluster=legacy',
      '--endpoints=https://etcd-0:2379,https://etcd-1:2379',
      '--user-file=/etc/etcd-agent/auth/username',
    ]),
  );
  expect(podOf(nightly).volumes[0].projected.sources[0].secret.name).toBe('client');
});

test('an EtcdCluster of another app is backed up on a schedule, and has no object here', () => {
  const chart = chartOf();
  const orders = EtcdCluster.fromAttributes(chart, 'imported', {
    clusterName: 'orders',
    clientEndpoints: ['https://orders-0-client:2379'],
    clientTls: tls,
  });
  expect(Testing.synth(chart)).toEqual([]);
  expect(argumentsOf(orders.addBackupSchedule('nightly', options))).toEqual(
    expect.arrayContaining(['--cluster=orders', '--endpoints=https://orders-0-client:2379']),
  );
});

test('its backups use the port for backups, if the attributes name it', () => {
  const orders = EtcdCluster.fromAttributes(chartOf(), 'imported', {
    clusterName: 'orders',
    clientEndpoints: ['https://orders-0-client:2379'],
    clientTls: tls,
    backupEndpoints: ['https://orders-0-client:2382'],
    backupTls: EtcdClientTls.fromSecret('orders-backup-tls'),
  });
  const nightly = orders.addBackupSchedule('nightly', options);
  expect(argumentsOf(nightly)).toContain('--endpoints=https://orders-0-client:2382');
  expect(podOf(nightly).volumes[0].projected.sources[0].secret.name).toBe('orders-backup-tls');
});

test('the attributes of a real cluster are what another app needs', () => {
  const orders = new EtcdCluster(chartOf(), 'orders');
  const imported = EtcdCluster.fromAttributes(chartOf(), 'imported', orders);
  expect(argumentsOf(imported.addBackupSchedule('nightly', options))).toEqual(
    argumentsOf(orders.addBackupSchedule('nightly', options)),
  );
});

test("the pods of its schedules have the labels by which the cluster's NetworkPolicy finds them", () => {
  const orders = EtcdCluster.fromAttributes(chartOf(), 'imported', new EtcdCluster(chartOf(), 'orders'));
  const labels = { team: 'a' };
  const { jobTemplate } = cronJobOf(orders.addBackupSchedule('nightly', { ...options, labels })).spec;
  expect(jobTemplate.spec.template.metadata.labels).toMatchObject({
    'app.kubernetes.io/name': 'etcd-backup',
    'app.kubernetes.io/part-of': 'orders',
    team: 'a',
  });
});

test.each([
  [['etcd'], {}, "endpoints: 'etcd' is not a valid etcd endpoint; write https://HOST:2379"],
  [[], {}, 'endpoints: is empty; give at least one'],
  [['https://etcd:2379'], {}, "is https, but TLS settings are missing; give EtcdClientTls.fromSecret('SECRET')"],
  [['etcd:2379'], { name: 'a/b' }, "name: 'a/b' is not a valid cluster name"],
  [['etcd:2379'], { tls: EtcdClientTls.fromSecret('S') }, "tls: Secret: 'S' is not a valid Kubernetes name"],
])('%j %j: %s', (endpoints, more, message) => {
  const chart = chartOf();
  EtcdCluster.fromEndpoints(chart, 'legacy', endpoints, more);
  expect(chart.node.findChild('legacy').node.validate()).toEqual([expect.stringContaining(message)]);
});

test('a mistake is reported once, not by both the cluster and its schedule', () => {
  const chart = chartOf();
  EtcdCluster.fromEndpoints(chart, 'legacy', ['etcd']).addBackupSchedule('nightly', options);
  const problems = chart.node.findAll().flatMap(({ node }) => node.validate());
  expect(problems).toEqual([expect.stringMatching(/^endpoints: 'etcd'/)]);
});
