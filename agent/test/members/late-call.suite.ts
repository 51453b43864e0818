// A reconciler that lost its lease executes one more effect, long after its successor has done the same.
import { memberIds } from './checks/facts.ts';
import { type Play, scenario } from './support/scenario.ts';

/** The old one pauses at the point while something happens. Its late effect must change nothing. */
async function late(play: Play, point: string, work: () => Promise<unknown>): Promise<void> {
  const { cluster, writer } = play;
  let carryOut: (() => Promise<void>) | undefined;
  await play.converges(`without "${point}"`, async () => {
    const taken = cluster.supersedeReconciler(point);
    await work();
    carryOut = await taken;
  });
  const before = [memberIds(cluster), cluster.record()?.tombstones.length];
  await play.converges('after it came late', () => carryOut!());
  await writer.more(20);
  expect([memberIds(cluster), cluster.record()?.tombstones.length]).toEqual(before);
}

scenario('late calls of a reconciler that lost its lease', { size: 3, tls: false }, async (play) => {
  const { cluster } = play;
  await play.formed();
  await late(play, 'before Remove.call', () => cluster.loseVolume(1));
  await late(play, 'before AddLearner.call', () => cluster.loseVolume(2));
  await late(play, 'before Promote.call', () => cluster.loseVolume(1));
  await late(play, 'before RemoveDead', () => cluster.loseVolume(2));
  await late(play, 'before RestartPod.call', () => cluster.apply({ etcd: { 'snapshot-count': 5000 } }));
});
