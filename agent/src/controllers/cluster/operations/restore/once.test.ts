import { known, unknown } from '../../../../protocol/known.ts';
import type { RecordDoc } from '../../../../protocol/record.ts';
import { agent, asking, idOf, pod, World } from '../../../port/observed.fixture.ts';
import type { Job, RestoreRequest } from '../../../port/observed.ts';
import { request as requestOf } from './request.fixture.ts';

// What was restored is never restored again, whoever deletes, renames or creates EtcdRestores.

const request = (change: Partial<RestoreRequest> = {}) => requestOf({ safetyBackup: false, ...change });
const tuesday = (change: Partial<RestoreRequest> = {}) =>
  request({ name: 'tuesday', uid: 'other-uid', createdAt: 2, specHash: 'other', ...change });
const asked = (...requests: RestoreRequest[]) => new World(3).set({ restores: known(requests) });
const restored = (id: string, change: object = {}) => ({ id, uid: 'restore-uid', specHash: 'hash', at: '', ...change });
const begins = (id: string) => ({ op: { kind: 'Restore', args: { id } } });

describe('once per name', () => {
  const again = (change: Partial<RestoreRequest>) => asked(request(change)).doc({ restores: [restored('monday')] });

  test('the same spec created again: AlreadyRestored', () => {
    expect(again({ uid: 'made-again' }).effect).toMatchObject({ phase: 'Completed', reason: 'AlreadyRestored' });
  });

  test('another spec under the name: NameUsed', () => {
    expect(again({ uid: 'made-again', specHash: 'other' }).effect).toMatchObject({
      phase: 'Failed',
      reason: 'NameUsed',
    });
  });

  test('after a failure: NameUsed, because whoever brings it back later would discard what was written since', () => {
    const failing = asked(request()).op({
      ...{ kind: 'Restore', id: 'fresh-id', holder: 'h', startedAt: '', step: 'report' },
      args: {
        ...{ id: 'monday', uid: 'restore-uid', specHash: 'hash', source: { backupName: 'b' }, sourceToken: '' },
        ...{ safetyBackup: false, ignoreUnreachablePods: false },
        failed: { reason: 'SnapshotRefused', message: 'no such snapshot' },
      },
    });
    const world = failing.set({ restores: known([request({ phase: 'Failed' })]) }).commit();
    expect(world.record).toMatchObject({ failedRestores: ['monday'], restores: [] });
    const back = request({ uid: 'made-again', specHash: 'other' });
    expect(world.set({ restores: known([back]) }).effect).toMatchObject({ phase: 'Failed', reason: 'NameUsed' });
    // The same under another name is a new try.
    expect(world.set({ restores: known([request({ name: 'tuesday' })]) }).written).toMatchObject(begins('tuesday'));
  });

  test('a later default of the CRD does not make another spec of it', () => {
    const world = again({ specHash: 'with a default' });
    expect(world.effect).toMatchObject({ phase: 'Completed', reason: 'Restored' });
  });

  test('the same spec under another name: nothing is restored, and it says how to ask again', () => {
    const renamed = again({ name: 'tuesday', uid: 'another' });
    expect(renamed.effect).toMatchObject({ phase: 'Failed', reason: 'RestoredUnderOtherName' });
    expect(renamed.effect).toMatchObject({ message: expect.stringMatching(/^EtcdRestore monday .* spec\.again/) });
    expect(again({ name: 'tuesday', specHash: 'other' }).written).toMatchObject(begins('tuesday'));
  });
});

