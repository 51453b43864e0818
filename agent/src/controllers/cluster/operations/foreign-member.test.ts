import { idOf, World } from '../../port/observed.fixture.ts';

const url = 'http://10.0.0.9:2380';
const foreign = { id: 'feed', name: 'by-hand', peerUrls: [url] };

/** The members as they are where the cluster has another DNS domain. */
const renamed = (world: World): World =>
  world.members((list) =>
    list.map((m) => ({ ...m, peerUrls: m.peerUrls.map((each) => each.replace('cluster.local', 'corp.example')) })),
  );

describe('a member at an address that is none of the pods', () => {
  test.each([true, false])('is left alone, and named (learner: %s)', (isLearner) => {
    const world = new World(3).learner(2, { ...foreign, isLearner });
    expect(world.plan()).toMatchObject({ rule: 'HoldForeignMember', hold: 'ForeignMember' });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Stalled')).toBe('ForeignMember');
    expect(world.message('Stalled')).toMatch(`member feed at ${url} `);
    expect(world.message('Stalled')).toMatch('etcdctl member remove feed');
  });

  test('no member is added, restarted or removed meanwhile', () => {
    const world = new World(3).removed(2).learner(2, foreign).joiner(2);
    const { 2: _, ...members } = world.record.members;
    world.doc({ members });
    expect(world.rule).toBe('HoldForeignMember');
    expect(world.spec({ size: 1 }).rule).toBe('HoldForeignMember');
  });

  test('does not block the removal of a member whose volume is lost', () => {
    expect(new World(3).learner(2, foreign).volumeLost(1).rule).toBe('RemoveDead');
  });

  test('is reported while a new cluster cannot be marked as seeded', () => {
    const world = renamed(new World(1)).doc({ seeded: false, phase: 'Seeding', members: {}, clusterId: undefined });
    expect(world.plan()).toMatchObject({ hold: 'ForeignMember' });
  });

  test('an addition in flight is dropped, not made', () => {
    const world = new World(3).removed(2).joiner(2);
    const { 2: _, ...members } = world.record.members;
    const op = { id: 'o', holder: 'h', startedAt: '', kind: 'AddLearner', ordinal: 2, volumeId: 'new-2' } as const;
    world.doc({ members, op });
    expect(world.rule).toBe('AddLearner.call');
    expect(renamed(world).rule).toBe('AddLearner.drop');
    expect(world.commit().rule).toBe('HoldForeignMember');
  });
});

describe('a second voter at the address of a pod', () => {
  const second = { id: '00', name: '', peerUrls: ['http://c-1.c-peers.n.svc.cluster.local:2380'] };
  const world = (change = {}) =>
    new World(3, { tls: true, ...change }).members((list) => [{ ...second, isLearner: false }, ...list]);

  test('is named, and the pod is not restarted', () => {
    const rolled = world().sts({ updateRevision: 'r2' });
    expect(rolled.plan()).toMatchObject({ rule: 'HoldForeignMember' });
    expect(rolled.message('Stalled')).toMatch('etcdctl member remove 00');
  });

  test('the claim of the pod is not its claim', () => {
    const force = [{ ordinal: 1, memberId: '00', discardVolume: true }];
    expect(world({ replace: { policy: 'Manual', force } }).effect).toBeUndefined();
    const real = [{ ordinal: 1, memberId: idOf(1), discardVolume: true }];
    expect(world({ replace: { policy: 'Manual', force: real } }).written?.op).toMatchObject({ memberId: idOf(1) });
  });
});

test('in a cluster of another domain than was believed nothing is touched', () => {
  const world = renamed(new World(3)).sts({ updateRevision: 'r2' });
  expect(world.plan()).toMatchObject({ rule: 'HoldForeignMember' });
  expect(world.message('Stalled')).toMatch(`member ${idOf(0)} at http://c-0.c-peers.n.svc.corp.example:2380 `);
});
