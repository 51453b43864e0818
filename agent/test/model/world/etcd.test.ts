import { type Cluster, type Liveness, memberAdd, memberPromote, memberRemove, moveLeader } from './etcd.ts';

const clusterOf = (voters: number, learner?: 'started' | 'unstarted'): Cluster => ({
  id: 'c#1',
  epoch: 1,
  members: [
    ...Array.from({ length: voters }, (_, i) => ({ id: `m#${i}`, ordinal: i, learner: false, started: true })),
    ...(learner ? [{ id: 'm#9', ordinal: voters, learner: true, started: learner === 'started' }] : []),
  ],
  log: 1,
  leader: 'm#0',
  minor: 5,
  index: 100,
  lastV2: 100,
});

const up = (...ordinals: number[]): Liveness => {
  const ids = new Set(ordinals.map((i) => `m#${i}`));
  return { running: ids, upToDate: ids };
};

const errorOf = (answer: ReturnType<typeof memberAdd>): string => (answer.ok ? 'accepted' : answer.error);

describe('MemberAdd of a learner', () => {
  const add = (cluster: Cluster, live: Liveness, rule: 'allConnected' | 'quorumConnected'): string =>
    errorOf(memberAdd(cluster, live, rule, { id: 'm#7', ordinal: 6 }));

  test.each([
    ['one of three dead, both rule sets', 3, up(0, 1), 'unhealthy cluster', 'unhealthy cluster'],
    ['three of four connected', 4, up(0, 1, 2), 'unhealthy cluster', 'accepted'],
    ['three of five connected', 5, up(0, 1, 2), 'unhealthy cluster', 'unhealthy cluster' as const],
    ['four of five connected', 5, up(0, 1, 2, 3), 'unhealthy cluster', 'accepted'],
    ['to a single voter', 1, up(0), 'accepted', 'accepted'],
    ['all connected', 3, up(0, 1, 2), 'accepted', 'accepted'],
    ['without a quorum', 3, up(0), 'timed out', 'timed out'],
  ])('%s', (_, voters, live, before, since) => {
    expect(add(clusterOf(voters), live, 'allConnected')).toBe(before);
    expect(add(clusterOf(voters), live, 'quorumConnected')).toBe(since);
  });

  test('the same URL again; a second learner', () => {
    const pending = clusterOf(2, 'unstarted');
    expect(errorOf(memberAdd(pending, up(0, 1), 'quorumConnected', { id: 'm#7', ordinal: 2 }))).toBe(
      'Peer URLs already exists',
    );
    expect(add(pending, up(0, 1), 'quorumConnected')).toBe('too many learner members in cluster');
  });
});

describe('MemberRemove', () => {
  test.each([
    ['the only voter', 1, up(0), 'm#0', 'not enough started members'],
    ['an unknown id', 3, up(0, 1, 2), 'm#8', 'member not found'],
    ['the dead one of three', 3, up(0, 1), 'm#2', 'accepted'],
    ['a healthy one while another is down', 3, up(0, 1), 'm#1', 'unhealthy cluster'],
    ['one of two dead of five', 5, up(0, 1, 2), 'm#4', 'accepted'],
    ['a healthy one of three', 3, up(0, 1, 2), 'm#0', 'accepted'],
    ['without a quorum', 5, up(0, 1), 'm#4', 'timed out'],
  ])('%s', (_, voters, live, id, expected) => {
    expect(errorOf(memberRemove(clusterOf(voters), live, id))).toBe(expected);
  });

  test('a learner, whatever else is down', () => {
    expect(errorOf(memberRemove(clusterOf(3, 'unstarted'), up(0, 1), 'm#9'))).toBe('accepted');
  });
});

describe('MemberPromote and MoveLeader', () => {
  test('an unstarted learner, and one that lags', () => {
    const refusal = 'can only promote a learner member which is in sync with leader';
    expect(errorOf(memberPromote(clusterOf(2, 'unstarted'), up(0, 1), 'm#9'))).toBe(refusal);
    const lagging = { running: new Set(['m#0', 'm#1', 'm#9']), upToDate: new Set(['m#0', 'm#1']) };
    expect(errorOf(memberPromote(clusterOf(2, 'started'), lagging, 'm#9'))).toBe(refusal);
  });

  test('a learner in sync; twice', () => {
    const answer = memberPromote(clusterOf(2, 'started'), up(0, 1, 9), 'm#9');
    expect(answer.ok && answer.cluster.members[2]).toMatchObject({ learner: false });
    expect(errorOf(memberPromote(clusterOf(2), up(0, 1), 'm#1'))).toBe('can only promote a learner member');
  });

  test('leadership does not move to a learner', () => {
    expect(errorOf(moveLeader(clusterOf(2, 'started'), up(0, 1, 9), 'm#9'))).toBe('bad leader transferee');
  });

  test('a quorum that lacks a committed entry commits nothing', () => {
    const behind = { running: new Set(['m#0', 'm#1']), upToDate: new Set(['m#0']) };
    expect(errorOf(memberRemove(clusterOf(3), behind, 'm#2'))).toBe('timed out');
  });
});
