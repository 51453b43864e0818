import { Cron } from 'cdk8s';
import { BackupStore, EtcdClientTls, Retention } from '../../src';
import type { Manifest } from '../synth';
import { Etcd } from './support/etcd';
import { lastLogLine, type Outcome, outcomeOf, runAgent, runNow } from './support/jobs';
import { claim } from './support/manifests';
import { Namespace } from './support/namespace';
import { S3 } from './support/s3';
import { slowTest } from './support/settings';
import { newYear, schedule, synthesize } from './support/synthesis';

const mebibyte = 1024 ** 2;

let namespace: Namespace;
let etcd: Etcd;
let s3: S3;
/** Two schedules: one for runs by hand, into two stores, and one that fires every minute. */
let yaml: string;
beforeAll(async () => {
  namespace = await Namespace.create('backup');
  [etcd, s3] = await Promise.all([
    Etcd.start(namespace, { size: 3, clientSecret: 'etcd-client' }),
    S3.start(namespace),
    namespace.apply([claim('etcd-backup')]),
  ]);
  await etcd.fill('orders', 48);
  const foreign = {
    cluster: 'orders',
    endpoints: ['etcd-0.etcd:2379', 'etcd-1.etcd:2379', 'etcd-2.etcd:2379'],
    tls: EtcdClientTls.fromSecret('etcd-client'),
  };
  yaml = synthesize((chart) => {
    schedule(chart, 'nightly', {
      ...foreign,
      schedule: newYear,
      store: s3.store(),
      retention: Retention.last(1),
    }).addStore(BackupStore.filesystem({ claimName: 'etcd-backup', directory: 'nightly' }), {
      retention: Retention.last(2),
    });
    schedule(chart, 'minutely', {
      ...foreign,
      schedule: Cron.everyMinute(),
      store: BackupStore.filesystem({ claimName: 'etcd-backup', directory: 'minutely' }),
    });
  });
  await namespace.kubectl(['apply', '-f', '-'], yaml);
});
afterAll(() => namespace?.delete());

test('a second apply changes nothing', async () => {
  const diff = await namespace.kubectl(['diff', '-f', '-'], yaml);
  expect(diff.stdout).toBe('');
  const { stdout } = await namespace.kubectl(['apply', '-f', '-'], yaml);
  expect(stdout.trim().split('\n')).toEqual(Array(4).fill(expect.stringMatching(/ unchanged$/)));
});

test('more than 50 MiB are backed up by the default 100m CPU and 100Mi memory, into both stores', async () => {
  expect(await etcd.dbSize()).toBeGreaterThan(50 * mebibyte);
  const { succeeded, pods } = await runNow(namespace, 'nightly', 'first');
  expect([succeeded, pods]).toEqual([true, [expect.objectContaining({ exitCode: 0, reason: 'Completed' })]]);
  const [{ name, terminationMessage }] = pods as [(typeof pods)[0]];
  expect(await lastLogLine(namespace, name)).toBe(terminationMessage);
  const result = JSON.parse(terminationMessage);
  expect(result).toMatchObject({
    command: 'backup',
    ok: true,
    snapshot: { role: 'follower', endpoint: expect.stringMatching(/^https:\/\/etcd-\d\.etcd/) },
    stores: [{ verified: 'read' }, { verified: 'read' }],
  });
  expect(result.snapshot.sizeBytes).toBeGreaterThan(50 * mebibyte);
  console.info(`a backup of ${result.snapshot.sizeBytes} bytes took ${result.snapshot.seconds} s`);
});

test('the schedule fires by itself', async () => {
  const job = await namespace.until('a run of the schedule', 90, async () => {
    const { items } = await namespace.get('jobs');
    return items.find(({ metadata }: Manifest) => metadata.name.startsWith('minutely-'))?.metadata.name;
  });
  const { succeeded, pods } = await outcomeOf(namespace, job);
  expect([succeeded, pods]).toEqual([true, [expect.objectContaining({ exitCode: 0 })]]);
  await namespace.kubectl(['delete', 'cronjob', 'minutely']);
});

slowTest('each store keeps what its own retention says, whole', async () => {
  const { succeeded, pods } = await runNow(namespace, 'nightly', 'second');
  expect([succeeded, pods]).toEqual([true, [expect.objectContaining({ exitCode: 0 })]]);
  const older = snapshotOf(await outcomeOf(namespace, 'first'));
  const newest = snapshotOf({ pods });
  const key = `${namespace.name}/orders/${newest}`;
  expect((await s3.files()).sort()).toEqual([`${key}.db.zst`, `${key}.json`]);
  const args = ['verify', '--level=open'];
  const [inBucket, inVolume] = await Promise.all([
    runAgent(namespace, 'nightly', 'verify-bucket', { store: 0, args }),
    runAgent(namespace, 'nightly', 'verify-volume', { store: 1, args }),
  ]);
  const verified = (id: string) => expect.objectContaining({ id, level: 'open', outcome: 'verified' });
  expect(inBucket.snapshots).toEqual([verified(newest)]);
  expect(inVolume.snapshots).toEqual([verified(newest), verified(older)]);
});

function snapshotOf({ pods }: Pick<Outcome, 'pods'>): string {
  return JSON.parse(pods[0]!.terminationMessage).snapshot.id;
}