describe('what was there before the data of the cluster', () => {
  const older = (id: string, specHash: string, change: Partial<RestoreRequest> = {}) =>
    asked(request(change)).doc({ olderRestores: [{ id, specHash }] });
  const refused = {
    ...{ kind: 'ReportRestore', name: 'monday', phase: 'Failed', reason: 'OlderThanCluster' },
    message: expect.stringContaining('another name and another text in spec.again'),
  };

  test('is refused: also when it is deleted and created again, or gets another name or another spec', () => {
    expect(older('monday', 'hash').effect).toMatchObject(refused);
    expect(older('monday', 'hash', { uid: 'made-again', createdAt: 9e15 }).effect).toMatchObject(refused);
    expect(older('sunday', 'hash').effect).toMatchObject(refused);
    expect(older('monday', 'of before').effect).toMatchObject(refused);
    expect(older('sunday', 'of before').written).toMatchObject(begins('monday'));
  });

  const born = (...requests: RestoreRequest[]) => {
    const world = new World(3, { origin: { source: { backupName: 'b' } } });
    for (const i of [0, 1, 2]) world.agent(i, asking(i));
    world
      .set({ members: unknown('no etcd'), status: {}, restores: known(requests) })
      .doc({ epoch: 0, seeded: false, phase: 'Seeding', members: {}, clusterId: undefined })
      .commit();
    const serving = { url: 'https://10.0.0.9:8080/snapshot', sha256: 'sha', sizeBytes: 1000, revision: 4000 };
    const job: Job = { kind: 'restore', uid: 'j', op: 'fresh-id', state: 'Running', deleting: false, serving };
    return world.set({ jobs: known([job]) }).commit();
  };

  test('is noted when a cluster is born from its origin, whatever its status says', () => {
    const world = born(request({ phase: 'Completed' }), tuesday());
    expect(world.set({ restores: unknown('no answer') }).rule).not.toBe('Fence');
    world.set({ restores: known([request({ phase: 'Completed' }), tuesday()]) }).doc({
      olderRestores: [
        { id: 'sunday', specHash: 'former' },
        { id: 'monday', specHash: 'former' },
      ],
    });
    expect(world.written).toMatchObject({
      epoch: 1,
      olderRestores: [
        { id: 'sunday', specHash: 'former' },
        { id: 'monday', specHash: 'hash' },
        { id: 'tuesday', specHash: 'other' },
      ],
    });
    expect(new World(3).record).not.toHaveProperty('olderRestores');
  });

  test('does not take the place of an origin that is blocked; what is made later does', () => {
    const world = born(request()).commit();
    expect(world.record).toMatchObject({ phase: 'Restoring', olderRestores: [{ id: 'monday' }] });
    const failed: Job = { kind: 'restore', uid: 'j', op: 'fresh-id', state: 'Failed', deleting: false };
    world.set({ jobs: known([failed]) });
    expect(world.effect).toMatchObject({ name: 'monday', reason: 'OlderThanCluster' });
    expect(world.set({ restores: known([request({ phase: 'Failed' })]) }).effect).toBeUndefined();
    const renamed = request({ name: 'sunday', uid: 'renamed' });
    expect(world.set({ restores: known([renamed]) }).effect).toMatchObject({ name: 'sunday', phase: 'Failed' });
    world.set({ restores: known([request(), renamed, tuesday()]) });
    expect(world.written).toMatchObject(begins('tuesday'));
  });

  test.each(['Draining', 'Restoring', 'Regrowing', 'Completed', 'Failed'])(
    'is noted in the first record if it was %s in a former cluster',
    (phase) => {
      const world = asked(request({ phase }), tuesday({ phase: 'Verifying' }));
      world.set({ record: known(undefined), members: unknown('no etcd'), status: {}, claims: known([]) });
      world.cluster.status = {};
      for (const i of [0, 1, 2]) world.agent(i, asking(i));
      expect(world.written).toMatchObject({ epoch: 0, olderRestores: [{ id: 'monday', specHash: 'hash' }] });
      expect(world.set({ restores: unknown('no answer') }).effect).toBeUndefined();
    },
  );
});

