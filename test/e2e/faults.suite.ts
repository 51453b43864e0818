import { BackupStore, type EtcdBackupScheduleProps } from '../../src';
import type { Manifest } from '../synth';
import { Etcd } from './support/etcd';
import { outcomeOf, runAgent, runNow, startNow } from './support/jobs';
import { claim } from './support/manifests';
import { Namespace } from './support/namespace';
import { filesOfClaim } from './support/pods';
import { S3 } from './support/s3';
import { slowTest } from './support/settings';
import { newYear, schedule, synthesize } from './support/synthesis';
import { PodWatch } from './watch/pod-watch';

const volume = BackupStore.filesystem({ claimName: 'backups' });

let namespace: Namespace;
let etcd: Etcd;
let s3: S3;
beforeAll(async () => {
  namespace = await Namespace.create('faults');
  [etcd, s3] = await Promise.all([
    Etcd.start(namespace, { size: 1 }),
    S3.start(namespace),
    namespace.apply([claim('backups')]),
  ]);
});
afterAll(() => namespace?.delete());

async function applySchedule(
  name: string,
  props: Partial<EtcdBackupScheduleProps>,
  ...more: BackupStore[]
): Promise<void> {
  const valid = { cluster: 'orders', endpoints: ['etcd-0.etcd:2379'], schedule: newYear, store: volume };
  const yaml = synthesize((chart) => {
    const made = schedule(chart, name, { ...valid, ...props });
    for (const store of more) made.addStore(store);
  });
  await namespace.kubectl(['apply', '-f', '-'], yaml);
}

test('a missing bucket fails the Job at the first attempt, and the pod names it with a remedy', async () => {
  await applySchedule('bucket', { store: s3.store({ bucket: 'not-there' }) });
  const { succeeded, reason, pods } = await runNow(namespace, 'bucket', 'bucket-now');
  expect([succeeded, reason]).toEqual([false, 'PodFailurePolicy']);
  expect(pods).toEqual([expect.objectContaining({ exitCode: 21 })]);
  expect(JSON.parse(pods[0]!.terminationMessage)).toMatchObject({
    ok: false,
    exitCode: 21,
    error: expect.stringMatching(/^s3:\/\/not-there.*the bucket does not exist; create it/),
  });
});

slowTest('an etcd that is not there is tried again', async () => {
  await applySchedule('nowhere', { endpoints: ['etcd-7.etcd:2379'], retries: 1 });
  const { succeeded, reason, pods } = await runNow(namespace, 'nowhere', 'nowhere-now');
  expect([succeeded, reason]).toEqual([false, 'BackoffLimitExceeded']);
  expect(pods.map(({ exitCode }) => exitCode)).toEqual([10, 10]);
  for (const { terminationMessage } of pods) {
    expect(JSON.parse(terminationMessage).error).toMatch(/etcd-7\.etcd:2379/);
  }
});

slowTest('a pod deleted in the middle ends with 143, is replaced at no try’s cost, and leaves no rests', async () => {
  await etcd.fill('filler', 32);
  await applySchedule('drained', { store: s3.store(), retries: 0 }, volume);
  using watch = new PodWatch(namespace, 'drained-now');
  await startNow(namespace, 'drained', 'drained-now');
  const deleted = await namespace.until('the snapshot’s stream', 120, streamingPod);
  await namespace.kubectl(['delete', 'pod', deleted, '--wait=false']);

  const { succeeded, pods } = await outcomeOf(namespace, 'drained-now');
  expect([succeeded, pods]).toEqual([true, [expect.objectContaining({ exitCode: 0 })]]);
  expect(Object.fromEntries(watch.exitCodes)).toEqual({ [deleted]: 143, [pods[0]!.name]: 0 });
  const { id } = JSON.parse(pods[0]!.terminationMessage).snapshot;
  const whole = ['db.zst', 'json'].map((ending) => `${namespace.name}/orders/${id}.${ending}`);
  expect((await s3.files()).sort()).toEqual(whole);
  expect((await filesOfClaim(namespace, 'backups')).sort()).toEqual(whole);
  const verified = await runAgent(namespace, 'drained', 'verify', { store: 0, args: ['verify'] });
  expect(verified.snapshots).toEqual([expect.objectContaining({ id, outcome: 'verified' })]);
});

/** The first try's pod, once it streams. */
async function streamingPod(): Promise<string | undefined> {
  const { items } = await namespace.get('pods', '--selector=job-name=drained-now');
  const running = items.find(({ status }: Manifest) => status.phase === 'Running')?.metadata.name;
  if (!running) return undefined;
  const { stdout } = await namespace.kubectl(['logs', running]);
  return stdout.includes('"phase":"stream"') ? running : undefined;
}
