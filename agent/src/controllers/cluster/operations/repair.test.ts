import { World } from '../observed.fixture.ts';

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

function neverVoted(world: World, ordinal: number): World {
  const { members } = world.record;
  return world.doc({ members: { ...members, [ordinal]: { ...members[ordinal]!, everVoter: false } } });
}
