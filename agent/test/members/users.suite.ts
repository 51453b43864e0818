// etcd's authentication is on: the writer is a user with rights over its keys only, the reconciler is root, and backups go
// through the agents. Everything that happens to a cluster happens to this one too.
import { etcdOf, type Minor } from '../harness/etcd-binaries.ts';
import { leaderOf, memberIds, stoppedLeaders, tombstoned } from './checks/facts.ts';
import { takeBackup, verifiedSnapshot } from './support/backups.ts';
import { followerOf, majorityLost, recovered } from './support/recovery.ts';
import { fullScenario, type Play, scenario } from './support/scenario.ts';
import { some } from './support/smoke.ts';

const users = { size: 3, tls: true, users: true } as const;
const spec = { schedule: 'nightly' };

/** Authentication is on: the writer's certificate reads its own keys, and no others. */
async function isOn({ cluster, writer }: Play): Promise<void> {
  const client = cluster.client();
  expect(await client.etcdctl('user', 'list')).toBe('client\nroot\n');
  const own = cluster.clientOfUser();
  await expect(own.etcdctl('get', `${writer.prefix}none`)).resolves.toBe('');
  await expect(own.etcdctl('get', 'other')).rejects.toThrow(/permission denied/);
}

async function backedUp({ cluster }: Play): Promise<string> {
  const { id } = await takeBackup(cluster);
  return id;
}

fullScenario('with users: 1, 3, 5, 3, 1 members', { ...users, size: 1 }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  await isOn(play);
  for (const size of [3, 5, 3, 1]) {
    await play.converges(`to ${size}`, () => cluster.apply({ spec: { size } }));
    await writer.more(20);
    expect(Object.keys(memberIds(cluster))).toEqual(Array.from({ length: size }, (_, i) => String(i)));
    await backedUp(play);
  }
  await isOn(play);
});

type Lost = 'a follower' | 'the leader' | 'ordinal 0';
const lost = some<Lost>(['a follower', 'the leader', 'ordinal 0'], ['the leader']);

scenario(`with users: volumes lost by ${lost.join(', ')}`, users, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const ordinalOf = {
    'a follower': () => [2, 1].find((i) => i !== leaderOf(cluster))!,
    'the leader': () => leaderOf(cluster),
    'ordinal 0': () => 0,
  };
  for (const what of lost) {
    const ordinal = ordinalOf[what]();
    const before = memberIds(cluster)[ordinal];
    await play.converges(`${what} replaced`, async () => {
      await cluster.loseVolume(ordinal);
      await cluster.until(() => cluster.record()?.members[ordinal]?.memberId !== before, 'the member is removed');
    });
    expect(tombstoned(cluster)).toContain(before);
    await writer.more(20);
  }
  await isOn(play);
  await backedUp(play);
});

type Path = readonly [from: Minor, to: Minor];
const to37: Path = ['3.6', '3.7'];

for (const [from, to] of some<Path>([['3.5', '3.6'], to37], [to37])) {
  scenario(`with users: ${from} → ${to}`, { ...users, minor: from }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const before = memberIds(cluster);
    const since = writer.now;
    await play.converges(`on ${to} in`, async () => {
      await cluster.apply({ version: etcdOf(to).version });
      await cluster.until(() => cluster.record()?.versions.current === to, `the cluster version is ${to}`, 300);
    });
    await writer.more(20);
    expect(play.untaken(since)).toEqual([]);
    expect(memberIds(cluster)).toEqual(before);
    expect(stoppedLeaders(cluster)).toEqual([]);
    await isOn(play);
    await backedUp(play);
  });
}

fullScenario('with users: certificates replaced', users, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const since = writer.now;
  await cluster.replaceCertificates();
  await writer.more(50);
  expect(play.missed(since)).toEqual([]);
  await backedUp(play);
  await isOn(play);
});

scenario('with users: restored in place', { ...users, spec }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const snapshotId = await backedUp(play);
  await writer.more(100);
  const clusterId = writer.history.clusterIds.at(-1)!;
  await play.converges('restored', async () => {
    await cluster.restore({ name: 'monday', source: { snapshotId } });
    const { revision } = await verifiedSnapshot(cluster);
    play.gaveUp({ clusterId, revision });
    await cluster.until(() => cluster.restoreNamed('monday')?.phase !== undefined, 'it is over');
  });
  expect(cluster.restoreNamed('monday')).toMatchObject({ phase: 'Completed' });
  await writer.more(20);
  await isOn(play);
  await backedUp(play);
});

for (const state of ['is up', 'was restarted'] as const) {
  fullScenario(`with users: two of three lost, the survivor ${state}`, { ...users, spec }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    await writer.more(100);
    const survivor = followerOf(play);
    await majorityLost(play, survivor);
    if (state === 'was restarted') await cluster.restartPod(survivor);
    await recovered(play);
    await isOn(play);
    await backedUp(play);
  });
}
