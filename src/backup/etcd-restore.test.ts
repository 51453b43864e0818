import { Chart, Cron, Testing } from 'cdk8s';
import { checkSchema } from '../../test/kubernetes';
import { type Manifest, s3 } from '../../test/synth';
import {
  BackupStore,
  type ClusterOrigin,
  EtcdBackup,
  EtcdCluster,
  EtcdRestore,
  type EtcdRestoreProps,
  RestoreSource,
  S3Credentials,
} from '..';
import { ExistingEtcdCluster } from '../cluster/external-etcd-cluster';

const id = 'etcd-snapshot-20261121-023807-3f9c2a';
const source = RestoreSource.snapshot(s3, id);
const store = { s3: { bucket: 'backups', region: 'eu-west-1', credentials: { secretName: 's3' } } };
const sha256 = '0123456789abcdef'.repeat(4);
const chartOf = () => new Chart(Testing.app(), 'shop', { namespace: 'shop' });

function clusterOf(chart: Chart, id = 'orders'): EtcdCluster {
  const cluster = new EtcdCluster(chart, id);
  cluster.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
  return cluster;
}

function restore(props: Partial<EtcdRestoreProps> = {}): EtcdRestore {
  const chart = chartOf();
  return new EtcdRestore(chart, 'back', { cluster: clusterOf(chart), source, ...props });
}

function manifestOf(each: EtcdRestore): Manifest {
  const manifests: Manifest[] = Testing.synth(Chart.of(each));
  return manifests.find(({ kind }) => kind === 'EtcdRestore');
}

test('the source is an EtcdBackup, or its name', () => {
  const chart = chartOf();
  const cluster = clusterOf(chart);
  const backup = new EtcdBackup(chart, 'release', { cluster, schedule: 'nightly' });
  const sources = [RestoreSource.backup(backup), RestoreSource.backup(backup.backupName)];
  const names = sources.map((source, index) => manifestOf(new EtcdRestore(chart, `r${index}`, { cluster, source })));
  expect(names.map(({ spec }) => spec.source)).toEqual([
    { backupName: 'orders-release' },
    { backupName: 'orders-release' },
  ]);
});

test.each([[new Date()], [7], [{}]])('another object is not taken: %p', (other) => {
  expect(() => restore({ source: RestoreSource.backup(other as unknown as string) })).toThrow(
    /source: backup: .* is not an EtcdBackup or its name; write/,
  );
});

test('the least that can be given', () => {
  const each = restore();
  expect(each.restoreName).toBe('orders-back');
  expect(manifestOf(each)).toMatchObject({
    apiVersion: 'cdk8s-etcd.dev/v1alpha1',
    metadata: { name: 'orders-back', labels: { 'app.kubernetes.io/part-of': 'orders' } },
  });
  expect(manifestOf(each).spec).toEqual({ clusterName: 'orders', source: { store, snapshotId: id } });
});

test('every property reaches its field', () => {
  const each = restore({
    name: 'after-the-flood',
    identitySecret: 'age',
    sha256,
    expectedRevision: 42,
    safetyBackup: false,
    ignoreUnreachablePods: true,
    serviceAccountName: 'restore',
    image: 'registry.example.com/agent:1',
    labels: { incident: '7' },
  });
  const manifest = manifestOf(each);
  expect(manifest.metadata).toMatchObject({ name: 'after-the-flood', labels: { incident: '7' } });
  expect(manifest.spec).toEqual({
    clusterName: 'orders',
    source: { store, snapshotId: id },
    identitySecret: 'age',
    sha256,
    expectedRevision: 42,
    safetyBackup: false,
    ignoreUnreachablePods: true,
    serviceAccountName: 'restore',
    image: 'registry.example.com/agent:1',
    labels: { incident: '7' },
  });
});

