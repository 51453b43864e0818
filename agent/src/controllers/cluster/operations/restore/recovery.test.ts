import type { AgentStatus } from '../../../../protocol/agent-status.ts';
import { known } from '../../../../protocol/known.ts';
import { agent, idOf, now, setBackAgent, World } from '../../../port/observed.fixture.ts';
import type { RecoveryRequest } from '../../../port/observed.ts';

const recovery: RecoveryRequest = { id: 'r1', acceptDataLoss: true };

/** Ordinals 0 and 1 lost their volumes. */
const lost = (change: Partial<RecoveryRequest> = {}) => {
  const world = new World(3).volumeLost(0).volumeLost(1).noQuorum();
  return world.spec({ recovery: { ...recovery, ...change } });
};

const backup = { id: 'snap', revision: 1, sha256: 'sha' };

test('the survivor that answers is backed up as it is, and that backup is restored', () => {
  const world = lost();
  expect(world.written?.op).toMatchObject({
    kind: 'Recover',
    step: 'backup',
    args: { id: 'recovery:r1', survivor: { ordinal: 2, memberId: idOf(2) } },
  });
  world.commit();
  expect(world.effect).toMatchObject({ kind: 'CreateJob', job: { kind: 'recovery', survivor: 2, restored: true } });
  world.set({
    jobs: known([{ kind: 'recovery', uid: 'j', op: 'fresh-id', state: 'Succeeded', deleting: false, backup }]),
  });
  expect(world.written?.op).toMatchObject({ step: 'verify', args: { source: { snapshotId: 'snap' }, sha256: 'sha' } });
});

test('a backup that its Job cannot decrypt ends it before the fence, and the status says why', () => {
  const world = lost().commit();
  const job = { op: 'fresh-id', deleting: false } as const;
  const taken = { ...job, kind: 'recovery', uid: 'j', state: 'Succeeded', backup } as const;
  world.set({ jobs: known([taken]) }).commit();
  const failed = { ...job, kind: 'restore', uid: 'r', state: 'Failed', message: 'snap is encrypted' } as const;
  world.set({ jobs: known([taken, failed]) });
  expect(world.rule).toBe('Restore.refused');
  expect(world.commit().record).toMatchObject({ epoch: 1, failure: { message: 'snap is encrypted' } });
  expect(world.record.op).toBeUndefined();
  expect(world.reason('Stalled')).toBe('BackupFailed');
});

const salvaged = {
  ...{ sha256: 'x', sizeBytes: 1, revision: 1, lastIndex: 9, commit: 8 },
  url: 'https://10.0.0.3:8080/salvage',
};

/** The gate of pod 2 serves the snapshot that it has made for this permit. */
const serving = (world: ReturnType<typeof lost>, permitId: string) =>
  world.pod(2, { uid: 'pod-2b' }).agent(
    2,
    agent(2, {
      ...{ podUid: 'pod-2b', gate: true, state: 'Stalled', etcd: undefined },
      salvage: { ...salvaged, permitId },
    }),
  );

describe('one that the record does not know as a voter yet', () => {
  const promoted = (isLearner: boolean) => {
    const world = lost();
    const { members } = world.record;
    world.doc({ members: { ...members, 2: { ...members[2]!, everVoter: false } } });
    const running = agent(2);
    return world.agent(2, { ...running, etcd: { ...running.etcd!, hasLeader: false, isLearner } });
  };

  test('survives if its etcd has applied that it is one', () => {
    expect(promoted(false).written?.op).toMatchObject({ kind: 'Recover', args: { survivor: { ordinal: 2 } } });
  });

  test('does not while it is a learner, which may lack anything', () => {
    expect(promoted(true).written?.op).toBeUndefined();
  });
});

