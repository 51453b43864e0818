import { errorLike } from '../../../../test/support/error-like.ts';
import type { StatusResponse } from '../../../etcd/maintenance.ts';
import { ExitCode } from '../../../lib/errors.ts';
import { rankSources } from './rank-sources.ts';

function member(memberId: string, status: Partial<StatusResponse> = {}) {
  return {
    endpoint: `https://${memberId}:2379`,
    status: {
      clusterId: 'c1',
      memberId,
      revision: 100,
      version: '3.6.0',
      dbSize: 1,
      dbSizeInUse: 1,
      leader: 'a',
      raftIndex: 10_000,
      raftTerm: 2,
      raftAppliedIndex: 10_000,
      errors: [],
      isLearner: false,
      ...status,
    },
  };
}
const choose = (members: ReturnType<typeof member>[], corrupt: string[] = []) =>
  rankSources(members, new Set(corrupt)).map(({ status }) => status.memberId);

test('followers come before the leader, the one with the least lag first', () => {
  expect(
    choose([member('a'), member('b', { raftAppliedIndex: 9_000 }), member('c', { raftAppliedIndex: 9_500 })]),
  ).toEqual(['c', 'b', 'a']);
});

test('a follower that is far behind is not a source', () => {
  expect(choose([member('a'), member('b', { raftAppliedIndex: 100 })])).toEqual(['a']);
});

test('a learner is never a source', () => {
  expect(choose([member('a'), member('b', { isLearner: true })])).toEqual(['a']);
  expect(() => choose([member('b', { isLearner: true })])).toThrow(/only learners/);
});

test('a member that knows another leader or none is excluded', () => {
  expect(choose([member('a'), member('b', { leader: '0' }), member('c', { leader: 'x' }), member('d')])).toEqual([
    'd',
    'a',
  ]);
});

test('if no member knows a leader, there is no quorum', () => {
  expect(() => choose([member('a', { leader: '0' }), member('b', { leader: '0' })])).toThrow(
    errorLike(/quorum is lost$/, { finding: { kind: 'noQuorum' } }),
  );
});

test('a member of another cluster is outvoted, and a tie is a usage error', () => {
  expect(choose([member('a'), member('b'), member('x', { clusterId: 'c2', leader: 'x' })])).toEqual(['b', 'a']);
  expect(() => choose([member('a'), member('x', { clusterId: 'c2' })])).toThrow(
    expect.objectContaining({ exitCode: ExitCode.usage }),
  );
});

test('a member with a CORRUPT alarm is avoided if there is another one', () => {
  expect(choose([member('a'), member('b'), member('c')], ['b'])).toEqual(['c', 'a']);
  expect(choose([member('a')], ['a'])).toEqual(['a']);
});
