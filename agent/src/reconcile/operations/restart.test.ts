import { known, unknown } from '../known.ts';
import { agent, asking, idOf, now, status, World } from '../observed.fixture.ts';

/** The template is newer than every pod. */
const rolling = (size = 3, change = {}) => new World(size, change).sts({ updateRevision: 'r2' });

const versions = (world: World, version: string) => {
  for (const id of Object.keys(world.o.status)) world.o.status[id] = known(status({ version }));
  return world;
};

describe('a new template', () => {
  test('followers first, from the highest ordinal', () => {
    expect(rolling().written?.op).toMatchObject({ kind: 'DeletePod', ordinal: 2, podUid: 'pod-2' });
  });

  test('a broken pod before them', () => {
    expect(rolling().down(1).written?.op).toMatchObject({ ordinal: 1 });
  });

  test('the leader last, after it has handed on', () => {
    const world = rolling().pod(1, { revision: 'r2' }).pod(2, { revision: 'r2' });
    expect(world.commit().record.op).toMatchObject({ ordinal: 0 });
    expect(world.effect).toEqual({ kind: 'MoveLeader', leader: idOf(0), to: idOf(1) });
    for (const id of Object.keys(world.o.status)) world.o.status[id] = known(status({ leader: idOf(1) }));
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 0, uid: 'pod-0' });
  });

  test('one at a time: the next waits until the last is healthy for long enough', () => {
    const world = rolling().pod(2, { revision: 'r2', uid: 'pod-2b' });
    world.agent(2, agent(2, { podUid: 'pod-2b' }));
    world.o.since.healthy[idOf(2)] = now;
    expect(world.compared().effect).toBeUndefined();
    world.o.since.healthy[idOf(2)] = 0;
    expect(world.compared().written?.op).toMatchObject({ ordinal: 1 });
  });

  test('and until its data are compared with the others', () => {
    const world = rolling().pod(2, { revision: 'r2', uid: 'pod-2b' });
    world.agent(2, agent(2, { podUid: 'pod-2b' }));
    expect(world.row).toBe('VerifyHash');
  });

  test('a pod that is being deleted counts as away', () => {
    const world = rolling().pod(2, { deleting: true });
    expect(world.effect).toBeUndefined();
  });

  test('quorum comes first', () => {
    expect(rolling().down(1).down(2).plan().hold).toBe('MajorityDown');
  });

  test('is over when the pod is gone; a restart on the same version is remembered', () => {
    const world = rolling().commit();
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2' });
    world.pods((pods) => pods.filter(({ ordinal }) => ordinal !== 2));
    const { written } = world;
    expect(written).not.toHaveProperty('op');
    expect(written?.members[2]?.restartedOn).toBe('3.6.16');
  });

  test('nor forgotten in a pass that sees no pods', () => {
    const world = rolling()
      .commit()
      .set({ pods: unknown('timeout') });
    expect(world.effect).toBeUndefined();
  });

  test('the restart that brings a version does not count', () => {
    const world = versions(rolling().sts({ version: '3.6.17' }), '3.6.16').commit();
    world.pods((pods) => pods.filter(({ ordinal }) => ordinal !== 2));
    expect(world.written?.members[2]?.restartedOn).toBeUndefined();
  });

  test('a single member restarts alone', () => {
    expect(rolling(1).row).toBe('RestartPod');
  });

  test('two members: with a pause, if that is the size; else not', () => {
    expect(rolling(2, { allowEvenSize: true }).row).toBe('RestartPod');
    expect(rolling(2, { allowEvenSize: true }).spec({ size: 3 }).row).not.toBe('RestartPod');
  });

  test('not while the controller has not seen it', () => {
    expect(rolling().sts({ observed: false }).effect).toBeUndefined();
  });

  test('it names a minor that is not allowed: an upgrade comes first', () => {
    const world = rolling(3, { version: '3.7.3' }).sts({ version: '3.7.3' });
    expect(world.row).toBe('Upgrade');
  });

  test('a bad template reached a majority: pods without a living etcd follow the mended one', () => {
    const world = rolling().down(0).down(1).noQuorum();
    for (const i of [0, 1]) world.pod(i, { ready: false }).agent(i, agent(i, { etcd: undefined, state: 'Starting' }));
    expect(world.row).toBe('RestartBroken');
    expect(world.agent(0, undefined).agent(1, undefined).effect).toBeUndefined();
  });
});