test('one that does not answer is salvaged from its volume', () => {
  const world = lost().down(2).commit();
  expect(world.record.op).toMatchObject({ step: 'salvage' });
  world.commit();
  expect(world.record.permits[2]).toMatchObject({
    mode: 'salvage',
    volumeId: 'volumeId-2',
    salvage: { token: 'fresh-secret' },
  });
  expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2' });
  expect(serving(world, world.record.permits[2]!.id).effect).toMatchObject({
    kind: 'CreateJob',
    job: {
      kind: 'salvage',
      restored: true,
      salvage: { url: salvaged.url, token: 'fresh-secret', clusterId: 'cluster-1' },
    },
  });
});

test('a gate that still serves the snapshot of the try before is waited for: another one differs', () => {
  const world = lost().down(2).commit();
  world.commit();
  expect(serving(world, 'that of before').effect).toBeUndefined();
  expect(serving(world, world.record.permits[2]!.id).effect).toMatchObject({
    kind: 'CreateJob',
    job: { kind: 'salvage' },
  });
});

test('with TLS no token is written into the record, which more people may read than Secrets', () => {
  const world = lost().spec({ tls: true }).down(2).commit();
  expect(world.record.op).toMatchObject({ args: { sourceToken: '' } });
  world.commit();
  expect(world.record.op).toMatchObject({ args: { salvageToken: '' } });
  expect(world.record.permits[2]).toMatchObject({ mode: 'salvage', salvage: { token: '' } });
  expect(JSON.stringify(world.record)).not.toContain('fresh-secret');
});

describe('the survivor restarts until it waits in its gate', () => {
  const salvaging = () => lost().down(2).commit().commit();
  const gone = { etcd: undefined };

  test('also when the gate of its new pod missed the record once and let etcd start', () => {
    const world = salvaging().pod(2, { uid: 'pod-2b' });
    world.agent(2, agent(2, { podUid: 'pod-2b', reason: 'EtcdDown', etcd: { ...agent(2).etcd!, up: false } }));
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2b' });
  });

  test('even if no log could be read while etcd runs', () => {
    const world = salvaging().pod(2, { uid: 'pod-2b' });
    expect(world.agent(2, agent(2, { podUid: 'pod-2b', ...gone })).rule).toBe('Salvage.restart');
  });

  test('not on a template whose image is of another version', () => {
    expect(salvaging().rule).toBe('Salvage.restart');
    expect(salvaging().sts({ imageVersion: '3.7.3' }).effect).toBeUndefined();
  });

  test('not while its new pod has not reported yet', () => {
    expect(salvaging().pod(2, { uid: 'pod-2b' }).agent(2, undefined).effect).toBeUndefined();
  });

  test('not when the same pod went back to its gate, as after a start of its node', () => {
    expect(salvaging().agent(2, agent(2, { ...gone, gate: true, state: 'Stalled' })).effect).toBeUndefined();
  });
});

describe('the survivor with most', () => {
  const of2 = (change: Partial<NonNullable<AgentStatus['etcd']>>) => {
    const world = new World(5).volumeLost(0).volumeLost(1).volumeLost(2).noQuorum().spec({ size: 5, recovery });
    world.agent(3, agent(3, { etcd: { ...agent(3).etcd!, ...change } }));
    return world.written?.op;
  };

  test('applied, whatever the term: one that was cut off counts terms up and has no entries of them', () => {
    expect(of2({ term: 1, appliedIndex: 1001, committedIndex: 1001 })).toMatchObject({
      args: { survivor: { ordinal: 3 } },
    });
    expect(of2({ term: 9, appliedIndex: 999, committedIndex: 1000 })).toMatchObject({
      args: { survivor: { ordinal: 4 } },
    });
  });

  test('committed, of those that applied the same', () => {
    expect(of2({ committedIndex: 999 })).toMatchObject({ args: { survivor: { ordinal: 4 } } });
    expect(of2({ term: 1, committedIndex: 1001 })).toMatchObject({ args: { survivor: { ordinal: 3 } } });
  });

  test('but not while the data of another member are unknown', () => {
    const world = new World(5).volumeLost(0).volumeLost(1).volumeLost(2).noQuorum().spec({ size: 5, recovery });
    const { etcd: _, ...silent } = agent(3);
    expect(world.agent(3, silent).effect).toBeUndefined();
    expect(world.reason('Accepted')).toBe('SurvivorUnreachable');
    expect(world.volumeLost(4).written?.op).toMatchObject({ args: { survivor: { ordinal: 3 } } });
  });

  test('and then the newer term', () => {
    expect(of2({ term: 1 })).toMatchObject({ args: { survivor: { ordinal: 4 } } });
  });
});

