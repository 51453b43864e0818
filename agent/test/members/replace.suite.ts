// A follower, the leader or the seed loses its volume, before or after it was used; an old volume returns.
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalCluster } from '../local/cluster.ts';
import { asides, leaderOf, memberIds, seedPermits, tombstoned } from './checks/facts.ts';
import { fullScenario, type Play, scenario } from './support/scenario.ts';
import { smoke } from './support/smoke.ts';

/** Loses a volume, and waits for the replacement member. */
async function replaced(play: Play, ordinal: number, what: string): Promise<void> {
  const { cluster } = play;
  const before = memberIds(cluster);
  await play.converges(what, async () => {
    await cluster.loseVolume(ordinal);
    await cluster.until(
      () => cluster.record()?.members[ordinal]?.memberId !== before[ordinal],
      'the member is removed',
    );
  });
  const now = memberIds(cluster);
  expect(now[ordinal]).not.toBe(before[ordinal]);
  expect(tombstoned(cluster)).toContain(before[ordinal]);
  expect(Object.keys(now)).toEqual(Object.keys(before));
}

scenario('volumes lost by a follower, the leader, and ordinal 0', { size: 3, tls: true }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const leader = leaderOf(cluster);
  await replaced(play, [2, 1].find((i) => i !== leader)!, 'follower replaced');
  await writer.more(20);
  await replaced(play, leaderOf(cluster), 'leader replaced');
  await writer.more(20);
  await replaced(play, 0, 'ordinal 0 replaced');
  await writer.more(20);
  expect(seedPermits(cluster)).toBe(1);
});

fullScenario('the volume of a removed member comes back', { size: 3, tls: false }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const kept = await mkdtemp(join(tmpdir(), 'volume-'));
  try {
    await cluster.stopKubelet(1);
    await cp(cluster.volume(1), kept, { recursive: true });
    cluster.startKubelet(1);
    await cluster.settled();
    await replaced(play, 1, 'replaced');
    const before = memberIds(cluster);
    await play.converges('the old volume set aside', async () => {
      await cluster.stopKubelet(1);
      const volume = cluster.volume(1);
      cluster.lostVolumes.push(volume);
      await rm(volume, { recursive: true });
      await cp(kept, volume, { recursive: true });
      cluster.startKubelet(1);
      await cluster.until(() => cluster.record()?.members[1]?.memberId !== before[1], 'the member is replaced');
    });
    expect(asides(cluster.volume(1))).toHaveLength(1);
    await writer.more(20);
  } finally {
    await rm(kept, { recursive: true });
  }
});

fullScenario('a volume is wiped when its permit was given', { size: 3, tls: true }, async (play) => {
  const { cluster } = play;
  await cluster.until(() => cluster.record()?.permits[1] !== undefined, 'a permit for ordinal 1');
  await cluster.loseVolume(1);
  await play.formed();
  expect(seedPermits(cluster)).toBe(1);
});

// Its pod was never ready, so no client of the Service has written to it.
scenario(
  'the seed is wiped before it was seen to serve',
  { size: 3, tls: false, patientWriter: true },
  async (play) => {
    const { cluster } = play;
    cluster.reconcilerCrashesAt(['before MarkSeeded']);
    await cluster.until(() => cluster.crashed.includes('before MarkSeeded'), 'the seed serves');
    await cluster.stopReconciler();
    const { token } = cluster.record()!;
    await cluster.loseVolume(0);
    cluster.startReconciler();
    await play.formed();
    expect(cluster.record()?.epoch).toBe(2);
    expect(cluster.record()?.token).not.toBe(token);
  },
);

if (!smoke) {
  scenario('a data directory is wiped under a member', { size: 3, tls: false }, async (play) => {
    const { cluster } = play;
    await play.formed();
    const before = memberIds(cluster);
    for (const all of [true, false]) {
      await play.converges(all ? 'volume emptied' : 'data emptied', async () => {
        const was = memberIds(cluster);
        await cluster.wipeData(2, { all });
        await cluster.until(() => cluster.record()?.members[2]?.memberId !== was[2], 'the member is replaced');
      });
    }
    expect(memberIds(cluster)[2]).not.toBe(before[2]);
  });

  test('the seed is wiped after it served alone: the cluster is held, and no second one begins', async () => {
    await using cluster = await LocalCluster.start({ size: 1 });
    await cluster.settled();
    const { epoch, token } = cluster.record()!;
    await cluster.loseVolume(0);
    await cluster.until(() => cluster.condition('Stalled')?.status === 'True', 'Stalled is true');
    expect(cluster.condition('Stalled')?.reason).toMatch(/^(SeedLost|AllVolumesLost)$/);
    expect(cluster.record()).toMatchObject({ epoch, token });
    expect((await cluster.agent(0)).state).toBe('WaitPermit');
  });
}
