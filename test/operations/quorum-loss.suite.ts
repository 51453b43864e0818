import { setTimeout as sleep } from 'node:timers/promises';
import { backUp, playWithNightly } from '../e2e/support/orders-backups';
import { restored } from '../e2e/support/restored';
import type { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import type { Play } from '../e2e/watch/play';
import { majorityLossTold, recover } from './support/survivor-recovery';

const survivor = 0;

let play: Play;
let s3: S3;
beforeAll(async () => {
  ({ play, s3 } = await playWithNightly('quorum-loss', { users: true }));
});
afterAll(() => play?.end());

const uidOf = async (ordinal: number): Promise<string> =>
  (await play.namespace.get('pod', play.cluster.pod(ordinal))).metadata.uid;

/** Until a person acts, the members do not change, and the survivor is not restarted. */
async function majorityLost(): Promise<void> {
  const before = await uidOf(survivor);
  const { epoch, members, tombstones } = await play.cluster.record();
  await play.cluster.loseVolumes(1, 2);
  await majorityLossTold(play);
  await sleep(10_000);
  expect(await play.cluster.record()).toMatchObject({ epoch, members, tombstones });
  expect(await uidOf(survivor)).toBe(before);
  expect((await play.cluster.condition('Available'))?.status).toBe('False');
}

slowTest('two of three volumes lost: the status says so, and nobody touches what is left', majorityLost);

slowTest('recovered from the survivor, which runs', () => recover(play, 'recovered from a running survivor', 'first'));

slowTest('lost again, and the survivor was restarted meanwhile: recovered from its volume', async () => {
  await majorityLost();
  const before = await uidOf(survivor);
  await play.cluster.deletePods(survivor);
  await play.namespace.until('another pod', 60, async () => {
    const uid = await uidOf(survivor).catch(() => before);
    return uid === before ? undefined : uid;
  });
  await recover(play, 'recovered from a survivor that was restarted', 'second');
});

slowTest('lost a third time: restored from the newest backup, whatever the survivor has', async () => {
  const snapshot = await backUp(play.namespace, 'orders', 'nightly');
  await play.writesOn();
  await majorityLost();
  const before = await play.cluster.record();
  await play.converges('recovered from a backup', 3, async () => {
    const status = await restored(play, s3, { name: 'newest', snapshot, meanwhile: () => play.givesUp() });
    expect(status).toMatchObject({ phase: 'Completed', snapshotId: snapshot });
  });
  expect(await play.cluster.record()).toMatchObject({ epoch: before.epoch + 1 });
});

slowTest('nothing is lost but what was given up, and each epoch was one cluster', () => play.ends(3));
