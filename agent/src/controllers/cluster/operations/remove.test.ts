import { known, unknown } from '../../../protocol/known.ts';
import { agent, asking, idOf, now, recordedMember, setBackAgent, World } from '../../port/observed.fixture.ts';

describe('a lost volume', () => {
  test('intent, MemberRemove, tombstone', () => {
    const world = new World(3).volumeLost(1);
    expect(world.written?.op).toMatchObject({ kind: 'Remove', ordinal: 1, memberId: idOf(1), why: 'Dead' });
    expect(world.commit().effect).toEqual({ kind: 'MemberRemove', memberId: idOf(1) });
    const written = world.removed(1).written;
    expect(written?.tombstones).toMatchObject([{ memberId: idOf(1), ordinal: 1, epoch: 1 }]);
    expect(written?.members).not.toHaveProperty('1');
    expect(written).not.toHaveProperty('op');
    expect(world.commit().written?.op).toMatchObject({ kind: 'AddLearner', ordinal: 1, volumeId: 'new-1' });
  });

  test('one sight is not enough', () => {
    const world = new World(3).volumeLost(1);
    world.o.since.evidence[1] = now;
    expect(world.plan().why).toBe('RemoveDead waits: the evidence has lasted');
  });

  test('an agent that does not answer proves nothing', () => {
    expect(new World(3).volumeLost(1).agent(1, undefined).effect).toBeUndefined();
  });

  test('the data directory was emptied and the volumeId was left: lost all the same', () => {
    const world = new World(3).volumeLost(1).agent(1, asking(1, 'volumeId-1'));
    expect(world.rule).toBe('RemoveDead');
  });

  describe('a volume that storage has set back', () => {
    const message = 'the write-ahead log ends at index 400, but member id-1 had reached 900: …';
    const setBack = (): World => {
      const world = new World(3).down(1).agent(1, setBackAgent(1, { message }));
      world.o.since.evidence[1] = now - 60_000;
      return world;
    };

    test('counts as lost', () => {
      const world = setBack();
      expect(world.reason('Degraded')).toBe('VolumeSetBack');
      expect(world.message('Degraded')).toBe(`pod c-1: ${message}`);
      expect(world.written?.op).toMatchObject({ kind: 'Remove', ordinal: 1, memberId: idOf(1), why: 'Dead' });
      expect(world.commit().effect).toEqual({ kind: 'MemberRemove', memberId: idOf(1) });
      expect(world.removed(1).written?.tombstones).toMatchObject([{ memberId: idOf(1), ordinal: 1, epoch: 1 }]);
    });

    test('one sight is not enough, and with policy Manual it waits', () => {
      const world = setBack().spec({ replace: { policy: 'Manual', force: [] } });
      expect(world.effect).toBeUndefined();
      world.spec({ replace: { policy: 'OnVolumeLoss', force: [] } }).o.since.evidence[1] = now;
      expect(world.plan().why).toBe('RemoveDead waits: the evidence has lasted');
    });

    test('of another member than the one that is listed proves nothing', () => {
      const world = setBack();
      const { v } = world.o.agents[1] as { v: ReturnType<typeof agent> };
      const identity = { ...v.volume.identity!, memberId: 'another' };
      expect(world.agent(1, { ...v, volume: { ...v.volume, identity } }).rule).not.toBe('RemoveDead');
    });

    test('of every member: nothing is touched', () => {
      const world = setBack();
      const { v } = world.o.agents[1] as { v: ReturnType<typeof agent> };
      const at = (i: number) => ({ ...agent(i), ...v, podUid: `pod-${i}`, ordinal: i, volume: agent(i).volume });
      world.down(0).down(2).agent(0, at(0)).agent(2, at(2)).noQuorum();
      expect(world.effect).toBeUndefined();
      expect(world.reason('Degraded')).toBe('VolumeSetBack');
      expect(world.reason('QuorumLost')).toBe('VolumesSetBack');
      expect(world.reason('Stalled')).toBe('VolumesSetBack');
    });

    test('of the only member: it needs a person', () => {
      const world = new World(1).down(0).agent(0, setBackAgent(0)).noQuorum();
      expect(world.plan().hold).toBe('VolumesSetBack');
      expect(world.reason('QuorumLost')).toBe('VolumesSetBack');
      expect(world.reason('Stalled')).toBe('VolumesSetBack');
      expect(world.message('Stalled')).toMatch(/Restore a backup, or set spec.recovery .* survivor/);
    });

    test('beside one that is lost: it needs a person; beside one that is down, it does not', () => {
      const world = setBack().volumeLost(0).noQuorum();
      expect(world.reason('Stalled')).toBe('VolumesSetBack');
      expect(setBack().down(0).noQuorum().reason('Stalled')).toBe('NoActionRequired');
    });
  });

  test('policy Manual: only by name', () => {
    const world = new World(3).volumeLost(1).spec({ replace: { policy: 'Manual', force: [] } });
    expect(world.effect).toBeUndefined();
    const force = [{ ordinal: 1, memberId: idOf(1), discardVolume: false }];
    expect(world.spec({ replace: { policy: 'Manual', force } }).rule).toBe('RemoveForced');
  });

  test('two of three are lost: nothing is touched', () => {
    const world = new World(3).volumeLost(1).volumeLost(2).noQuorum();
    expect(world.plan()).toMatchObject({ hold: 'MajorityVolumesLost' });
    expect(world.reason('QuorumLost')).toBe('MajorityVolumesLost');
  });

  test('two of five: both are removed before one is added', () => {
    const world = new World(5).volumeLost(1).volumeLost(2);
    expect(world.written?.op).toMatchObject({ memberId: idOf(1) });
    world.commit().removed(1).commit();
    expect(world.written?.op).toMatchObject({ kind: 'Remove', memberId: idOf(2) });
  });

  test('the only member: held, never seeded again', () => {
    const world = new World(1).volumeLost(0).noQuorum();
    expect(world.plan().hold).toBe('SeedLost');
  });

  test('no quorum would be left: it waits', () => {
    const world = new World(3).volumeLost(1);
    world.commit().o.since.healthy[idOf(2)] = now;
    expect(world.plan().why).toContain('Remove.call waits: the voters that stay are healthy and a quorum');
  });
});

