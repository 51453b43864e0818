// Most volumes are lost. Nothing happens automatically; a person must request the recovery of a survivor's data.
import { setTimeout as sleep } from 'node:timers/promises';
import { memberIds } from './checks/facts.ts';
import { takeBackup, verifiedSnapshot } from './support/backups.ts';
import { followerOf, majorityLost, recovered, recovery } from './support/recovery.ts';
import { type Play, scenario } from './support/scenario.ts';
import { smoke } from './support/smoke.ts';

const spec = { schedule: 'nightly' };

/** Until a person acts, the members do not change. */
async function leftAlone(play: Play, ms = 5_000): Promise<void> {
  const { cluster } = play;
  const { epoch, members, tombstones, restores } = cluster.record()!;
  await sleep(ms);
  expect(cluster.record()).toMatchObject({ epoch, members, tombstones, restores });
  expect(cluster.condition('Available')?.status).toBe('False');
}

scenario('two of three lost, the survivor is up', { size: 3, tls: true, spec }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  await writer.more(100);
  const survivor = followerOf(play);
  await majorityLost(play, survivor);
  await leftAlone(play);
  const upSince = (await cluster.agent(survivor)).etcd?.upSince;
  expect(upSince).toBeDefined();

  // Without acceptDataLoss nothing happens either.
  await cluster.apply({ spec: recovery({ acceptDataLoss: false }) });
  await leftAlone(play, 3_000);
  expect((await cluster.agent(survivor)).etcd?.upSince).toBe(upSince);

  // For each of the four clients one write may be acknowledged that this follower had not received yet.
  expect(await recovered(play)).toBeLessThanOrEqual(8);
  expect(cluster.record()?.lastBackup?.id).toBeDefined();
});

if (!smoke) {
  scenario('two of three lost, the survivor was restarted', { size: 3, tls: false, spec }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    await writer.more(100);
    const survivor = followerOf(play);
    await majorityLost(play, survivor);
    const before = memberIds(cluster);
    await cluster.restartPod(survivor);
    await leftAlone(play);
    let bound = -1;
    const watching = setInterval(async () => {
      const { salvage } = await cluster.agent(survivor).catch(() => ({ salvage: undefined }));
      if (salvage) bound = salvage.lastIndex - salvage.commit;
    }, 100);
    try {
      const lost = await recovered(play);
      expect(bound).toBeGreaterThanOrEqual(0);
      // Writes that the survivor's log did not contain, and those that it did not know to be committed.
      expect(lost).toBeLessThanOrEqual(bound + 8);
    } finally {
      clearInterval(watching);
    }
    expect(Object.values(memberIds(cluster))).not.toContain(before[survivor]);
  });

  scenario('all volumes lost: held, until a restore is asked for', { size: 3, tls: true, spec }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const { id } = await takeBackup(cluster);
    await writer.more(50);
    const clusterId = writer.history.clusterIds.at(-1)!;
    await Promise.all([0, 1, 2].map((i) => cluster.loseVolume(i)));
    await cluster.until(() => cluster.condition('Stalled')?.reason === 'AllVolumesLost', 'Stalled AllVolumesLost');
    await leftAlone(play);
    await cluster.apply({ spec: recovery() });
    await leftAlone(play, 3_000);
    await play.converges('restored', async () => {
      await cluster.restore({ name: 'monday', source: { snapshotId: id } });
      const { revision } = await verifiedSnapshot(cluster);
      play.gaveUp({ clusterId, revision });
      await cluster.until(() => cluster.restoreNamed('monday')?.phase === 'Completed', 'monday is completed');
    });
    await writer.more(20);
  });

  scenario(
    'reconciler and gates are killed while a survivor is salvaged',
    { size: 3, tls: true, spec },
    async (play) => {
      const { cluster, writer } = play;
      await play.formed();
      await writer.more(50);
      const survivor = followerOf(play);
      await majorityLost(play, survivor);
      await cluster.restartPod(survivor);
      cluster.reconcilerCrashesAt('each');
      cluster.gateCrashesAt('each');
      await recovered(play, 300);
      for (const row of ['Recover', 'Salvage.permit', 'Recover.stored']) {
        expect(cluster.crashed).toEqual(expect.arrayContaining([`before ${row}`, `after ${row}`]));
      }
    },
  );

  scenario('the volumes come back before anybody decides', { size: 3, tls: false, spec }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const before = memberIds(cluster);
    await Promise.all([0, 1].map((i) => cluster.stopKubelet(i)));
    await cluster.until(() => cluster.condition('QuorumLost')?.status === 'True', 'QuorumLost');
    await leftAlone(play, 3_000);
    await play.converges('back', async () => {
      for (const ordinal of [0, 1]) cluster.startKubelet(ordinal);
      await cluster.until(() => cluster.condition('QuorumLost')?.status === 'False', 'a quorum answers');
    });
    expect(memberIds(cluster)).toEqual(before);
    expect(cluster.record()?.epoch).toBe(1);
    await writer.more(20);
  });
}