describe('in the place of one that is blocked past its fence', () => {
  const blocked = (restores: RecordDoc['restores'], ...requests: RestoreRequest[]) =>
    asked(...requests)
      .doc({ epoch: 2, minEpoch: 2, phase: 'Restoring', seeded: false, members: {}, restores })
      .op({
        ...{ kind: 'Restore', id: 'fresh-id', holder: 'h', startedAt: '', step: 'seed' },
        args: {
          ...{ id: 'monday', uid: 'restore-uid', specHash: 'hash', source: { backupName: 'b' }, sourceToken: '' },
          ...{ safetyBackup: false, ignoreUnreachablePods: false },
        },
      })
      .sts({ minEpoch: 2, replicas: 0 })
      .set({ jobs: known([{ kind: 'restore', uid: 'j', op: 'fresh-id', state: 'Failed', deleting: false }]) });

  test('the same may go on under another name, but nothing that was restored before', () => {
    const renamed = tuesday({ specHash: 'hash' });
    expect(blocked([restored('monday')], renamed).written).toMatchObject(begins('tuesday'));
    const earlier = [restored('sunday', { specHash: 'other' }), restored('monday')];
    expect(blocked(earlier, tuesday()).effect).toMatchObject({ phase: 'Failed', reason: 'RestoredUnderOtherName' });
  });

  test('the same name with another spec is refused, and keeps nothing waiting', () => {
    const corrected = request({ uid: 'made-again', specHash: 'corrected' });
    const world = blocked([restored('monday')], corrected);
    expect(world.effect).toMatchObject({ name: 'monday', uid: 'made-again', phase: 'Failed', reason: 'NameUsed' });
    expect(blocked([restored('monday')], corrected, tuesday()).written).toMatchObject(begins('tuesday'));
    // With the same spec it is the one in flight, which waits for its snapshot.
    expect(blocked([restored('monday')], request({ uid: 'made-again' })).rule).not.toBe('ReportRestore');
  });

  test('one that is corrected under its name takes the place of the one that took its place', () => {
    const second = blocked([restored('monday')], tuesday()).commit();
    expect(second.record.op).toMatchObject({ step: 'verify', args: { id: 'tuesday' } });
    const { id: op } = second.record.op!;
    second.set({ jobs: known([{ kind: 'restore', uid: 'j2', op, state: 'Failed', deleting: false }]) });
    const corrected = tuesday({ uid: 'corrected', specHash: 'corrected' });
    expect(second.set({ restores: known([corrected]) }).written).toMatchObject({
      op: { step: 'verify', args: { id: 'tuesday', uid: 'corrected' } },
    });
    expect(second.written).not.toHaveProperty('failedRestores');
    // Another one in its place: it never came to its own fence, and does not begin when it is created again.
    const wednesday = request({ name: 'wednesday', uid: 'u3', specHash: 'third' });
    expect(second.set({ restores: known([tuesday({ phase: 'Failed' }), wednesday]) }).written).toMatchObject({
      ...begins('wednesday'),
      failedRestores: ['tuesday'],
    });
  });

  test('one that is deleted before its own fence is taken back, and another one goes on', () => {
    const second = blocked([restored('monday')], tuesday()).commit();
    const serving = { url: 'https://10.0.0.9:8080/snapshot', sha256: 'sha', sizeBytes: 1000, revision: 4000 };
    const { id: op } = second.record.op!;
    second.set({ jobs: known([{ kind: 'restore', uid: 'j2', op, state: 'Running', deleting: false, serving }]) });
    expect(second.commit().rule).toBe('Fence');
    expect(second.set({ restores: known([]) }).rule).not.toBe('Fence');
    expect(second.plan().conditions.find(({ type }) => type === 'Stalled')).toMatchObject({
      ...{ status: 'True', reason: 'RestoreBlocked', message: expect.stringContaining('was deleted') },
    });
    // One that has said that it failed does not go on either.
    expect(second.set({ restores: known([tuesday({ phase: 'Failed' })]) }).rule).not.toBe('Fence');
    const wednesday = request({ name: 'wednesday', uid: 'u3', specHash: 'third' });
    expect(second.set({ restores: known([wednesday]) }).written).toMatchObject(begins('wednesday'));
    expect(second.written).not.toHaveProperty('failedRestores');
    expect(second.set({ restores: known([tuesday({ deleting: true }), wednesday]) }).effect).toMatchObject({
      ...{ name: 'tuesday', reason: 'Superseded', message: expect.stringContaining('was deleted before its fence') },
    });
    // Created again with the same spec, it goes on, and what is restored is its own.
    expect(second.set({ restores: known([tuesday({ uid: 'again' })]) }).written?.restores.at(-1)).toMatchObject({
      ...{ id: 'tuesday', uid: 'again' },
    });
  });

  test('what it replaced may still come to serve, so the same under a third name is refused, and says how to ask', () => {
    const world = blocked([restored('monday')], tuesday())
      .commit()
      .set({ pods: known([]) });
    world.o.agents = {};
    world.doc({ restores: [...world.record.restores, restored('tuesday', { specHash: 'other' })] });
    const [failed, wednesday] = [tuesday({ phase: 'Failed' }), request({ name: 'wednesday', uid: 'u3' })];
    world.set({ restores: known([failed, wednesday]) });
    const refusal = { name: 'wednesday', phase: 'Failed', reason: 'RestoredUnderOtherName' };
    expect(world.effect).toMatchObject({ ...refusal, message: expect.stringContaining('spec.again') });
    world.set({ restores: known([failed, request({ name: 'wednesday', uid: 'u3', specHash: 'again' })]) });
    expect(world.written).toMatchObject(begins('wednesday'));
  });
});

