import { known } from '../known.ts';
import { agent, idOf, now, World } from '../observed.fixture.ts';
import type { RecoveryRequest } from '../observed.ts';

const recovery: RecoveryRequest = { id: 'r1', action: 'RestoreFromSurvivor', acceptDataLoss: true };

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
  expect(world.effect).toMatchObject({ kind: 'CreateJob', job: { kind: 'recovery', survivor: 2 } });
  world.set({
    jobs: known([{ kind: 'recovery', uid: 'j', op: 'fresh-id', state: 'Succeeded', deleting: false, backup }]),
  });
  expect(world.written?.op).toMatchObject({ step: 'verify', args: { source: { snapshotId: 'snap' }, sha256: 'sha' } });
});

test('one that does not answer is salvaged from its volume', () => {
  const world = lost().down(2).commit();
  expect(world.record.op).toMatchObject({ step: 'salvage' });
  world.commit();
  expect(world.record.permits[2]).toMatchObject({
    mode: 'salvage',
    nonce: 'nonce-2',
    salvage: { token: 'fresh-secret' },
  });
  expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2' });
  const salvage = {
    sha256: 'x',
    sizeBytes: 1,
    revision: 1,
    lastIndex: 9,
    commit: 8,
    url: 'https://10.0.0.3:8080/salvage',
  };
  world.pod(2, { uid: 'pod-2b' }).agent(2, agent(2, { podUid: 'pod-2b', state: 'Held', etcd: undefined, salvage }));
  expect(world.effect).toMatchObject({
    kind: 'CreateJob',
    job: { kind: 'salvage', salvage: { url: salvage.url, token: 'fresh-secret' } },
  });
});

test('the newest survivor', () => {
  const world = new World(5).volumeLost(0).volumeLost(1).volumeLost(2).noQuorum().spec({ size: 5, recovery });
  world.agent(3, agent(3, { etcd: { ...agent(3).etcd!, term: 3 } }));
  expect(world.written?.op).toMatchObject({ args: { survivor: { ordinal: 3 } } });
});

describe('nothing happens', () => {
  const refusals: [string, World, string, string][] = [
    ['without the acknowledgement', lost({ acceptDataLoss: false }), 'Accepted', 'RecoveryNotAcknowledged'],
    ['for an unknown action', lost({ action: 'Magic' }), 'Accepted', 'RecoveryUnknownAction'],
    ['while a better survivor may be hidden', lost().agent(1, undefined), 'Accepted', 'RecoverySurvivorHidden'],
    ['without a backup schedule', lost().spec({ schedule: undefined }), 'Held', 'BackupFailed'],
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

test('agents see a leader: quorum is there, it is we who can not read', () => {
  const world = new World(3).noQuorum().spec({ recovery });
  for (const i of [0, 1]) world.agent(i, agent(i));
  expect(world.effect).toBeUndefined();
  expect(world.reason('QuorumLost')).toBe('UnknownState');
});

test('a survivor named by a person is taken although others are hidden', () => {
  expect(lost({ survivor: 2 }).agent(1, undefined).row).toBe('Recover');
});

test('asked for while quorum serves: used up, it must not fire at a later loss', () => {
  const world = new World(3).spec({ recovery }).commit();
  expect(world.record.lastRecoveryId).toBe('r1');
  expect(world.volumeLost(0).volumeLost(1).noQuorum().effect).toBeUndefined();
});

test('quorum is back before the fence: it ends, nothing is lost', () => {
  const world = lost().commit();
  world.set({ members: new World(3).o.members, status: new World(3).o.status });
  expect(world.row).toBe('Recover.quorumBack');
  expect(world.written).toMatchObject({ lastRecoveryId: 'r1', epoch: 1 });
});

test('taken back before the fence: it ends', () => {
  expect(lost().commit().spec({ recovery: undefined }).row).toBe('Restore.withdrawn');
});