describe('a removal under way', () => {
  const removing = (change: (world: World) => World = (world) => world) => change(new World(3).volumeLost(1).commit());

  test('a new holder of the lease waits', () => {
    const world = removing();
    world.o.since.holder = now;
    expect(world.effect).toBeUndefined();
  });

  test('is not called without a quorum, and never dropped', () => {
    expect(removing((world) => world.down(2)).effect).toBeUndefined();
  });

  test('the member list is unknown: the member does not count as removed', () => {
    expect(removing((world) => world.noQuorum()).effect).toBeUndefined();
  });

  test('gives way to one that is due, when it is not safe itself', () => {
    const world = new World(3).spec({ size: 1 });
    expect(world.written?.op).toMatchObject({ memberId: idOf(2), why: 'Shrink' });
    world.commit().volumeLost(0);
    expect(world.written?.op).toMatchObject({ memberId: idOf(0), why: 'Dead' });
  });

  test('hands leadership on first', () => {
    const force = [{ ordinal: 0, memberId: idOf(0), discardVolume: false }];
    const world = new World(3).spec({ replace: { policy: 'Manual', force } }).commit();
    expect(world.effect).toEqual({ kind: 'MoveLeader', leader: idOf(0), to: idOf(1) });
  });
});

describe('replace.force', () => {
  const forced = (discardVolume: boolean, memberId = idOf(1)) =>
    new World(3).spec({ replace: { policy: 'OnVolumeLoss', force: [{ ordinal: 1, memberId, discardVolume }] } });

  test('a stale member id changes nothing, which is reported', () => {
    const world = forced(false, 'id-old');
    expect(world.effect).toBeUndefined();
    expect(world.reason('Accepted')).toBe('ReplaceTargetNotFound');
    expect(world.message('Accepted')).toContain('ordinal 1 is member id-1, not id-old');
  });

  test('done: the request stays, and is not a mistake', () => {
    const world = forced(false, 'id-old').doc({
      tombstones: [{ memberId: 'id-old', ordinal: 1, epoch: 1, at: '', why: 'Forced' }],
    });
    expect(world.reason('Accepted')).toBe('SpecAccepted');
  });

  test('discardVolume deletes that one claim after the removal', () => {
    const world = forced(true).commit();
    expect(world.record.op).toMatchObject({ claimUid: 'claim-1' });
    world.removed(1).commit();
    expect(world.effect).toEqual({ kind: 'DeleteClaim', ordinal: 1, uid: 'claim-1' });
    const claims = world.o.claims.known ? world.o.claims.v : [];
    world.set({ claims: known(claims.map((claim) => ({ ...claim, deleting: claim.ordinal === 1 }))) });
    expect(world.written).not.toHaveProperty('op');
  });

  test('a living pod with the removed member’s data starts again', () => {
    const tombstones = [{ memberId: idOf(1), ordinal: 1, epoch: 1, at: '', why: 'Forced' }];
    const { 1: _, ...members } = new World(3).record.members;
    const world = new World(3).removed(1).doc({ tombstones, members });
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 1, uid: 'pod-1' });
    world.agent(1, agent(1, { state: 'Init' }));
    expect(world.rule).not.toBe('RestartRetired');
  });
});

