import { known, unknown } from '../known.ts';
import { agent, asking, idOf, pod, status, World } from '../observed.fixture.ts';
import type { Job, RestoreRequest } from '../observed.ts';

const request = (change: Partial<RestoreRequest> = {}): RestoreRequest => ({
  name: 'monday',
  uid: 'restore-uid',
  createdAt: 1,
  specHash: 'hash',
  source: { backupName: 'b' },
  safetyBackup: true,
  ignoreUnreachablePods: false,
  ...change,
});

const asked = (change: Partial<RestoreRequest> = {}) => new World(3).set({ restores: known([request(change)]) });

const job = (change: Partial<Job>): Job => ({
  kind: 'restore',
  uid: 'job-uid',
  op: 'fresh-id',
  state: 'Running',
  deleting: false,
  ...change,
});
const serving = { url: 'https://10.0.0.9:8080/snapshot', sha256: 'sha', sizeBytes: 1000, revision: 4000 };
const restoreJob = job({ serving });
const safetyJob = job({
  kind: 'safety',
  uid: 'safety-uid',
  state: 'Succeeded',
  backup: { id: 's', revision: 1, sha256: 'x' },
});

const verified = (change: Partial<RestoreRequest> = {}) =>
  asked(change)
    .commit()
    .set({ jobs: known([restoreJob]) })
    .commit();
const backedUp = () =>
  verified()
    .set({ jobs: known([restoreJob, safetyJob]) })
    .commit();
const fenced = () => backedUp().commit();
const drained = () => {
  const world = fenced().sts({ epochFloor: 2, replicas: 0 });
  world.o.agents = {};
  return world.set({ pods: known([]), members: unknown('no etcd'), status: {} }).commit();
};
const permitted = () => {
  const world = drained().sts({ replicas: 1 });
  world.set({ pods: known([pod(0, { ready: false })]) });
  world.agent(0, asking(0, 'seed-nonce', { epochFloor: 2 }));
  return world.commit();
};

