import { RestoreSource, Retention } from '../../src';
import { MemberCluster } from './support/member-cluster';
import { backUp, playWithNightly } from './support/orders-backups';
import { askForRestore, restored } from './support/restored';
import type { S3 } from './support/s3';
import { slowTest } from './support/settings';
import { type Play, tell } from './watch/play';
import { RestoreWatch } from './watch/restore-watch';

let play: Play;
let s3: S3;
let snapshot: string;
beforeAll(async () => {
  ({ play, s3 } = await playWithNightly('restore', { retention: Retention.last(1) }));
});
afterAll(() => play?.end());

test('a backup of it goes to S3', async () => {
  await play.writesOn();
  snapshot = await backUp(play.namespace, 'orders', 'monday');
  await play.writesOn();
});

test('a snapshot other than the requested one: the restore fails, and the cluster keeps serving', async () => {
  const before = await play.client.facts();
  const { clusterId, epoch } = await play.cluster.record();
  const status = await restored(play, s3, { name: 'bad', snapshot, sha256: '0'.repeat(64) });
  expect(status).toMatchObject({ phase: 'Failed', reason: 'SnapshotRefused' });
  expect(await play.cluster.record()).toMatchObject({ clusterId, epoch });
  const { longestGap } = await play.client.facts(before.now);
  tell(`restore: a bad snapshot, longest write gap ${(longestGap / 1000).toFixed(1)} s`);
  expect(longestGap).toBeLessThan(5_000);
  await play.cluster.ready(3);
});

test('a missing Secret: reported in the words of Kubernetes, and withdrawn without a trace', async () => {
  const { clusterId, epoch } = await play.cluster.record();
  await askForRestore(play, s3, { name: 'no-secret', snapshot, secretName: 'nowhere' });
  const { phase, message } = await play.namespace.until('PodWaits', 60, async () => {
    const { status } = await play.namespace.get('etcdrestore', 'no-secret');
    return status?.reason === 'PodWaits' ? status : undefined;
  });
  expect(phase).toBe('Verifying');
  expect(message).toMatch(/FailedMount: .*secret "nowhere" not found.*; nothing has been changed yet$/);
  await play.writesOn();
  await play.namespace.kubectl(['delete', 'etcdrestore', 'no-secret', '--timeout=60s']);
  const record = await play.namespace.until('the operation to end', 60, async () => {
    const now = await play.cluster.record();
    return now.op === undefined ? now : undefined;
  });
  expect(record).toMatchObject({ clusterId, epoch });
  await play.cluster.ready(3);
});

test('in place, phase by phase; a watch from an old revision learns that it is compacted', async () => {
  using watch = new RestoreWatch(play.namespace, 'good');
  await play.converges('restored in place', 3, async () => {
    const status = await restored(play, s3, { name: 'good', snapshot, meanwhile: () => play.givesUp() });
    expect(status).toMatchObject({ phase: 'Completed', snapshotId: snapshot });
  });
  expect(watch.phases.join()).toMatch(
    /^(Pending,)?Verifying,BackingUp,(Fencing,)?Draining,Restoring,Regrowing,Completed$/,
  );
  const { compacted, clusterIds } = await play.client.facts();
  expect(compacted.length).toBeGreaterThan(0);
  expect(clusterIds).toHaveLength(2);
  const { stdout } = await play.namespace.kubectl(['get', 'etcdrestores']);
  expect(stdout).toMatch(new RegExp(`\\ngood +Completed +orders +${snapshot}`));
  // Its safety backup did not delete it, however strict the schedule's retention is.
  const beside = (await s3.files()).filter((file) => file.includes(snapshot));
  expect(beside).toContainEqual(expect.stringMatching(/\.restored-[0-9a-f]+\.json$/));
  expect(beside).toContainEqual(expect.stringContaining(`${snapshot}.json`));
});

slowTest('every volume lost: held, then restored from S3 and grown back to its size', async () => {
  await play.writesOn();
  snapshot = await backUp(play.namespace, 'orders', 'tuesday');
  await play.converges('every volume lost, and restored', 3, async () => {
    await play.cluster.loseVolumes(0, 1, 2);
    await play.namespace.until('Stalled', 240, async () => {
      const held = await play.cluster.condition('Stalled');
      return held?.reason === 'AllVolumesLost' ? held : undefined;
    });
    const status = await restored(play, s3, { name: 'all-lost', snapshot, meanwhile: () => play.givesUp() });
    expect(status).toMatchObject({ phase: 'Completed' });
  });
});

slowTest('a new cluster begins with the backup, beside the one that was backed up', async () => {
  const { epoch, clusterId } = await play.cluster.record();
  const source = RestoreSource.snapshot(s3.store(), snapshot, { cluster: 'orders' });
  const copy = await MemberCluster.create(play.namespace, { name: 'copy', props: { origin: { source } } });
  const begun = Date.now();
  await copy.apply();
  await copy.ready(3);
  tell(`restore: a new cluster of three from the backup ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  expect(await copy.etcdctl(['get', '--prefix', 'w/', '--keys-only', '--limit=1'])).toMatch(/^w\//);
  expect((await copy.record()).clusterId).not.toBe(clusterId);
  expect(await play.cluster.record()).toMatchObject({ epoch, clusterId });
});

test('nothing else that was acknowledged is lost, and each epoch is one cluster', () => play.ends(3));