describe('a learner that will never vote', () => {
  const learning = () => {
    const world = new World(3).spec({ size: 5 }).sts({ replicas: 4 }).joiner(3).learner(3);
    const permit = {
      id: 'p',
      ordinal: 3,
      volumeId: 'new-3',
      epoch: 1,
      mode: 'existing' as const,
      token: '',
      initialCluster: '',
      memberId: idOf(3),
      issuedAt: '',
    };
    const members = { ...world.record.members, 3: { ...recordedMember(3), volumeId: 'new-3', everVoter: false } };
    world.o.since.evidence[3] = 0;
    return world.doc({ permits: { 3: permit }, members });
  };

  test('its volume is another one', () => {
    expect(learning().agent(3, asking(3, 'other')).rule).toBe('GcLearner');
  });

  test('replace.force names it, and says that its volume goes', () => {
    const world = learning().spec({
      replace: { policy: 'OnVolumeLoss', force: [{ ordinal: 3, memberId: idOf(3), discardVolume: true }] },
    });
    const three = world.o.claims.known ? world.o.claims.v : [];
    const claims = known([...three, { ...three[0]!, ordinal: 3, uid: 'claim-3' }]);
    expect(world.set({ claims: unknown('no answer') }).rule).not.toBe('GcLearner');
    expect(world.set({ claims }).written?.op).toMatchObject({ why: 'Learner', claimUid: 'claim-3' });
  });

  test('its ordinal is not wanted any more', () => {
    expect(learning().spec({ size: 3 }).rule).toBe('GcLearner');
  });

  test('while its own volume asks, its permit follows the member list', () => {
    const world = learning();
    expect(world.rule).toBe('IssuePermit.again');
    expect(world.written?.permits[3]).toMatchObject({ id: 'p', volumeId: 'new-3', memberId: idOf(3) });
  });

  test('an unreachable pod keeps it', () => {
    expect(learning().agent(3, undefined).effect).toBeUndefined();
  });
});

test('a recorded member that is in no list is buried', () => {
  const { written } = new World(3).removed(2);
  expect(written?.tombstones).toMatchObject([{ memberId: idOf(2) }]);
});

test('one member id on two volumes: held', () => {
  const world = new World(3).doc({
    members: { ...new World(3).record.members, 1: { ...recordedMember(1), volumeId: 'x' } },
  });
  expect(world.plan().hold).toBe('DuplicateMember');
});

test('an older record than the agents have read: held', () => {
  expect(new World(3).doc({ rev: 9 }).plan().hold).toBe('RecordRolledBack');
});