describe('a survivor that storage has set back', () => {
  /** Member 1 was set back, and had come to index 900. */
  const setBack = (committedIndex?: number) => {
    const world = new World(3).volumeLost(0).down(1).agent(1, setBackAgent(1)).noQuorum().spec({ recovery });
    const { members } = world.record;
    world.doc({ members: { ...members, 1: { ...members[1]!, reached: { index: 900, revision: 100 } } } });
    const { etcd, ...silent } = agent(2);
    return world.agent(2, committedIndex === undefined ? silent : { ...silent, etcd: { ...etcd!, committedIndex } });
  };

  test('is passed over for one that has come to its mark', () => {
    expect(setBack(900).written?.op).toMatchObject({ kind: 'Recover', args: { survivor: { ordinal: 2 } } });
  });

  test.each([899, undefined])('is not, if the other one has come to %p: a person names one', (index) => {
    const world = setBack(index);
    expect(world.effect).toBeUndefined();
    expect(world.reason('Accepted')).toBe('SurvivorUnreachable');
    world.spec({ recovery: { ...recovery, survivor: 1 } });
    expect(world.written?.op).toMatchObject({ kind: 'Recover', args: { survivor: { ordinal: 1 } } });
  });

  test('is taken if all others are lost', () => {
    expect(setBack().volumeLost(2).written?.op).toMatchObject({ args: { survivor: { ordinal: 1 } } });
  });
});

describe('nothing happens', () => {
  const refusals: [string, World, string, string][] = [
    ['without the acknowledgement', lost({ acceptDataLoss: false }), 'Accepted', 'RecoveryNotAcknowledged'],
    ['while a better survivor may be hidden', lost().agent(1, undefined), 'Accepted', 'SurvivorUnreachable'],
    ['without a backup schedule', lost().spec({ schedule: undefined }), 'Stalled', 'BackupFailed'],
  ];

  test.each(refusals)('%s', (_, world, type, reason) => {
    expect(world.effect).toBeUndefined();
    expect(world.reason(type)).toBe(reason);
  });

  test('before quorum is lost for long enough', () => {
    const world = lost();
    world.o.since.quorumLost = now;
    expect(world.effect).toBeUndefined();
  });
});

test('agents see a leader: quorum exists, only the reconciler cannot read', () => {
  const world = new World(3).noQuorum().spec({ recovery });
  for (const i of [0, 1]) world.agent(i, agent(i));
  expect(world.effect).toBeUndefined();
  expect(world.reason('QuorumLost')).toBe('QuorumUnknown');
});

test('a survivor named by a person is taken although others are hidden', () => {
  expect(lost({ survivor: 2 }).agent(1, undefined).rule).toBe('Recover');
});

test('asked for while quorum serves: used up, it must not fire at a later loss', () => {
  const world = new World(3).spec({ recovery }).commit();
  expect(world.record.lastRecoveryId).toBe('r1');
  expect(world.volumeLost(0).volumeLost(1).noQuorum().effect).toBeUndefined();
});

test('quorum is back before the fence: it ends, nothing is lost', () => {
  const world = lost().commit();
  world.set({ members: new World(3).o.members, status: new World(3).o.status });
  expect(world.rule).toBe('Recover.quorumBack');
  expect(world.written).toMatchObject({ lastRecoveryId: 'r1', epoch: 1 });
});

test('taken back before the fence: it ends', () => {
  expect(lost().commit().spec({ recovery: undefined }).rule).toBe('Restore.withdrawn');
});