describe('in place', () => {
  test('R1: nothing is touched before the snapshot is verified', () => {
    const world = asked().commit();
    expect(world.record.op).toMatchObject({
      kind: 'Restore',
      step: 'verify',
      args: { id: 'monday', uid: 'restore-uid' },
    });
    expect(world.effect).toMatchObject({
      kind: 'CreateJob',
      job: {
        kind: 'restore',
        op: 'fresh-id',
        restore: { source: { backupName: 'b' }, minor: '3.6', token: 'fresh-secret' },
      },
    });
  });

  test('R1: what does not verify changes nothing, and the EtcdRestore says so', () => {
    const world = asked()
      .commit()
      .set({ jobs: known([job({ state: 'Failed', message: 'sha256 differs' })]) })
      .commit();
    expect(world.effect).toEqual({
      kind: 'ReportRestore',
      name: 'monday',
      uid: 'restore-uid',
      phase: 'Failed',
      reason: 'SnapshotRefused',
      message: 'sha256 differs',
    });
    world.set({ restores: known([request({ phase: 'Failed' })]) });
    expect(world.commit().record).toMatchObject({ epoch: 1, seeded: true, restores: [] });
    expect(world.record).not.toHaveProperty('op');
  });

  test('R1: no room for two databases', () => {
    const world = asked()
      .commit()
      .set({ jobs: known([job({ serving: { ...serving, sizeBytes: 4 * 2 ** 30 } })]) });
    expect(world.written?.op).toMatchObject({ step: 'report', args: { failed: { reason: 'NoSpace' } } });
  });

  test('R2: a safety backup first', () => {
    const world = verified();
    expect(world.record.op).toMatchObject({ step: 'safety' });
    expect(world.effect).toMatchObject({ kind: 'CreateJob', job: { kind: 'safety', schedule: 'nightly' } });
    expect(verified({ safetyBackup: false }).record.op).toMatchObject({ step: 'fence' });
  });

  test('R2: no schedule, no restore', () => {
    const world = verified().spec({ schedule: undefined });
    expect(world.written?.op).toMatchObject({ step: 'report', args: { failed: { reason: 'NoSchedule' } } });
  });

  test('R3: epoch, token, floor and the name are fenced in one write', () => {
    const { record } = fenced();
    expect(record).toMatchObject({
      epoch: 2,
      floor: 2,
      token: 'fresh-token',
      phase: 'Restoring',
      seeded: false,
      permits: {},
      members: {},
      restores: [{ id: 'monday', uid: 'restore-uid', specHash: 'hash' }],
      op: { step: 'drain' },
    });
    expect(record).not.toHaveProperty('clusterId');
  });

  test('R3: not when the Job serves another snapshot by now', () => {
    const world = backedUp().set({ jobs: known([job({ serving: { ...serving, sha256: 'other' } })]) });
    expect(world.written?.op).toMatchObject({ step: 'report' });
  });

  test('R3: not when the EtcdRestore was deleted', () => {
    expect(backedUp().set({ restores: known([]) }).row).toBe('Restore.withdrawn');
    expect(backedUp().set({ restores: unknown('403') }).row).toBe('Fence');
    expect(fenced().set({ restores: known([]) }).row).not.toBe('Restore.withdrawn');
  });

  test('R4: the template first, then no pod', () => {
    const world = fenced();
    expect(world.effect).toEqual({ kind: 'AnnotateEpoch', epoch: 2, basedOn: 'sts-rv' });
    expect(world.sts({ epochFloor: 2 }).effect).toEqual({ kind: 'ScaleTo', replicas: 0, basedOn: 'sts-rv' });
  });

  test('R5: waits for the last pod; one on a dead node only by word, and never ordinal 0', () => {
    const left = (ordinal: number, ignoreUnreachablePods: boolean) => {
      const world = fenced().sts({ epochFloor: 2, replicas: 0 });
      const { op } = world.record;
      if (op?.kind === 'Restore') world.op({ ...op, args: { ...op.args, ignoreUnreachablePods } });
      world.o.since.silent = { [ordinal]: 0 };
      return world
        .pods((pods) => pods.filter((p) => p.ordinal === ordinal))
        .pod(ordinal, { deleting: true })
        .agent(ordinal, undefined);
    };
    expect(left(2, false).effect).toBeUndefined();
    expect(left(2, false).reason('Held')).toBe('DanglingOldPods');
    expect(left(2, true).row).toBe('Drained');
    expect(left(0, true).effect).toBeUndefined();
  });

  test('R6: one pod, with the new floor', () => {
    const world = drained();
    expect(world.effect).toEqual({ kind: 'ScaleTo', replicas: 1, basedOn: 'sts-rv' });
    world
      .sts({ replicas: 1 })
      .set({ pods: known([pod(0)]) })
      .agent(0, asking(0, 'n', { epochFloor: 1 }));
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 0, uid: 'pod-0' });
  });

  test('R7: a permit for the one volume, from the verified snapshot', () => {
    const permit = permitted().record.permits[0];
    expect(permit).toMatchObject({
      mode: 'restore',
      nonce: 'seed-nonce',
      epoch: 2,
      token: 'fresh-token',
      restore: { id: 'monday', source: { url: serving.url, sha256: 'sha', token: 'fresh-secret' }, bumpRevision: 1e9 },
    });
  });

  test('R7: another volume asks: another epoch and token, the same floor', () => {
    const world = permitted().agent(0, asking(0, 'other-nonce', { epochFloor: 2 }));
    expect(world.written).toMatchObject({ epoch: 3, floor: 2, permits: { 0: { nonce: 'other-nonce', epoch: 3 } } });
  });

  test('R7: the Job was made again: the same permit, another address', () => {
    const world = permitted().set({ jobs: known([job({ serving: { ...serving, url: 'https://10.0.0.10' } })]) });
    expect(world.written?.permits[0]).toMatchObject({
      nonce: 'seed-nonce',
      restore: { source: { url: 'https://10.0.0.10' } },
    });
  });

  test('R7: after the fence a lost snapshot is waited for', () => {
    const world = permitted().set({ jobs: known([job({ state: 'Failed', message: 'gone' })]) });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Held')).toBe('RestoreBlocked');
    world.o.since.jobFailed['job-uid'] = 0;
    expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'restore', uid: 'job-uid' });
  });

  test('R8: seeded; the Job goes; the EtcdRestore is completed when the cluster has grown again', () => {
    const world = permitted();
    const restored = agent(0);
    const identity = { ...restored.volume.identity!, epoch: 2, permitId: 'fresh-id', nonce: 'seed-nonce' };
    world.agent(0, { ...restored, epochFloor: 2, volume: { ...restored.volume, identity } });
    world.set({ members: new World(1).o.members, status: { [idOf(0)]: known(status()) } });
    const claims = world.o.claims.known ? world.o.claims.v : [];
    world.set({ claims: known(claims.map((claim) => ({ ...claim, epoch: 2 }))) });
    const { written } = world;
    expect(written).toMatchObject({ seeded: true, phase: 'Running', lastRestoreId: 'monday' });
    expect(written).not.toHaveProperty('op');
    world.commit();
    world.o.since.healthy = { [idOf(0)]: 0 };
    expect(world.row).toBe('GrowPod');
    expect(world.spec({ size: 1 }).row).toBe('ReportRestore');
    world.set({ restores: known([request({ phase: 'Completed' })]) });
    expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'restore', uid: 'job-uid' });
  });
});