test.each([
  [RestoreSource.backup('orders-now'), { backupName: 'orders-now' }],
  [RestoreSource.snapshot(s3, 'orders-20261121-023807'), { store, snapshotId: 'orders-20261121-023807' }],
  [RestoreSource.snapshot(s3, id, { cluster: 'old_orders' }), { store, snapshotId: id, clusterName: 'old_orders' }],
  [RestoreSource.snapshot(s3, id, { namespace: 'prod' }), { store, snapshotId: id, clusterNamespace: 'prod' }],
  [RestoreSource.key(s3, 'releases/2.0.db'), { store, key: 'releases/2.0.db' }],
  [
    RestoreSource.latestVerifiedBefore(s3, '2026-11-21T02:30:00Z', { cluster: 'old' }),
    { store, latestVerifiedBefore: '2026-11-21T02:30:00Z', clusterName: 'old' },
  ],
])('a source that is %j', (source, spec) => {
  const manifest = manifestOf(restore({ source }));
  expect(manifest.spec.source).toEqual(spec);
  checkSchema(manifest);
});

test('what an EtcdBackup took is named by the name of the resource', () => {
  const chart = chartOf();
  const backup = new EtcdBackup(chart, 'now', { endpoints: ['etcd:2379'], store: s3 });
  expect(RestoreSource.backup(backup.backupName)._spec()).toEqual({ backupName: 'now' });
});

const times: [string, boolean][] = [
  ['2026-11-21T02:30:00Z', true],
  ['2026-11-21T02:30:00.123456789Z', true],
  ['2026-11-21T03:30:00+01:00', true],
  ['2028-02-29T00:00:00-11:30', true],
  ['2026-02-29T00:00:00Z', false],
  ['2026-11-31T00:00:00Z', false],
  ['2026-13-01T00:00:00Z', false],
  ['2026-11-00T00:00:00Z', false],
  ['2026-11-21T24:00:00Z', false],
  ['2026-11-21T02:60:00Z', false],
  ['2026-11-21T02:30:00', false],
  ['2026-11-21 02:30:00Z', false],
  ['2026-11-21', false],
  ['20261121T023000Z', false],
  ['2026-11-21T02:30:00+0100', false],
  ['2026-11-21T02:30:00Z\n', false],
  ['yesterday', false],
  ['', false],
];

test.each(times)('the time %j is one: %j', (time, valid) => {
  const problem = `source: latestVerifiedBefore: '${time}' is not a valid time: write it like 2026-11-21T02:30:00Z`;
  expect(RestoreSource.latestVerifiedBefore(s3, time)._problems()).toEqual(valid ? [] : [problem]);
});

const wrong = {
  store: BackupStore.s3({ bucket: 'X', region: 'r', credentials: S3Credentials.fromSecret('s') }),
  command: BackupStore.command({ path: '/opt/store' }),
};

const mistakes: [Partial<EtcdRestoreProps>, string][] = [
  [{ source: RestoreSource.backup('A') }, "source: backup: 'A' is not a valid name of an EtcdBackup"],
  [{ source: RestoreSource.snapshot(s3, `${id}.db.zst`) }, 'is not a valid snapshot id: write it like etcd-snapshot-2'],
  [{ source: RestoreSource.snapshot(s3, `orders/${id}`) }, 'without folder and file extension'],
  [{ source: RestoreSource.key(s3, '/a.db') }, "source: key: '/a.db' is not a valid key of an object"],
  [
    { source: RestoreSource.snapshot(s3, id, { cluster: 'a/b' }) },
    "source: cluster: 'a/b' is not a valid name of a cluster",
  ],
  [{ source: RestoreSource.snapshot(wrong.store, id) }, "source: store: bucket: 'X' is not a valid bucket name"],
  [{ source: RestoreSource.snapshot(wrong.command, id) }, 'image: a command store needs image'],
  [{ identitySecret: 'A' }, "identitySecret: 'A' is not a valid name of a Secret"],
  [{ sha256: sha256.toUpperCase() }, 'is not a valid SHA-256: write its 64 hexadecimal digits'],
  [{ sha256: `sha256:${sha256}` }, 'is not a valid SHA-256'],
  [{ expectedRevision: 0 }, 'expectedRevision: 0 is too small: give at least 1'],
  [{ expectedRevision: 1.5 }, 'expectedRevision: 1.5 is not a whole number: round it'],
  [{ serviceAccountName: '' }, "serviceAccountName: '' is not a valid name of a ServiceAccount"],
  [{ image: 'a b' }, "image: 'a b' is not a valid image"],
];