describe('going back in a half-done upgrade', () => {
  const mixed = () => {
    const world = rolling(3, { version: '3.5.35' }).sts({ version: '3.5.35' });
    return world.doc({ versions: { current: '3.5', allowedMinors: ['3.5', '3.6'] } });
  };

  test('as long as a voter runs the old one', () => {
    const world = mixed();
    for (const i of [0, 2]) world.o.status[idOf(i)] = known(status({ clusterVersion: '3.5.0' }));
    world.o.status[idOf(1)] = known(status({ version: '3.5.35', clusterVersion: '3.5.0' }));
    expect(world.written?.op).toMatchObject({ kind: 'DeletePod', nextVersion: '3.5.35' });
  });

  test('not when every voter runs the new one', () => {
    expect(mixed().row).toBe('Upgrade.finalize');
    const world = versions(mixed(), '3.6.16');
    for (const id of Object.keys(world.o.status)) world.o.status[id] = known(status({ clusterVersion: '3.5.0' }));
    for (const i of [0, 1, 2]) world.agent(i, agent(i, { etcd: { ...agent(i).etcd!, clusterVersion: '3.5.0' } }));
    expect(world.effect).toBeUndefined();
  });
});

describe('ephemeral', () => {
  test('a restart is a replacement', () => {
    const world = rolling(3, { ephemeral: true }).set({ claims: known([]) });
    expect(world.written?.op).toMatchObject({ kind: 'Remove', memberId: idOf(2), why: 'Roll' });
    world.commit().removed(2).commit();
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2' });
    world.pod(2, { uid: 'pod-2b', revision: 'r2', ready: false }).agent(2, asking(2, 'new-2', { podUid: 'pod-2b' }));
    expect(world.written?.op).toMatchObject({ kind: 'AddLearner', ordinal: 2 });
  });

  test('the only member: backed up, then restored into the next pod', () => {
    const world = rolling(1, { ephemeral: true }).set({ claims: known([]) });
    expect(world.written?.op).toMatchObject({ kind: 'Restore', step: 'backup', args: { id: 'roll:fresh-id' } });
    world.commit();
    expect(world.effect).toMatchObject({ kind: 'CreateJob', job: { kind: 'pre-upgrade', op: 'fresh-id' } });
    const job = {
      kind: 'pre-upgrade' as const,
      uid: 'j',
      op: 'fresh-id',
      state: 'Succeeded' as const,
      deleting: false,
    };
    world.set({ jobs: known([{ ...job, backup: { id: 'snap', revision: 1, sha256: 'sha' } }]) });
    expect(world.written?.op).toMatchObject({
      step: 'verify',
      args: { source: { snapshotId: 'snap' }, sha256: 'sha' },
    });
  });

  test('the only member, no schedule: held, untouched', () => {
    const world = rolling(1, { ephemeral: true, schedule: undefined });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Held')).toBe('EphemeralSingle');
  });

  test('every pod lost: held', () => {
    const world = new World(3, { ephemeral: true }).volumeLost(0).volumeLost(1).volumeLost(2).noQuorum();
    expect(world.plan().hold).toBe('AllVolumesLost');
  });
});

test('members that differ: nothing is changed, the minority is a person’s to name', () => {
  const world = rolling().compared(false);
  expect(world.plan().hold).toBe('CorruptAlarm');
  expect(world.reason('Held')).toBe('CorruptAlarm');
});

test('alarm CORRUPT is disarmed when the member that it names is gone and the others are equal', () => {
  const raised = (memberId: string) => new World(3).set({ alarms: known([{ memberId, type: 'Corrupt' }]) });
  expect(raised(idOf(1)).plan().hold).toBe('CorruptAlarm');
  expect(raised('id-old').effect).toEqual({ kind: 'Disarm', memberId: 'id-old', alarm: 'Corrupt' });
});

test('a pod that runs another version than its template says: held', () => {
  const world = rolling().agent(1, agent(1, { state: 'Refused', reason: 'VersionMismatch' }));
  expect(world.plan().hold).toBe('VersionMismatch');
});
