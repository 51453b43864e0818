import { known, unknown } from '../../../protocol/known.ts';
import { agent, asking, idOf, now, pod, recordedMember, status, World } from '../../port/observed.fixture.ts';

const growing = () => new World(3).spec({ size: 5 });

test('a cluster as asked for needs nothing', () => {
  expect(new World(3).plan()).toMatchObject({ why: 'nothing to do', requeueMs: 15_000 });
});

test('grows once every pod is a healthy voter; all its pods count in the disruption budget from then on', () => {
  expect(growing().effect).toEqual({ kind: 'ScaleTo', replicas: 5, basedOn: 'sts-rv' });
  const young = growing();
  young.o.since.healthy[idOf(1)] = now;
  expect(young.effect).toBeUndefined();
});

describe('AddLearner', () => {
  const joining = () => growing().sts({ replicas: 4 }).joiner(3);

  test('is written first, called next, and its permit names the one volume and every member', () => {
    const world = joining();
    expect(world.rule).toBe('AddLearner');
    expect(world.commit().effect).toEqual({
      kind: 'MemberAdd',
      ordinal: 3,
      peerUrls: ['http://c-3.c-peers.n.svc.cluster.local:2380'],
    });
    const written = world.learner(3).written;
    expect(written?.op).toBeUndefined();
    expect(written?.permits[3]).toMatchObject({ volumeId: 'new-3', memberId: idOf(3), mode: 'existing', epoch: 1 });
    expect(written?.permits[3]?.initialCluster.split(',')).toHaveLength(4);
    expect(written?.members[3]).toMatchObject({ memberId: idOf(3), volumeId: 'new-3', everVoter: false });
  });

  test('waits for a name that resolves', () => {
    const world = joining().pod(3, { resolves: unknown('no such host') });
    expect(world.plan().why).toContain('its name resolves to its IP');
  });

  test('waits while there is a learner', () => {
    const world = new World(3).spec({ size: 5 }).sts({ replicas: 5 }).joiner(3).joiner(4).learner(4, { name: 'c-4' });
    world.agent(4, agent(4)).commit();
    expect(world.effect).toBeUndefined();
  });

  test('with a dead voter: not before 3.5.30, then with a quorum of the larger cluster', () => {
    const withVersion = (version: string) => {
      const world = new World(5, { size: 7 }).sts({ replicas: 6 }).joiner(5).down(4);
      for (const i of [0, 1, 2, 3]) world.o.status[idOf(i)] = known(status({ version }));
      return world.rule;
    };
    expect(withVersion('3.5.29')).not.toBe('AddLearner');
    expect(withVersion('3.5.30')).toBe('AddLearner');
  });

  test('is dropped when the volume that asked is another one now', () => {
    const world = joining().commit();
    world.agent(3, asking(3, 'other'));
    expect(world.rule).toBe('AddLearner.drop');
  });

  test('does not promise a permit to a pod whose agent does not answer', () => {
    expect(joining().agent(3, undefined).effect).toBeUndefined();
  });

  test('an agent that answers for another pod does not count', () => {
    const world = joining();
    world.agent(3, asking(3, 'new-3', { podUid: 'somebody-else' }));
    expect(world.effect).toBeUndefined();
  });
});

describe('PromoteLearner', () => {
  const learning = () => {
    const world = growing().sts({ replicas: 4 }).learner(3, { name: 'c-3' });
    world.pods((pods) => [...pods, pod(3, { ready: false })]).agent(3, agent(3));
    world.o.status[idOf(3)] = known(status());
    world.o.since.inSync[idOf(3)] = 0;
    const permit = {
      id: 'permit-3',
      ordinal: 3,
      volumeId: 'volumeId-3',
      epoch: 1,
      mode: 'existing' as const,
      token: 'token-1',
      initialCluster: '',
      memberId: idOf(3),
      issuedAt: '',
    };
    const members = { ...world.record.members, 3: { ...recordedMember(3), everVoter: false } };
    return world.doc({ permits: { 3: permit }, members });
  };

  test('written, called, recorded as a voter; its permit goes', () => {
    const world = learning();
    expect(world.rule).toBe('PromoteLearner');
    expect(world.commit().effect).toEqual({ kind: 'MemberPromote', memberId: idOf(3) });
    world.members((members) => members.map((m) => ({ ...m, isLearner: false })));
    expect(world.written).toMatchObject({ members: { 3: { everVoter: true } }, permits: {} });
    expect(world.written?.op).toBeUndefined();
  });

  test('waits for a voter that is down, and gives the slot back', () => {
    expect(learning().down(1).effect).toBeUndefined();
    expect(learning().commit().down(1).rule).toBe('Promote.drop');
  });

  test('waits until it is in sync', () => {
    const world = learning();
    world.o.since.inSync[idOf(3)] = now;
    expect(world.effect).toBeUndefined();
  });
});
