import { ApiObject, Chart, Cron, Testing } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { s3 } from '../../test/synth';
import {
  ControlPlaneEtcdBackup,
  EtcdBackup,
  EtcdBackupMonitoring,
  EtcdBackupSchedule,
  EtcdCluster,
  EtcdCrds,
  EtcdMonitoring,
  EtcdPermission,
  EtcdReconciler,
  EtcdRestore,
  EtcdUser,
  RestoreSource,
} from '..';

const nightly = { schedule: Cron.daily(), store: s3 };
const can = [EtcdPermission.readAll()];
const chartOf = (app = Testing.app()) => new Chart(app, 'Shop', { namespace: 'shop' });
const namesOf = (chart: Chart, kind: string) =>
  Testing.synth(chart).flatMap((each) => (each.kind === kind ? [each.metadata.name] : []));

describe('ids in PascalCase', () => {
  test('become names of objects', () => {
    const chart = chartOf();
    const cluster = new EtcdCluster(chart, 'OrdersApi', { backupSchedule: 'Hourly' });
    cluster.addBackupSchedule('NightlyRun', nightly);
    cluster.addBackupSchedule('Hourly', nightly);
    const user = cluster.addUser('WebShop', { can });
    new EtcdBackup(chart, 'BeforeRelease', { cluster, schedule: 'NightlyRun' });
    new EtcdRestore(chart, 'AfterMistake', { cluster, source: RestoreSource.backup('b') });
    expect(namesOf(chart, 'EtcdCluster')).toEqual(['orders-api']);
    expect(namesOf(chart, 'CronJob')).toEqual(['orders-api-nightly-run', 'orders-api-hourly']);
    expect(namesOf(chart, 'EtcdUser')).toEqual(['orders-api-web-shop']);
    expect(namesOf(chart, 'EtcdBackup')).toEqual(['orders-api-before-release']);
    expect(namesOf(chart, 'EtcdRestore')).toEqual(['orders-api-after-mistake']);
    expect(user).toMatchObject({ secretName: 'orders-api-user-web-shop', userName: 'WebShop' });
    expect(cluster.customResource.toJson().spec.backup).toMatchObject({
      schedule: 'hourly',
      schedules: [
        { name: 'nightly-run', cron: '0 0 * * *' },
        { name: 'hourly', cron: '0 0 * * *' },
      ],
    });
    const [backup] = Testing.synth(chart).filter(({ kind }) => kind === 'EtcdBackup');
    expect(backup.spec.schedule).toBe('nightly-run');
  });

  test('that become one name are refused', () => {
    const chart = chartOf();
    new EtcdCluster(chart, 'OrdersApi');
    const second = new EtcdCluster(chart, 'orders-api');
    expect(second.node.validate()).toEqual([
      expect.stringContaining("another etcd cluster of this chart is called 'orders-api' too"),
    ]);
  });

  test('of two schedules that become one name are refused, whatever their CronJobs are called', () => {
    const cluster = new EtcdCluster(chartOf(), 'Orders');
    cluster.addBackupSchedule('Nightly', { ...nightly, name: 'a' });
    expect(cluster.node.validate()).toEqual([]);
    cluster.addBackupSchedule('nightly', { ...nightly, name: 'b' });
    expect(cluster.node.validate()).toEqual([
      "backup schedules: 'nightly' has the name of another, nightly; give each its own id",
    ]);
  });

  test('do not change the folder in which an existing etcd is backed up', () => {
    const existing = EtcdCluster.fromEndpoints(chartOf(), 'Orders', ['etcd:2379']);
    expect(existing.clusterName).toBe('Orders');
    expect(existing.addBackupSchedule('Nightly', nightly).cronJobName).toBe('orders-nightly');
  });
});

test('a user and a schedule may have one id', () => {
  const cluster = new EtcdCluster(chartOf(), 'orders');
  const schedule = cluster.addBackupSchedule('api', nightly);
  const user = cluster.addUser('api', { can });
  expect([schedule, user].map(({ node }) => node.path)).toEqual(['Shop/orders/api', 'Shop/orders/Users/api']);
  expect([cluster, schedule, user].flatMap(({ node }) => node.validate())).toEqual([]);
  expect(() => cluster.addUser('api', { can })).toThrow(/^Shop\/orders\/Users\/api: id: /);
});

test('each construct has a default child', () => {
  const app = Testing.app();
  const chart = chartOf(app);
  const cluster = new EtcdCluster(chart, 'orders');
  const schedule = cluster.addBackupSchedule('nightly', nightly);
  const restore = new EtcdRestore(chart, 'back', { cluster, source: RestoreSource.backup('b') });
  const own = { cluster: 'theirs', endpoints: ['etcd:2379'], ...nightly };
  const reconciler = new EtcdReconciler(chart, 'reconciler');
  const theirs = new EtcdBackupSchedule(chart, 'theirs', own);
  const kinds: [IConstruct, string][] = [
    [cluster, 'EtcdCluster'],
    [schedule, 'CronJob'],
    [cluster.addUser('api', { can }), 'EtcdUser'],
    [cluster.addMonitoring(), 'ServiceMonitor'],
    [new EtcdMonitoring(chart, 'again', { cluster }), 'ServiceMonitor'],
    [new EtcdBackup(chart, 'now', { cluster, schedule: 'nightly' }), 'EtcdBackup'],
    [restore, 'EtcdRestore'],
    [theirs, 'CronJob'],
    [theirs.addMonitoring(), 'Deployment'],
    [reconciler, 'Deployment'],
    [reconciler.addMonitoring(), 'ServiceMonitor'],
    [
      new ControlPlaneEtcdBackup(new Chart(app, 'nodes', { namespace: 'backup' }), 'nodes', {
        cluster: 'a',
        ...nightly,
      }),
      'CronJob',
    ],
    [new EtcdCrds(new Chart(app, 'crds'), 'crds'), 'CustomResourceDefinition'],
  ];
  for (const [construct, kind] of kinds) expect(ApiObject.of(construct).kind).toBe(kind);
  expect([EtcdUser, EtcdBackupMonitoring].every((type) => kinds.some(([construct]) => construct instanceof type))).toBe(
    true,
  );
});
