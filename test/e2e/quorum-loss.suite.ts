import { setTimeout as sleep } from 'node:timers/promises';
import { playWithNightly } from './orders-backups';
import type { Play } from './play';
import { slowTest } from './settings';

const survivor = 0;

let play: Play;
beforeAll(async () => {
  ({ play } = await playWithNightly('quorum-loss'));
});
afterAll(() => play?.end());

const uidOf = async (ordinal: number): Promise<string> =>
  (await play.namespace.get('pod', play.cluster.pod(ordinal))).metadata.uid;

/** A person looks at it first. Nothing of the members changes meanwhile, and the survivor is not restarted. */
async function majorityLost(): Promise<void> {
  const before = await uidOf(survivor);
  const { epoch, members, tombstones } = await play.cluster.record();
  await play.cluster.loseVolumes(1, 2);
  await play.namespace.until('the loss to be told', 180, async () => {
    const condition = await play.cluster.condition('QuorumLost');
    return condition?.reason === 'MajorityVolumesLost' ? condition : undefined;
  });
  await sleep(10_000);
  expect(await play.cluster.record()).toMatchObject({ epoch, members, tombstones });
  expect(await uidOf(survivor)).toBe(before);
  expect((await play.cluster.condition('Available'))?.status).toBe('False');
}

/** By apply alone, with the word that the newest writes may be lost. */
async function recover(what: string, id: string): Promise<void> {
  await play.converges(what, 3, async () => {
    await play.cluster.apply({ recovery: { id, acceptDataLoss: true } });
    await play.givesUp();
    await play.namespace.until('the end of the recovery', 240, async () => {
      const { lastRecoveryId } = await play.cluster.record();
      return lastRecoveryId === id ? id : undefined;
    });
  });
}

slowTest('two of three volumes lost: it is told, and nobody touches what is left', majorityLost);

slowTest('recovered from the survivor, which runs', () => recover('recovered from a running survivor', 'first'));

slowTest('lost again, and the survivor was restarted meanwhile: recovered from its volume', async () => {
  await majorityLost();
  const before = await uidOf(survivor);
  await play.cluster.deletePods(survivor);
  await play.namespace.until('another pod', 60, async () => {
    const uid = await uidOf(survivor).catch(() => before);
    return uid === before ? undefined : uid;
  });
  await recover('recovered from a survivor that was restarted', 'second');
});

slowTest('nothing is lost but what was given up, and each epoch was one cluster', () => play.ends(3));
