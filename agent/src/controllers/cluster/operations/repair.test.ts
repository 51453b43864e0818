import { asking, idOf, World } from '../../port/observed.fixture.ts';

/** Three members; the new volume of 1 is on the node of 2's, whose pod waits. */
function crowded(change: { evidence?: false; node?: string } = {}): World {
  const world = new World(3).noQuorum().down(2).volumeLost(1).agent(2, undefined);
  if (change.evidence === false) delete world.o.since.evidence[1];
  world.pod(1, { ready: false, node: change.node ?? 'node-2' });
  world.pod(2, { ready: false, running: false, unschedulable: true });
  return world.claim(1, { clusterUid: undefined, epoch: undefined, node: 'node-2' }).claim(2, { node: 'node-2' });
}

test('an empty volume on the node of a voter’s goes, claim first, then pod', () => {
  const world = crowded();
  expect(world.effect).toEqual({ kind: 'DeleteClaim', ordinal: 1, uid: 'claim-1', basedOn: 'claim-rv-1' });
  world.claim(1, { deleting: true });
  expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 1, uid: 'pod-1' });
  expect(world.pod(1, { deleting: true }).effect).toBeUndefined();
});

test.each([
  ['seen only once', () => crowded({ evidence: false })],
  ['on another node', () => crowded({ node: 'node-1' })],
  ['with data in its quarantine', () => quarantined(crowded())],
  ['of a claim that held a voter once', () => crowded().claim(1, { clusterUid: 'uid-1' })],
  ['where the other has its place', () => crowded().pod(2, { unschedulable: undefined })],
  ['where the other never voted', () => neverVoted(crowded(), 2)],
])('it stays %s', (_, make) => {
  expect(make().plan()).toMatchObject({ hold: 'MajorityDown' });
});

test('data stay, even if an operation waits', () => {
  const world = crowded();
  world.agent(1, undefined);
  expect(world.effect).toBeUndefined();
});

describe('data of a removed member, whose tombstone is lost or is not among the last', () => {
  const forgotten = () => {
    const world = new World(3).removed(2).down(2);
    const { 2: _, ...members } = world.record.members;
    return world.doc({ members, tombstones: [] });
  };

  test('get another, and are quarantined when their pod restarts', () => {
    const world = forgotten();
    expect(world.written?.tombstones).toMatchObject([{ memberId: idOf(2), ordinal: 2, epoch: 1 }]);
    expect(world.commit().effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2' });
  });

  test('stay while the list is unknown, or may be that of another cluster', () => {
    expect(forgotten().set({ members: { known: false, why: 'no leader' } }).written).toBeUndefined();
    const seeding = forgotten().doc({ seeded: false, clusterId: undefined, phase: 'Restoring' });
    expect(seeding.written?.tombstones ?? []).toEqual([]);
  });

  test('the member that has their place now keeps it', () => {
    const world = new World(3).removed(2).down(2).learner(2, { id: 'id-new', name: 'c-2', isLearner: false });
    const { members } = world.record;
    world.doc({
      members: { ...members, 2: { ...members[2]!, memberId: 'id-new', volumeId: 'another' } },
      tombstones: [],
    });
    expect(world.written).toMatchObject({
      members: { 2: { memberId: 'id-new' } },
      tombstones: [{ memberId: idOf(2) }],
    });
  });
});

function quarantined(world: World): World {
  const waits = asking(1);
  return world.agent(1, { ...waits, volume: { ...waits.volume, quarantineCount: 1 } });
}

function neverVoted(world: World, ordinal: number): World {
  const { members } = world.record;
  return world.doc({ members: { ...members, [ordinal]: { ...members[ordinal]!, everVoter: false } } });
}
