// What annotations of the EtcdCluster ask for: a leader that moves, and databases that shrink.
import type { ReportedRequest, Requests } from '../../src/protocol/requests.ts';
import { openVoters } from './checks/member-view.ts';
import { compact, overwrite } from './support/fill.ts';
import { fullScenario, type Play, scenario } from './support/scenario.ts';

const mebibyte = 1024 ** 2;
const written = 40;
/** Seconds for a restart of all members on a busy machine. */
const patience = 240;

/** Writes the annotations, and returns what came of them. */
async function asked({ cluster }: Play, requests: Requests): Promise<readonly ReportedRequest[]> {
  await cluster.apply({ requests });
  const reports = () => cluster.status().requests ?? [];
  const isOver = ({ kind, request, phase }: ReportedRequest) =>
    requests[kind] === request && (phase === 'Completed' || phase === 'Failed');
  await cluster.until(
    () => reports().length === Object.keys(requests).length && reports().every(isOver),
    `${Object.keys(requests).join(' and ')} are over`,
  );
  return reports();
}

const podOf = ({ cluster }: Play, ordinal: number): string => `${cluster.world.name}-${ordinal}`;

async function leaderAndSizes({ cluster }: Play): Promise<{ leader: string; sizes: number[] }> {
  const voters = await openVoters(cluster);
  for (const voter of voters) voter[Symbol.dispose]();
  return { leader: voters[0]!.status.leader, sizes: voters.map(({ status }) => status.dbSize) };
}

scenario('a leader that is asked for leads, once', { size: 3, tls: true }, async (play) => {
  const { cluster } = play;
  await play.formed();
  const before = await leaderAndSizes(play);
  const members = cluster.record()!.members;
  const ordinal = [0, 1, 2].find((each) => members[each]!.memberId !== before.leader)!;
  const [moved] = await asked(play, { 'move-leader': `t1 ${podOf(play, ordinal)}` });
  expect(moved).toMatchObject({ phase: 'Completed', message: `${podOf(play, ordinal)} leads` });
  expect((await leaderAndSizes(play)).leader).toBe(members[ordinal]!.memberId);
  await play.writer.more(20);
  expect(await asked(play, { 'move-leader': 't2 nobody-7' })).toMatchObject([{ phase: 'Failed' }]);
});

scenario(
  'databases that are asked for shrink, the leader last, without a restart',
  { size: 3, tls: false },
  async (play) => {
    const { cluster } = play;
    await play.formed();
    await overwrite(cluster, written);
    await compact(cluster);
    const pids = [0, 1, 2].map((each) => cluster.pod(each).etcdPid);
    const before = await leaderAndSizes(play);
    for (const size of before.sizes) expect(size).toBeGreaterThan(written * mebibyte);
    const [done] = await asked(play, { defrag: 't1' });
    expect(done).toMatchObject({ phase: 'Completed' });
    expect(done!.members).toHaveLength(3);
    for (const { before: from, after } of done!.members!) expect(after).toBeLessThan(from / 2);
    for (const size of (await leaderAndSizes(play)).sizes) expect(size).toBeLessThan((written / 2) * mebibyte);
    const leader = Object.entries(cluster.record()!.members).find(([, { memberId }]) => memberId === before.leader)!;
    expect(done!.members!.at(-1)!.pod).toBe(podOf(play, Number(leader[0])));
    expect([0, 1, 2].map((each) => cluster.pod(each).etcdPid)).toEqual(pids);
    await play.writer.more(20);
  },
);

fullScenario('what is asked for waits until an operation is over', { size: 3, tls: false }, async (play) => {
  const { cluster } = play;
  await play.formed();
  const seen: string[] = [];
  await cluster.apply({ requests: { defrag: 't1' }, etcd: { 'snapshot-count': 9_000 } });
  await cluster.until(
    () => {
      const { op } = cluster.record()!;
      const phase = cluster.status().requests?.[0]?.phase;
      if (op && phase) seen.push(phase);
      return phase === 'Completed';
    },
    'the defragmentation is over',
    patience,
  );
  expect(seen).not.toContain('Running');
  await cluster.settled(patience);
});