describe('blocked past the fence', () => {
  const blocked = () => {
    const world = permitted().set({ jobs: known([job({ state: 'Failed', message: 'gone' })]) });
    return world.set({ restores: known([request(), request({ name: 'tuesday', uid: 'other-uid', createdAt: 2 })]) });
  };

  test('another EtcdRestore takes its place, after its own was told', () => {
    const world = blocked();
    expect(world.effect).toMatchObject({
      kind: 'ReportRestore',
      name: 'monday',
      phase: 'Failed',
      reason: 'RestoreBlocked',
    });
    world.set({ restores: known([request({ phase: 'Failed' }), request({ name: 'tuesday', uid: 'other-uid' })]) });
    world.o.fresh = { ...world.o.fresh, id: 'op-2' };
    expect(world.written?.op).toMatchObject({
      id: 'op-2',
      step: 'verify',
      args: { id: 'tuesday', safetyBackup: false },
    });
    world.commit().set({ jobs: known([job({ op: 'op-2', serving: { ...serving, sha256: 'sha-2' } })]) });
    world.commit().commit();
    expect(world.record).toMatchObject({
      epoch: 3,
      floor: 3,
      restores: [{ id: 'monday' }, { id: 'tuesday' }],
      op: { step: 'drain' },
    });
  });

  test('it is not its own other', () => {
    const world = blocked().set({
      restores: known([request({ phase: 'Failed' }), request({ name: 'tuesday', uid: 'u2' })]),
    });
    world.o.fresh = { ...world.o.fresh, id: 'op-2' };
    world.commit().set({ jobs: known([job({ op: 'op-2', state: 'Failed' })]) });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Held')).toBe('RestoreBlocked');
  });

  test('alone it waits; it is never seeded empty', () => {
    expect(blocked().set({ restores: known([request()]) }).effect).toBeUndefined();
    expect(
      blocked()
        .op(undefined)
        .set({ restores: known([]) }).row,
    ).not.toBe('Seed');
  });
});

describe('once per name', () => {
  const again = (change: Partial<RestoreRequest>) =>
    asked(change).doc({ restores: [{ id: 'monday', uid: 'restore-uid', specHash: 'hash', at: '' }] });

  test('the same spec made again: AlreadyRestored', () => {
    expect(again({ uid: 'made-again' }).effect).toMatchObject({ phase: 'Completed', reason: 'AlreadyRestored' });
  });

  test('another spec under the name: NameUsed', () => {
    expect(again({ uid: 'made-again', specHash: 'other' }).effect).toMatchObject({
      phase: 'Failed',
      reason: 'NameUsed',
    });
  });
});

test('two requests: the older one first', () => {
  const world = new World(3).set({
    restores: known([request({ name: 'b', createdAt: 2 }), request({ name: 'a', createdAt: 1 })]),
  });
  expect(world.written?.op).toMatchObject({ args: { id: 'a' } });
});

test('without a quorum it takes the slot of what waits for one, and gives it back', () => {
  const world = new World(3)
    .volumeLost(1)
    .commit()
    .noQuorum()
    .set({ restores: known([request()]) });
  expect(world.written?.op).toMatchObject({ kind: 'Restore', suspended: { kind: 'Remove', memberId: idOf(1) } });
  world.commit().set({ restores: known([]) });
  expect(world.commit().record.op).toMatchObject({ kind: 'Remove', memberId: idOf(1) });
});

describe('a cluster born from a backup', () => {
  const origin = () => {
    const world = new World(3, { origin: { source: { backupName: 'b' } } });
    for (const i of [0, 1, 2]) world.agent(i, asking(i));
    return world
      .set({ members: unknown('no etcd'), status: {} })
      .doc({ epoch: 0, seeded: false, phase: 'Seeding', members: {}, clusterId: undefined });
  };

  test('verifies, fences, seeds from it; its pods stay, no floor is raised', () => {
    const world = origin().commit();
    expect(world.record.op).toMatchObject({ args: { id: 'origin:uid-1', source: { backupName: 'b' } } });
    world
      .set({ jobs: known([restoreJob]) })
      .commit()
      .commit();
    expect(world.record).toMatchObject({ epoch: 1, floor: 0, op: { step: 'seed' } });
    expect(world.written?.permits[0]).toMatchObject({ mode: 'restore', nonce: 'new-0' });
  });

  test('what does not verify is waited for: never an empty cluster instead', () => {
    const world = origin()
      .commit()
      .set({ jobs: known([job({ state: 'Failed', message: 'not there' })]) });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Held')).toBe('RestoreBlocked');
  });

  test('counts for nothing later', () => {
    expect(new World(3, { origin: { source: { backupName: 'b' } } }).effect).toBeUndefined();
  });
});
