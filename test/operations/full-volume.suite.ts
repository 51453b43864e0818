import { setTimeout as sleep } from 'node:timers/promises';
import { Size } from 'cdk8s';
import { ReplacePolicy } from '../../src';
import { Play, tell } from '../e2e/watch/play';
import { Ballast } from './support/ballast';
import { overwrite } from './support/fill';
import { sizedStorageClass, sizedTest } from './support/sized-storage';

const all = [0, 1, 2];
const volume = { size: Size.gibibytes(2), storageClass: sizedStorageClass };

let play: Play;
let ballasts: Ballast[];
beforeAll(async () => {
  play = await Play.begin('full-volume', { users: true, props: { volume } });
  ballasts = await Promise.all(all.map((ordinal) => Ballast.beside(play.namespace, play.cluster, ordinal)));
});
afterAll(() => play?.end());

const until = (type: string, reason: string) =>
  play.namespace.until(`${type} to say ${reason}`, 180, async () => {
    const condition = await play.cluster.condition(type);
    return condition?.status === 'True' && condition.reason === reason ? condition : undefined;
  });

/** Id of the container, which differs for each run of etcd. Undefined while it waits for the next run. */
async function run(ordinal: number): Promise<number | undefined> {
  const { status } = await play.namespace.get('pod', play.cluster.pod(ordinal));
  const [{ state, restartCount }] = status.containerStatuses;
  return state.running && restartCount;
}

/** The space that etcd reserves for its log becomes free when it ends, and is filled again. */
async function fillUntilEnded(...ordinals: number[]): Promise<void> {
  const fill = () => Promise.all(ordinals.map((ordinal) => ballasts[ordinal]!.fill()));
  const runs = () => Promise.all(ordinals.map(run));
  const before = await runs();
  await fill();
  await play.namespace.until('etcd to end', 120, async () => {
    await overwrite(play.cluster, 10, 2);
    const now = await runs();
    return now.every((each, index) => each !== before[index]) ? now : undefined;
  });
  await fill();
}

const drop = () => Promise.all(ballasts.map((ballast) => ballast.drop()));

sizedTest(
  'one volume is full: the status says so, etcd ends there, and writes go on; with space it is the same member',
  async () => {
    const before = await play.cluster.memberIds();
    const since = Date.now();
    await play.converges('one volume full, and emptied', 3, async () => {
      await ballasts[1]!.fill();
      await until('Degraded', 'DiskPressure');
      await fillUntilEnded(1);
      await until('Degraded', 'DiskFull');
      await play.writesOn();
      await drop();
    });
    expect(await play.cluster.memberIds()).toEqual(before);
    tell(`full-volume: told ${(await play.cluster.told(since)).join(', ')}`);
  },
);

sizedTest('all volumes are full at once: writes stop, nothing is removed, and with space all is there', async () => {
  const before = await play.cluster.memberIds();
  const { members, tombstones, epoch } = await play.cluster.record();
  const since = Date.now();
  await play.converges('all volumes full, and emptied', 3, async () => {
    await fillUntilEnded(...all);
    await until('QuorumLost', 'MajorityDown');
    await sleep(5_000);
    expect(await play.cluster.record()).toMatchObject({ members, tombstones, epoch });
    await drop();
  });
  expect(await play.cluster.memberIds()).toEqual(before);
  tell(`full-volume: told ${(await play.cluster.told(since)).join(', ')}`);
});

sizedTest('one volume is full for good: its member is replaced on request, with another volume', async () => {
  const before = await play.cluster.memberIds();
  const memberId = before[1]!;
  await play.converges('one volume full, and replaced', 3, async () => {
    await fillUntilEnded(1);
    await ballasts[1]!.leave();
    await play.cluster.apply({ replace: ReplacePolicy.onVolumeLoss({ ordinal: 1, memberId, discardVolume: true }) });
    await play.cluster.replaced(1, memberId);
  });
  const now = await play.cluster.memberIds();
  expect([now[0], now[2]]).toEqual([before[0], before[2]]);
});

sizedTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
