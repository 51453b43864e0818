import { leaderOf } from '../checks/facts.ts';
import { acknowledged } from '../checks/history.ts';
import { logsWith, tokenOf, verifiedSnapshot } from './backups.ts';
import type { Play } from './scenario.ts';

export const recovery = (change: object = {}) => ({
  recovery: { id: 'r1', acceptDataLoss: true, ...change },
});

/** Loses the volumes of two of three members, and waits until the status reports it. Nothing repairs them. */
export async function majorityLost(play: Play, survivor: number): Promise<void> {
  const { cluster } = play;
  await Promise.all([0, 1, 2].filter((i) => i !== survivor).map((i) => cluster.loseVolume(i)));
  await cluster.until(() => cluster.condition('QuorumLost')?.status === 'True', 'QuorumLost');
}

/** Number of acknowledged writes that the recovery did not restore. */
export async function recovered(play: Play, seconds?: number): Promise<number> {
  const { cluster, writer } = play;
  const clusterId = writer.history.clusterIds.at(-1)!;
  let lost = 0;
  let token = '';
  await play.converges('recovered', async () => {
    await cluster.apply({ spec: recovery() });
    const { revision } = await verifiedSnapshot(cluster, seconds);
    play.gaveUp({ clusterId, revision });
    token = tokenOf(cluster);
    const writes = acknowledged(writer.history.writes).filter((write) => write.clusterId === clusterId);
    lost = writes.filter((write) => write.revision > revision).length;
    await cluster.until(() => cluster.record()?.lastRecoveryId === 'r1', 'the seed is restored', seconds);
    play.notes.push(`${lost} acknowledged writes lost`);
  });
  expect(logsWith(cluster, token)).toEqual([]);
  expect(cluster.record()).toMatchObject({ lastRecoveryId: 'r1', restores: [{ id: 'recovery:r1' }] });
  expect(cluster.record()?.clusterId).not.toBe(clusterId);
  await writer.more(20);
  return lost;
}

export const followerOf = (play: Play): number => [0, 1, 2].find((i) => i !== leaderOf(play.cluster))!;
