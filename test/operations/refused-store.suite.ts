import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdRestore, EtcdVersion, RestoreSource } from '../../src';
import { MemberCluster } from '../e2e/support/member-cluster';
import { Namespace } from '../e2e/support/namespace';
import { addNightly } from '../e2e/support/orders-backups';
import { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import { applyCrds } from '../e2e/watch/play';

const bucket = 'not-made-yet';
const time = new Date().toISOString();

let namespace: Namespace;
let cluster: MemberCluster;
let s3: S3;
let asksForRestore = false;
beforeAll(async () => {
  await applyCrds();
  namespace = await Namespace.create('refused-store');
  s3 = await S3.start(namespace);
  cluster = await MemberCluster.create(namespace, {
    props: { version: EtcdVersion.of('3.6.16') },
    shape: (parts) => {
      addNightly(parts.cluster, s3.store({ bucket }));
      if (!asksForRestore) return;
      const source = RestoreSource.latestVerifiedBefore(s3.store({ bucket }), time);
      new EtcdRestore(parts.chart, 'back', { name: 'back', cluster: parts.cluster, source });
    },
  });
  await cluster.apply({ size: 1 });
  await cluster.ready(1);
});
afterAll(() => namespace?.delete());

const jobUid = async (): Promise<string> => (await namespace.get('job', `${cluster.name}-pre-upgrade`)).metadata.uid;

slowTest('an upgrade waits for a person: its Job is not made again by time', async () => {
  await cluster.apply({ version: EtcdVersion.of('3.7.3') });
  const { message } = await namespace.until('its end', 120, async () => {
    const found = await cluster.condition('Stalled');
    return found?.reason === 'UpgradeRefused' ? found : undefined;
  });
  expect(message).toContain(`correct that, then delete Job ${cluster.name}-pre-upgrade`);
  const before = await jobUid();
  // What time may cure is tried again after five minutes.
  await sleep(330_000);
  expect(await jobUid()).toBe(before);
  expect(await cluster.condition('Stalled')).toMatchObject({ status: 'True', message });
});

slowTest('an EtcdRestore ends, and says that the store refuses it', async () => {
  asksForRestore = true;
  await cluster.apply();
  const { status } = await namespace.until('its end', 120, async () => {
    const found = await namespace.get('etcdrestore', 'back');
    return found.status?.phase === 'Failed' ? found : undefined;
  });
  expect(status).toMatchObject({ reason: 'StoreRefused', message: expect.stringContaining('NoSuchBucket') });
  // The upgrade waits as before, and says so.
  expect(await cluster.condition('Stalled')).toMatchObject({ status: 'True', reason: 'UpgradeRefused' });
  expect(await cluster.condition('Progressing')).toMatchObject({ status: 'False', reason: 'Idle' });
});

slowTest('what its message says is what cures it', async () => {
  await namespace.kubectl(['exec', 's3-0', '-c', 'shell', '--', 'mkdir', `/data/${bucket}`]);
  await namespace.kubectl(['delete', 'job', `${cluster.name}-pre-upgrade`]);
  await cluster.ready(1);
  expect((await namespace.get('etcdcluster', cluster.name)).status).toMatchObject({ minVersion: '3.7.3' });
  expect(await cluster.condition('Stalled')).toMatchObject({ status: 'False' });
});