test.each(mistakes)('%j: %s', (props, message) => {
  expect(restore(props).node.validate()).toEqual([expect.stringContaining(message)]);
});

test.each(mistakes)('the origin of a cluster: %j: %s', (props, message) => {
  const origin: ClusterOrigin = { source, ...props };
  const cluster = new EtcdCluster(chartOf(), 'orders', { origin });
  expect(cluster.node.validate()).toEqual([expect.stringMatching(/^origin: /)]);
  expect(cluster.node.validate()).toEqual([expect.stringContaining(message)]);
});

test.each([
  [{ name: 'Back' }, "name: 'Back' is not a valid Kubernetes name"],
  [{ name: 'n'.repeat(64) }, 'has 64 characters; use at most 63'],
])('%j: %s', (props, message) => {
  expect(restore(props).node.validate()).toEqual([expect.stringContaining(message)]);
});

test('a safety backup needs a schedule with a store', () => {
  const chart = chartOf();
  const problems = (more: Partial<EtcdRestoreProps>) =>
    new EtcdRestore(chart, `${more.safetyBackup}`, { cluster, source, ...more }).node.validate();
  const cluster = new EtcdCluster(chart, 'orders');
  expect(problems({})).toEqual([
    "safetyBackup: 'orders' has no backup schedule, so there is no store for the backup; add one, or set safetyBackup: false",
  ]);
  expect(problems({ safetyBackup: false })).toEqual([]);
  const imported = { clusterName: 'orders', clientEndpoints: ['orders-0-client:2379'] };
  expect(problems({ safetyBackup: true, cluster: EtcdCluster.fromAttributes(chart, 'i', imported) })).toEqual([]);
});

test('the reconciler does not restore an existing etcd cluster', () => {
  const cluster = new ExistingEtcdCluster(chartOf(), 'legacy', ['etcd:2379'], {});
  expect(restore({ cluster }).node.validate()).toEqual([
    "cluster: 'legacy' is an existing etcd cluster, not an EtcdCluster; restore it with `etcd-agent restore`, as docs/backups/restore.md describes",
  ]);
});

test('a cluster of another namespace cannot be named', () => {
  const cluster = clusterOf(new Chart(Testing.app(), 'b'));
  expect(restore({ cluster }).node.validate()).toEqual([
    expect.stringMatching(/^cluster: 'orders' is in a chart without a namespace, and a resource can only refer/),
  ]);
});

test('two cannot have one name, as the second would do nothing', () => {
  const each = restore({ name: 'same' });
  const cluster = clusterOf(Chart.of(each), 'carts');
  new EtcdRestore(Chart.of(each), 'again', { cluster, source, name: 'same' });
  expect(each.node.validate()).toEqual([expect.stringMatching(/^another restore of this chart is called 'same'/)]);
});

describe('a store with workload identity', () => {
  const annotations = { role: 'backup' };
  const credentials = S3Credentials.workloadIdentity({ serviceAccountAnnotations: annotations });
  const source = RestoreSource.snapshot(BackupStore.s3({ bucket: 'backups', credentials }), id);

  test('gets its ServiceAccount with a restore', () => {
    const each = restore({ source });
    const manifests: Manifest[] = Testing.synth(Chart.of(each));
    expect(manifests).toContainEqual(
      expect.objectContaining({
        kind: 'ServiceAccount',
        metadata: expect.objectContaining({ name: 'orders-back-restore', annotations }),
      }),
    );
    expect(manifestOf(each).spec).toMatchObject({ serviceAccountAnnotations: annotations });
  });

  test('needs one by name for the origin of a cluster', () => {
    const cluster = (origin: ClusterOrigin) => new EtcdCluster(chartOf(), 'orders', { origin }).node.validate();
    expect(cluster({ source })).toEqual([
      'origin: serviceAccountName: is missing; give a ServiceAccount with the annotations of the workload identity',
    ]);
    expect(cluster({ source, serviceAccountName: 'mine' })).toEqual([]);
  });
});