describe('one that is being deleted, though a finalizer keeps it', () => {
  const going = request({ deleting: true });

  test('does not begin, and is taken back before its fence', () => {
    expect(asked(going).rule).not.toBe('Restore');
    const world = asked(request()).commit();
    expect(world.record.op).toMatchObject({ kind: 'Restore' });
    expect(world.set({ restores: known([going]) }).rule).toBe('Restore.withdrawn');
    expect(world.written?.op).toBeUndefined();
    expect(world.set({ restores: unknown('500') }).rule).not.toBe('Restore.withdrawn');
  });

  test('still says what came of it', () => {
    const world = asked(going).doc({ restores: [restored('monday')] });
    expect(world.effect).toMatchObject({ phase: 'Completed', reason: 'Restored' });
  });
});

describe('Completed', () => {
  const regrown = (...requests: RestoreRequest[]) =>
    asked(...requests).doc({ restores: [restored('monday')], lastRestoreId: 'monday' });
  const report = { kind: 'ReportRestore', name: 'monday', phase: 'Completed' };

  test('counts the members that are wanted', () => {
    const world = new World(4).spec({ size: 3 }).set({ restores: known([request()]) });
    world.doc({ restores: [restored('monday')], lastRestoreId: 'monday' });
    world.agent(2, undefined).set({ pods: known([pod(0), pod(1), pod(2, { ready: false }), pod(3)]) });
    world.o.since.down = { [idOf(2)]: 0 };
    expect(world.rule).not.toBe('ReportRestore');
    world.agent(2, agent(2)).set({ pods: known([pod(0), pod(1), pod(2), pod(3)]) });
    expect(world.rule).toBe('ReportRestore');
  });

  test('waits for ready pods also if the EtcdRestore was created again meanwhile', () => {
    const world = regrown(request({ uid: 'made-again' }));
    world.set({ pods: known([pod(0), pod(1), pod(2, { ready: false })]) });
    expect(world.rule).not.toBe('ReportRestore');
    world.set({ pods: known([pod(0), pod(1), pod(2)]) });
    expect(world.effect).toMatchObject({ ...report, reason: 'AlreadyRestored' });
    // A later operation has replaced the members since: they are not its own.
    world.set({ pods: known([pod(0), pod(1), pod(2, { ready: false })]) }).doc({ lastRestoreId: 'tuesday' });
    expect(world.effect).toMatchObject({ ...report, reason: 'AlreadyRestored' });
    world.doc({ restores: [restored('monday'), restored('tuesday', { specHash: 'other' })] });
    expect(world.effect).toMatchObject({ message: expect.stringContaining('tuesday has replaced its data since') });
  });

  test('does not keep a refusal waiting', () => {
    const world = regrown(request({ uid: 'made-again', specHash: 'other' }));
    world.set({ pods: known([pod(0), pod(1), pod(2, { ready: false })]) });
    expect(world.effect).toMatchObject({ phase: 'Failed', reason: 'NameUsed' });
  });

  test('is not what another EtcdRestore has overwritten; a recovery keeps its data', () => {
    const world = regrown(request(), tuesday({ phase: 'Completed' }));
    const recovery = restored('recovery:a', { uid: 'r', specHash: '' });
    world.doc({ restores: [restored('monday'), recovery], lastRestoreId: 'recovery:a' });
    expect(world.effect).toMatchObject({ ...report, reason: 'Restored' });
    world.doc({ restores: [restored('monday'), restored('tuesday', { uid: 'u', specHash: 'other' }), recovery] });
    expect(world.effect).toMatchObject({
      ...{
        name: 'monday',
        phase: 'Failed',
        reason: 'Superseded',
        message: expect.stringContaining('EtcdRestore tuesday'),
      },
    });
  });
});
