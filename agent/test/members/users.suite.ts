// etcd's authentication is on: the writer is a user with rights over its keys only, the reconciler is root, and backups go
// through the agents. Everything that happens to a cluster happens to this one too.
import { etcdOf, type Minor } from '../harness/etcd-binaries.ts';
import { leaderOf, memberIds, tombstoned } from './checks/facts.ts';
import { takeBackup, verifiedSnapshot } from './support/backups.ts';
import { failingScenario, type Play, scenario } from './support/scenario.ts';

const users = { size: 3, tls: true, users: true } as const;

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

scenario('with users: 1, 3, 5, 3, 1 members', { ...users, size: 1 }, async (play) => {
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

scenario('with users: volumes lost by a follower, the leader, and ordinal 0', users, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const leader = leaderOf(cluster);
  const follower = [2, 1].find((i) => i !== leader)!;
  for (const [what, of] of [
    ['follower', () => follower] as const,
    ['leader', () => leaderOf(cluster)] as const,
    ['ordinal 0', () => 0] as const,
  ]) {
    const ordinal = of();
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

for (const [from, to] of [
  ['3.5', '3.6'],
  ['3.6', '3.7'],
] as const satisfies readonly (readonly [Minor, Minor])[]) {
  scenario(`with users: ${from} → ${to}`, { ...users, minor: from }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const before = memberIds(cluster);
    await play.converges(`on ${to} in`, async () => {
      await cluster.apply({ version: etcdOf(to).version });
      await cluster.until(() => cluster.record()?.versions.current === to, `the cluster version is ${to}`, 300);
    });
    await writer.more(20);
    expect(memberIds(cluster)).toEqual(before);
    await isOn(play);
    await backedUp(play);
  });
}

scenario('with users: certificates replaced', users, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const since = writer.now;
  await cluster.replaceCertificates();
  await writer.more(50);
  expect(play.missed(since)).toEqual([]);
  await backedUp(play);
  await isOn(play);
});

// Restores refuse a snapshot with authentication on, until they know that the cluster has a certificate of root.
failingScenario('with users: restored in place', { ...users, spec: { schedule: 'nightly' } }, async (play) => {
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
