import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../../commands/cli/settings.ts';
import type { HashKVAnswer } from '../../../etcd/maintenance.ts';
import { AgentError, ExitCode } from '../../../lib/errors.ts';
import { withTimeout } from '../../../lib/limits/budget.ts';
import { compareMembers, fallenBehind } from './compare-members.ts';
import type { ReachedMember } from './observe-cluster.ts';

interface Fake {
  readonly compactedAt?: number;
  readonly hashes: readonly (HashKVAnswer | Error)[];
  asked: number;
}

const fake = (...hashes: (HashKVAnswer | Error)[]): Fake => ({ hashes, asked: 0 });
const at = (compactRevision: number, hash = 7): HashKVAnswer => ({ hash, compactRevision });

/** Members that give these answers one after the other and then repeat the last one, all at revision 50. */
function compare(source: Fake, ...others: Fake[]) {
  const reach = (member: Fake, index: number) =>
    ({
      endpoint: `member-${index}`,
      member: {
        status: async () => ({ revision: 50, dbSize: 0 }),
        isCompacted: async (revision: number) => revision <= (member.compactedAt ?? 0),
        hashKV: async () => {
          const answer = member.hashes[Math.min(member.asked++, member.hashes.length - 1)]!;
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
    }) as unknown as ReachedMember;
  return compareMembers(
    reach(source, 0),
    others.map((other, index) => reach(other, index + 1)),
  );
}

test('members with the same hash agree', async () => {
  expect(await compare(fake(at(40)), fake(at(40)), fake(at(40)))).toEqual({
    outcome: 'agree',
    hashKV: { revision: 50, hash: 7, compactRevision: 40, membersAgreeing: 2 },
    detail: '2 other members agree at revision 50',
  });
});

test('a member that differs once is named', async () => {
  const other = fake(at(40, 8));
  expect(await compare(fake(at(40)), fake(at(40)), other)).toMatchObject({
    outcome: 'differ',
    detail: 'MembersInconsistent: at revision 50, the data of member-2 differ from those of member-0',
  });
  expect(other.asked).toBe(1);
});

test('another compact revision changes the hash of the same data, so members are compared again', async () => {
  expect(await compare(fake(at(40), at(45)), fake(at(45, 9), at(45)))).toMatchObject({ outcome: 'agree' });
});

test('after three attempts the comparison is inconclusive, never a difference', async () => {
  const other = fake(at(30, 9));
  expect(await compare(fake(at(40)), other)).toMatchObject({
    outcome: 'inconclusive',
    hashKV: { membersAgreeing: 0 },
    detail: 'member-1: compacted at another revision',
  });
  expect(other.asked).toBe(3);
});

test('a follower that has not reached the revision is waited for', async () => {
  const behind = new AgentError(ExitCode.etcdUnavailable, 'mvcc: required revision is a future revision');
  expect(await compare(fake(at(40)), fake(behind, behind, at(40)))).toMatchObject({ outcome: 'agree' });
});

test('a member that does not answer makes the comparison inconclusive, unless another one differs', async () => {
  const away = new AgentError(ExitCode.etcdUnavailable, 'it is away');
  expect(await compare(fake(at(40)), fake(away))).toMatchObject({
    outcome: 'inconclusive',
    detail: 'member-1: it is away',
  });
  expect(await compare(fake(at(40)), fake(away), fake(at(40, 8)))).toMatchObject({ outcome: 'differ' });
});

test('a member that does not answer is not asked again, and the others are asked meanwhile', async () => {
  const away = fake(new AgentError(ExitCode.etcdUnavailable, 'etcd at member-1 did not answer'));
  const other = fake(at(45), at(40));
  expect(await compare(fake(at(40)), away, other)).toMatchObject({
    outcome: 'inconclusive',
    hashKV: { membersAgreeing: 1 },
    detail: 'etcd at member-1 did not answer',
  });
  expect([away.asked, other.asked]).toEqual([1, 2]);
});

test('a run that has little time left compares what it can, and its time limit does not count the wait', async () => {
  const settings = (timeout?: number) => ({ duration: () => timeout }) as unknown as Settings;
  const waits: number[] = [];
  let asked = 0;
  let together = 0;
  const reached = (endpoint: string, answers: boolean) =>
    ({
      endpoint,
      member: {
        status: async () => ({ revision: 50, dbSize: 0 }),
        isCompacted: async () => false,
        hashKV: async (_: number, deadline: number) => {
          if (answers) return at(40);
          waits.push(deadline);
          together = Math.max(together, ++asked);
          await sleep(Math.min(deadline, 300));
          asked--;
          throw new AgentError(ExitCode.etcdUnavailable, 'silent');
        },
      },
    }) as unknown as ReachedMember;
  const [source, ...others] = [reached('a', true), reached('b', false), reached('c', false)];
  const run = (timeout?: number) =>
    withTimeout({ settings: settings(timeout), signal: new AbortController().signal }, async ({ budget }) => {
      const begun = performance.now();
      const { outcome } = await compareMembers(source, others, budget);
      budget.signal.throwIfAborted();
      return { outcome, took: performance.now() - begun, more: budget.limit - (timeout ?? 60_000) };
    });
  const free = await run();
  expect(waits.splice(0)).toEqual([60_000, 60_000]);
  expect(free.outcome).toBe('inconclusive');
  expect(free.more).toBeGreaterThan(250);
  expect(free.more).toBeLessThanOrEqual(free.took);
  expect(together).toBe(2);
  expect(await run(4_000)).toMatchObject({ outcome: 'inconclusive', more: 0 });
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_000);
});

test('at the compact revision there is nothing to hash, and no hash is kept', async () => {
  const source = { ...fake(at(40)), compactedAt: 49 };
  expect(await compare(source, fake(at(40)))).toEqual({
    outcome: 'inconclusive',
    detail: 'revision 50 is the compact revision; there are no newer keys to hash',
  });
});

test('a missing permission is a usage error, not an inconclusive comparison', async () => {
  const refused = new AgentError(ExitCode.usage, 'permission denied');
  await expect(compare(fake(refused))).rejects.toBe(refused);
});

test('a member that could not be reached is counted', async () => {
  const member = fake(at(40));
  const reached = { endpoint: 'a', member: { ...member, status: async () => ({ revision: 50, dbSize: 0 }) } };
  Object.assign(reached.member, { isCompacted: async () => false, hashKV: async () => at(40) });
  const one = reached as unknown as ReachedMember;
  const { detail } = await compareMembers(one, [one], undefined, 2);
  expect(detail).toBe('1 of 2 other members agrees at revision 50; the rest could not be compared');
});

describe('members whose revisions differ by more than the log that only one of them has applied', () => {
  const of = (endpoint: string, raftAppliedIndex: number, revision: number) => ({
    endpoint,
    status: { raftAppliedIndex, revision },
  });
  const apart = (before: ReturnType<typeof of>[], after = before) => fallenBehind(before, after);

  test('hold different data', () => {
    expect(apart([of('a', 9, 2_000_000_002), of('b', 9, 1_000_000_002), of('c', 8, 2_000_000_001)])).toBe(
      'b is at revision 1000000002, although a, which has not applied so much more of the log, is at 2000000002: they hold different data',
    );
    // Restores that began within a second of each other.
    expect(apart([of('a', 9, 5_000_002), of('b', 9, 5_000_900)])).toMatch(/^a is at revision 5000002, although b/);
    expect(apart([of('a', 9, 100), of('b', 5, 97)])).toBeUndefined();
    expect(apart([of('a', 9, 100), of('b', 5, 94)])).toMatch(/^b is at revision 94/);
  });

  test('may be the same under writes: what is applied between two answers does not count', () => {
    // The status of one member is older, or an entry is just being applied.
    expect(apart([of('a', 9, 51), of('b', 9, 50)])).toBeUndefined();
    expect(apart([of('a', 900, 950), of('b', 9, 50)], [of('a', 905, 955), of('b', 10, 60)])).toBeUndefined();
    expect(apart([of('a', 9, 150), of('b', 9, 50)], [of('a', 109, 150), of('b', 109, 150)])).toBeUndefined();
  });

  test('are not compared if one does not answer again', () => {
    expect(apart([of('a', 9, 5_000), of('b', 9, 50)], [of('b', 9, 50)])).toBeUndefined();
  });
});

test('a backup of members that began at other revisions does not call them consistent', async () => {
  const at = (endpoint: string, revision: number) => ({
    endpoint,
    member: { status: async () => ({ revision, raftAppliedIndex: 9, dbSize: 0 }) },
  });
  const [source, other] = [at('a', 5_000_900), at('b', 5_000_002)] as unknown as ReachedMember[];
  expect(await compareMembers(source!, [other!])).toEqual({
    outcome: 'differ',
    detail: expect.stringMatching(/^MembersInconsistent: b is at revision 5000002, although a, .* is at 5000900/),
  });
});
