import { render } from '../lib/metrics/render.ts';
import { metrics as table } from '../lib/metrics/table.ts';
import type { ClusterStatus } from '../protocol/cluster-status.ts';
import { backupMetrics } from './backup/metrics.ts';
import type { PassFacts } from './cluster/pass-facts.ts';
import type { EtcdBackupObject } from './objects/backup-object.ts';
import { ReconcilerMetrics } from './reconciler-metrics.ts';

const at = '2026-11-22T02:00:00Z';
const seconds = Date.parse(at) / 1000;
const condition = { message: 'm', lastTransitionTime: at };
const status: ClusterStatus = {
  ...{ phase: 'Ready', reason: 'UpToDate', message: 'm', epoch: 1, size: 3, voters: 3, readyVoters: 3, members: [] },
  lastBackup: { id: 'a', at, revision: 7, sizeBytes: 20 },
  certificates: [
    { secret: 'peer', notAfter: at, renewAt: at },
    { secret: 'client', notAfter: at },
  ],
  conditions: [
    { type: 'Ready', status: 'True', reason: 'UpToDate', ...condition },
    { type: 'AuthReady', status: 'Unknown', reason: 'StateUnknown', ...condition },
  ],
};
const members = [
  {
    ordinal: 0,
    pod: 'c-0',
    memberId: 'a1',
    role: 'Leader' as const,
    version: '3.6.1',
    healthy: true,
    lag: 0,
    dbSize: 9,
  },
  { ordinal: 1, pod: 'c-1', healthy: false },
];
const upgrade: PassFacts['operation'] = { kind: 'Upgrade', startedAt: at };

const run = (cluster: string, change: object = {}): EtcdBackupObject =>
  ({
    metadata: { name: cluster, ownerReferences: [{ kind: 'Job', apiVersion: 'batch/v1', name: 'j', uid: 'u' }] },
    spec: { clusterName: cluster, schedule: 'nightly' },
    status: { phase: 'Completed', startTime: at, completionTime: '2026-11-22T02:00:42Z', sizeBytes: 20, ...change },
  }) as unknown as EtcdBackupObject;

const textOf = (metrics: ReconcilerMetrics, backups: readonly EtcdBackupObject[] = []) =>
  render(metrics.samples([{ resource: 'pods', synced: true, lists: 1 }], backupMetrics(backups)));

function filled(): ReconcilerMetrics {
  const metrics = new ReconcilerMetrics();
  const orders = metrics.begin('orders');
  orders.passed(status);
  orders.acted('before Upgrade');
  orders.acted('after Upgrade');
  orders.observed({ operation: upgrade, members });
  return metrics;
}

test('a reconciler reports every metric of the table that is its own', async () => {
  const made = filled().samples([{ resource: 'pods', synced: true, lists: 1 }], backupMetrics([run('orders')]));
  const own = Object.entries(table).flatMap(([name, { from }]) =>
    from.some((each) => each === 'reconciler') ? name : [],
  );
  expect([...new Set(made.map(({ name }) => name))].sort()).toEqual(own.sort());
});

test('a condition and the phase have one series each, for what they are now', async () => {
  const metrics = filled();
  const of = async () => (await textOf(metrics)).match(/^etcd_cluster_(condition|phase)\{.*$/gm);
  expect(await of()).toEqual([
    'etcd_cluster_phase{etcd_cluster="orders",phase="Ready",reason="UpToDate"} 1',
    'etcd_cluster_condition{etcd_cluster="orders",condition="Ready",status="True",reason="UpToDate"} 1',
    'etcd_cluster_condition{etcd_cluster="orders",condition="AuthReady",status="Unknown",reason="StateUnknown"} 1',
  ]);
  const stalled = { type: 'Ready', status: 'False', reason: 'NoSpace', ...condition } as const;
  metrics.begin('orders').passed({ phase: 'Stalled', reason: 'NoSpace', conditions: [stalled] });
  expect(await of()).toEqual([
    'etcd_cluster_phase{etcd_cluster="orders",phase="Stalled",reason="NoSpace"} 1',
    'etcd_cluster_condition{etcd_cluster="orders",condition="Ready",status="False",reason="NoSpace"} 1',
  ]);
});

test('an operation has its start while it is in progress, and while nobody can know that it ended', async () => {
  const metrics = new ReconcilerMetrics();
  const orders = metrics.begin('orders');
  const of = async () => (await textOf(metrics)).match(/^etcd_cluster_operation_\S+ .*$/gm);
  expect(await of()).toBeNull();
  const series = `etcd_cluster_operation_start_timestamp_seconds{etcd_cluster="orders",operation="Upgrade"} ${seconds}`;
  orders.observed({ operation: upgrade, members: [] });
  expect(await of()).toEqual([series]);
  orders.observed({ operation: undefined, members: [] });
  expect(await of()).toEqual([series]);
  orders.observed({ operation: null, members: [] });
  expect(await of()).toBeNull();
});

test('a member that does not answer is not healthy, and has neither lag nor size', async () => {
  const text = await textOf(filled());
  expect(text.match(/^etcd_cluster_member_\S+ .*$/gm)).toEqual([
    'etcd_cluster_member_info{etcd_cluster="orders",pod="c-0",member_id="a1",role="Leader",version="3.6.1"} 1',
    'etcd_cluster_member_info{etcd_cluster="orders",pod="c-1",member_id="",role="",version=""} 1',
    'etcd_cluster_member_healthy{etcd_cluster="orders",pod="c-0"} 1',
    'etcd_cluster_member_healthy{etcd_cluster="orders",pod="c-1"} 0',
    'etcd_cluster_member_lag_entries{etcd_cluster="orders",pod="c-0"} 0',
    'etcd_cluster_member_database_size_bytes{etcd_cluster="orders",pod="c-0"} 9',
  ]);
});

test('the newest backup, the run of a schedule and the certificates', async () => {
  const text = await textOf(filled(), [run('orders')]);
  expect(text).toContain(`etcd_cluster_last_backup_timestamp_seconds{etcd_cluster="orders"} ${seconds}\n`);
  expect(text).toContain('etcd_cluster_last_backup_revision{etcd_cluster="orders"} 7\n');
  expect(text).toContain('etcd_cluster_last_backup_size_bytes{etcd_cluster="orders"} 20\n');
  expect(text).toContain('etcd_cluster_backup_run_duration_seconds{etcd_cluster="orders",schedule="nightly"} 42\n');
  expect(text.match(/^etcd_cluster_certificate_renewal\S+ .*$/gm)).toEqual([
    `etcd_cluster_certificate_renewal_timestamp_seconds{etcd_cluster="orders",secret="peer"} ${seconds}`,
  ]);
  expect(await textOf(filled(), [run('orders', { startTime: undefined })])).not.toContain('run_duration');
});

test('a cluster that is forgotten has no series, whatever its last pass and its EtcdBackups still report', async () => {
  const metrics = filled();
  const late = metrics.begin('orders');
  metrics.forget('orders');
  late.passed(status);
  late.acted('before Upgrade');
  late.observed({ operation: upgrade, members });
  expect(await textOf(metrics, [run('orders')])).not.toContain('cluster="orders"');
});
