// What spec.maintenance asks for: databases that shrink, and another leader, once each, under writes.
import { openVoters } from './checks/member-view.ts';
import { compact, overwrite } from './support/fill.ts';
import { asked } from './support/maintenance.ts';
import { fullScenario, type Play, scenario } from './support/scenario.ts';

const mebibyte = 1024 ** 2;
const written = 40;

async function seen({ cluster }: Play): Promise<{ leader: string; sizes: number[] }> {
  const voters = await openVoters(cluster);
  for (const voter of voters) voter[Symbol.dispose]();
  return { leader: voters[0]!.status.leader, sizes: voters.map(({ status }) => status.dbSize) };
}

const ordinalOf = ({ cluster }: Play, memberId: string): number =>
  Number(Object.entries(cluster.record()!.members).find(([, member]) => member.memberId === memberId)![0]);

scenario('the leader moves to the member that is asked for, once', { size: 3, tls: true }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const leader = ordinalOf(play, (await seen(play)).leader);
  const [first, second] = [0, 1, 2].filter((ordinal) => ordinal !== leader);
  const since = writer.now;
  expect(await asked(cluster, 'moveLeader', { ordinal: first! })).toMatchObject({ phase: 'Completed' });
  expect(ordinalOf(play, (await seen(play)).leader)).toBe(first);
  expect(await asked(cluster, 'moveLeader', { ordinal: second! })).toMatchObject({ phase: 'Completed' });
  const before = cluster.record()!.rev;
  // The request stays in the spec, and a restart of the reconciler does not repeat it.
  await cluster.stopReconciler();
  cluster.startReconciler();
  await writer.more(30);
  await cluster.settled();
  expect(cluster.record()!.rev).toBe(before);
  expect(play.untaken(since)).toEqual([]);
});

scenario(
  'every database shrinks, the leader’s last, without a restart and without a failed write',
  { size: 3, tls: false },
  async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    await overwrite(cluster, written);
    await compact(cluster);
    const pids = [0, 1, 2].map((ordinal) => cluster.pod(ordinal).etcdPid);
    const before = await seen(play);
    for (const size of before.sizes) expect(size).toBeGreaterThan(written * mebibyte);
    const since = writer.now;
    const done = await asked(cluster, 'defragment');
    expect(done).toMatchObject({ phase: 'Completed' });
    for (const size of (await seen(play)).sizes) expect(size).toBeLessThan((written / 2) * mebibyte);
    const pods = [...done.message.matchAll(/([\w-]+): \S+ \w+ to /g)].map(([, pod]) => pod);
    expect(pods).toHaveLength(3);
    expect(pods.at(-1)).toMatch(new RegExp(`-${ordinalOf(play, before.leader)}$`));
    expect([0, 1, 2].map((ordinal) => cluster.pod(ordinal).etcdPid)).toEqual(pids);
    await writer.more(20);
    expect(play.untaken(since)).toEqual([]);
    // etcd does not elect: the leader gave up its role before.
    expect(cluster.status().lastOperation).toMatchObject({ type: 'Defragmenting', outcome: 'Completed' });
  },
);

fullScenario('what cannot begin fails, and what is paused waits', { size: 3, tls: false }, async (play) => {
  const { cluster } = play;
  await play.formed();
  expect(await asked(cluster, 'moveLeader', { ordinal: 6 })).toMatchObject({
    phase: 'Failed',
    message: expect.stringContaining('is not a voting member'),
  });
  expect(await asked(cluster, 'defragment', { ago: 2 * 3_600_000 })).toMatchObject({
    phase: 'Failed',
    message: expect.stringContaining('could not begin in time'),
  });
  await cluster.apply({ spec: { paused: true } });
  const waits = asked(cluster, 'defragment', { ordinal: 1 });
  const reported = () => cluster.status().maintenance?.defragment;
  await cluster.until(() => reported()?.phase === 'Waiting', 'it waits');
  expect(reported()!.message).toBe('the cluster is paused');
  await cluster.apply({ spec: { paused: false } });
  expect(await waits).toMatchObject({ phase: 'Completed' });
});

fullScenario('a member that stops answering ends a defragmentation', { size: 3, tls: false }, async (play) => {
  const { cluster } = play;
  await play.formed();
  const over = asked(cluster, 'defragment');
  await cluster.until(() => cluster.record()?.op?.kind === 'Defragment', 'it begins');
  cluster.killEtcd(2, 'SIGSTOP');
  const { phase, message } = await over;
  cluster.killEtcd(2, 'SIGCONT');
  // It may have been done before the member stopped.
  expect(phase === 'Completed' || /does not answer|not known/.test(message)).toBe(true);
  await play.converges('well again', async () => undefined);
});
