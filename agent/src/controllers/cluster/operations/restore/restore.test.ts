import { keptSnapshots } from '../../../../protocol/kept-snapshots.ts';
import { known, unknown } from '../../../../protocol/known.ts';
import type { Op, RecordDoc, RestoreOp } from '../../../../protocol/record.ts';
import { agent, asking, encrypted, idOf, longAgo, now, pod, status, World } from '../../../port/observed.fixture.ts';
import type { Job, RestoreRequest } from '../../../port/observed.ts';
import { defaultSettings } from '../../../port/settings.ts';
import { plan } from '../../plan.ts';
import { request } from './request.fixture.ts';

const asked = (change: Partial<RestoreRequest> = {}) => new World(3).set({ restores: known([request(change)]) });

const job = (change: Partial<Job>): Job => ({
  kind: 'restore',
  uid: 'job-uid',
  op: 'fresh-id',
  state: 'Running',
  deleting: false,
  ...change,
});
const verifiedBy = { sha256: 'sha', sizeBytes: 1000, revision: 4000 };
const restoreArgs = ({ record: { op } }: World) => (op as RestoreOp).args;
const serving = { url: 'https://10.0.0.9:8080/snapshot', sha256: 'sha', sizeBytes: 1000, revision: 4000 };
/** The first revision of a cluster that is restored now. */
const clock = now * 1000;
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
  const world = fenced().sts({ minEpoch: 2, replicas: 0 });
  world.o.agents = {};
  return world.set({ pods: known([]), members: unknown('no etcd'), status: {} }).commit();
};
const served = (world: World, revision: number) => {
  for (const n of [0, 1, 2]) world.o.status[idOf(n)] = known(status({ revision }));
  return world;
};
const permitted = () => {
  const world = drained().sts({ replicas: 1 });
  world.set({ pods: known([pod(0, { ready: false })]) });
  world.agent(0, asking(0, 'seed-volumeId', { minEpoch: 2 }));
  return world.commit();
};

describe('goes beyond every revision that was served', () => {
  /** No member answers: what served is known from elsewhere. */
  const begin = (world: World, by: Job['serving'] = serving) => {
    world.set({ restores: known([request({ safetyBackup: false })]), members: unknown('no etcd'), status: {} });
    world.o.since.quorumLost = 0;
    world.commit().set({ jobs: known([job({ serving: by })]) });
    world.commit().commit();
    expect(world.record.op).toMatchObject({ step: 'drain' });
    return (world.record.op as { args: { lastRevision: number } }).args.lastRevision;
  };
  const last = { id: 's', at: '2026-11-20T00:00:00Z', revision: 7000 };

  test('that the members say', () => {
    const world = served(asked({ safetyBackup: false }), 9000).commit();
    world.set({ jobs: known([restoreJob]) });
    world.commit().commit();
    expect(world.record.op).toMatchObject({ step: 'drain', args: { lastRevision: 9000 } });
  });

  test('that its backups say, of an operation or a schedule, or the status, or its store', () => {
    expect(begin(new World(3).resource({ backups: { last } }))).toBe(7000);
    expect(begin(new World(3).resource({ status: { lastBackup: last } }))).toBe(7000);
    expect(begin(new World(3))).toBe(0);
    expect(begin(new World(3), { ...serving, highestRevision: 8000 })).toBe(8000);
  });

  test('also one that was served since the newest that is known, as the command line does', () => {
    const world = new World(3).resource({ backups: { last: { ...last, revision: 1_900_000_000 } } });
    expect(begin(world)).toBe(1_900_000_000);
    world.sts({ minEpoch: world.record.minEpoch, replicas: 0 }).set({ pods: known([]) });
    world.o.agents = {};
    world.commit().sts({ replicas: 1 });
    world.set({ pods: known([pod(0, { ready: false })]) });
    world.agent(0, asking(0, 'seed', { minEpoch: world.record.minEpoch })).commit();
    const { bumpRevision } = world.record.permits[0]!.restore!;
    expect(world.record.startRevision).toBe(clock);
    expect(bumpRevision).toBe(clock - serving.revision);
  });

  test('that an earlier restore began with', () => {
    const world = permitted();
    expect(world.record.permits[0]).toMatchObject({ restore: { bumpRevision: clock - serving.revision } });
    expect(world.record.startRevision).toBe(clock);
    const again = new World(3);
    again.o.record = known({
      ...(again.o.record as { v: { doc: object } }).v,
      doc: { ...again.record, startRevision: clock },
    } as never);
    expect(begin(again)).toBe(clock);
  });
});

describe('another pod of its Job that selects another snapshot than was verified', () => {
  const source = { schedule: 'nightly', latestVerifiedBefore: '2026-01-01T00:00:00Z' };
  const first = { ...serving, id: 'verified' };
  const other = { ...serving, id: 'newer', sha256: 'another' };
  const serves = (world: World, by: Job['serving']) =>
    world.set({ jobs: known([job({ serving: by }), { ...safetyJob, state: 'Running', backup: undefined }]) });
  const chosen = (safetyBackup = true) => serves(asked({ source, safetyBackup }).commit(), first).commit();
  const pastFence = () => {
    const world = chosen(false).commit().sts({ minEpoch: 2, replicas: 0 });
    return world
      .set({ pods: known([]), agents: {}, members: unknown('no etcd') })
      .commit()
      .sts({ replicas: 1 });
  };

  test.each([
    ['before the fence', chosen],
    ['past it', pastFence],
  ])('is replaced, %s, by a Job that names the verified one', (_, start) => {
    const world = serves(start(), other);
    expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'restore', uid: 'job-uid' });
    expect(world.reason('Stalled')).toBe('NoActionRequired');
    world.set({ jobs: known([]) });
    expect(world.effect).toMatchObject({
      kind: 'CreateJob',
      job: { restore: { source: { schedule: 'nightly', snapshotId: 'verified' }, sha256: 'sha' } },
    });
  });

  test('is not what fails the restore: neither its size nor its revision is judged', () => {
    const large = { ...other, sizeBytes: 4 * 2 ** 30, highestRevision: Number.MAX_SAFE_INTEGER };
    expect(serves(chosen(), large).rule).toBe('Job.replace');
    expect(serves(chosen(), { ...other, sizeBytes: 1 }).agent(0, undefined).rule).toBe('Job.replace');
  });

  test.each([
    [2, 'BadConfiguration'],
    [20, 'StoreUnreachable'],
    [21, 'StoreRefused'],
    [30, 'SnapshotRefused'],
    [41, 'SnapshotRefused'],
    [undefined, 'SnapshotRefused'],
  ])('that could not be read: exit code %s is %s', (exitCode, reason) => {
    const world = chosen().set({ jobs: known([job({ uid: 'second', state: 'Failed', message: 'no', exitCode })]) });
    expect(world.written?.op).toMatchObject({ step: 'report', args: { failed: { reason, message: 'no' } } });
  });

  test('that could not be verified is replaced once, and then refuses the restore', () => {
    const world = chosen().set({ jobs: known([job({ state: 'Failed', message: 'no key' })]) });
    expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'restore', uid: 'job-uid' });
    world.set({ jobs: known([job({ uid: 'second', state: 'Failed', message: 'no key' })]) });
    expect(world.written?.op).toMatchObject({ step: 'report', args: { failed: { reason: 'SnapshotRefused' } } });
  });

  test('is refused if the verified one has other bytes now', () => {
    expect(serves(chosen(), { ...first, sha256: 'another' }).written).toMatchObject({ op: { step: 'report' } });
  });
});

test('another pod of its Job does not select what was stored since', () => {
  const before = (latestVerifiedBefore: string) => {
    const source = { schedule: 'nightly', latestVerifiedBefore };
    const world = asked({ source, createdAt: now - 60_000 }).commit();
    const { effect } = world;
    return effect?.kind === 'CreateJob' ? effect.job.restore?.source.latestVerifiedBefore : undefined;
  };
  expect(before('2020-01-01T00:00:00Z')).toBe('2020-01-01T00:00:00Z');
  expect(before('2999-01-01T00:00:00Z')).toBe(new Date(now - 59_000).toISOString());
});

test('nor does an operation that takes the EtcdRestore up again: its own safety backup is newer', () => {
  const source = { schedule: 'nightly', latestVerifiedBefore: '2999-01-01T00:00:00Z' };
  const world = asked({ source, createdAt: now - 60_000 })
    .commit()
    .set({ jobs: known([restoreJob]) })
    .commit()
    .set({ jobs: known([restoreJob, safetyJob]) })
    .commit();
  world.agent(0, undefined).o.since.silent = { 0: longAgo };
  expect(world.rule).toBe('Restore.giveWay');
  world.commit().agent(0, agent(0)).o.since = { ...world.o.since, silent: {} };
  world.set({ jobs: known([]), fresh: { ...world.o.fresh, id: 'op-2' } });
  const later = plan(world.o, now + 20 * 60_000, defaultSettings).effect as { doc: RecordDoc };
  world.o.record = known({ doc: later.doc, rv: 'rv-later' });
  const { effect } = plan(world.o, now + 20 * 60_000, defaultSettings);
  expect(effect).toMatchObject({
    job: { op: 'op-2', restore: { source: { latestVerifiedBefore: new Date(now - 59_000).toISOString() } } },
  });
});

describe('in place', () => {
  test('verify: nothing is touched before the snapshot is verified', () => {
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

  test('verify: where the snapshot of the EtcdBackup lies is recorded, because that may be deleted meanwhile', () => {
    const backup = { store: { filesystem: { path: '/backups' } }, id: 's1', folder: 'orders' };
    const world = asked()
      .commit()
      .set({ jobs: known([job({ serving: { ...serving, backup } })]) })
      .commit();
    expect(restoreArgs(world)).toMatchObject({ source: { backupName: 'b', backup } });
    const effect = world.set({ jobs: known([]) }).effect;
    expect(effect).toMatchObject({ kind: 'CreateJob', job: { restore: { source: { backupName: 'b', backup } } } });
  });

  test('verify: while clients may use http, authentication is not restored, because it would shut them out', () => {
    const schemes = (transport: RecordDoc['transport'], of: Partial<RestoreRequest> = {}) =>
      asked(of).spec({ tls: true, rootTls: true }).doc({ transport }).commit().effect;
    const refuses = { job: { restore: { refusesAuth: true } } };
    const both = { ...encrypted, peers: 'http', clients: 'both' } as const;
    expect(schemes({ ...both, target: 'http' })).toMatchObject(refuses);
    expect(schemes(both)).toMatchObject(refuses);
    expect(schemes(encrypted)).not.toMatchObject(refuses);
  });

  test('verify: a snapshot that does not verify changes nothing, and the EtcdRestore reports it', () => {
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

  test('verify: no room for two databases', () => {
    const world = asked()
      .commit()
      .set({ jobs: known([job({ serving: { ...serving, sizeBytes: 4 * 2 ** 30 } })]) });
    const message =
      'the snapshot has 4.0 GiB; to restore it, the volume of ordinal 0 needs 8.3 GiB free, but has 6.0 GiB';
    const failed = { step: 'report', args: { failed: { reason: 'NoSpace', message } } };
    expect(world.written?.op).toMatchObject(failed);
    const later = backedUp().agent(0, agent(0, { volume: { ...agent(0).volume, freeBytes: 2 ** 20 } }));
    expect(later.written?.op).toMatchObject({ step: 'report', args: { failed: { reason: 'NoSpace' } } });
  });

  test('verify: a gate that has only begun has not read its volume, which does not mean that space is missing', () => {
    const volume = { walPresent: false, freeBytes: 0, totalBytes: 0, quarantineCount: 0 };
    const world = asked()
      .commit()
      .set({ jobs: known([restoreJob]) })
      .agent(0, agent(0, { state: 'Init', volume }));
    expect(world.rule).toBe('Restore.verified');
  });

  test('fence: not before the seed reports enough space', () => {
    const world = backedUp().agent(0, undefined);
    expect(world.effect).toBeUndefined();
    expect(world.agent(0, agent(0)).rule).toBe('Fence');
  });

  test('fence: an ephemeral volume goes with what is on it', () => {
    const full = { ...agent(0).volume, freeBytes: 0 };
    const world = backedUp().spec({ ephemeral: true });
    expect(world.agent(0, agent(0, { volume: full })).rule).toBe('Fence');
    expect(world.agent(0, agent(0, { volume: { ...full, totalBytes: 1 } })).rule).toBe('Restore.noSpace');
  });

  test('safety: a safety backup first', () => {
    const world = verified();
    expect(world.record.op).toMatchObject({ step: 'safety' });
    expect(world.effect).toMatchObject({ kind: 'CreateJob', job: { kind: 'safety', schedule: 'nightly' } });
    expect(verified({ safetyBackup: false }).record.op).toMatchObject({ step: 'fence' });
  });

  test('safety: the safety backup is the last backup from then on', () => {
    expect(verified().set({ jobs: known([restoreJob, safetyJob]) }).written).toMatchObject({
      op: { step: 'fence' },
      lastBackup: { id: 's', at: expect.any(String) },
    });
  });

  test('safety: no schedule, no restore', () => {
    const world = verified().spec({ schedule: undefined });
    expect(world.written?.op).toMatchObject({ step: 'report', args: { failed: { reason: 'NoSchedule' } } });
  });

  test('safety: left out for want of a quorum, it is taken when that is back before the fence', () => {
    const world = verified();
    const { members } = world.o;
    world.noQuorum();
    expect(world.rule).toBe('Safety.done');
    world.commit();
    expect(world.rule).toBe('Fence');
    world.o.since.quorumLost = now;
    expect(world.effect).toBeUndefined();
    world.set({ members });
    expect(world.rule).toBe('Safety.again');
    expect(world.commit().record.op).toMatchObject({ step: 'safety' });
  });

  test('safety: its safety backup is the one that it took, regardless of the clocks', () => {
    const ahead = verified();
    (ahead.record.op as { startedAt: string }).startedAt = new Date(now + 600_000).toISOString();
    ahead.set({ jobs: known([restoreJob, safetyJob]) }).commit();
    expect(ahead.record.op).toMatchObject({ step: 'fence', args: { safetyBackupId: 's' } });
    expect(ahead.rule).toBe('Fence');
    const behind = verified();
    behind.record.lastBackup = { id: 'another', revision: 1, sha256: 'x', at: new Date(now + 600_000).toISOString() };
    behind.record.op = { ...behind.record.op!, step: 'fence' } as Op;
    expect(behind.rule).toBe('Safety.again');
  });

  test('safety: a Job that failed for lack of a quorum is recreated when there is one again', () => {
    const world = verified();
    world.set({ jobs: known([restoreJob, job({ kind: 'safety', uid: 'safety-uid', state: 'Failed' })]) });
    expect(world.rule).toBe('Safety.failed');
    world.record.op = { ...world.record.op!, step: 'fence' } as Op;
    const { members } = world.o;
    world.noQuorum();
    expect(world.plan()).toMatchObject({ rule: 'Safety.replace', effect: { kind: 'DeleteJob', uid: 'safety-uid' } });
    const going = job({ kind: 'safety', uid: 'safety-uid', state: 'Failed', deleting: true });
    expect(world.set({ jobs: known([restoreJob, going]) }).rule).toBe('Fence');
    world.set({ members });
    expect(world.rule).toBe('Safety.again');
    expect(world.commit().effect).toBeUndefined();
    world.set({ jobs: known([restoreJob]) });
    expect(world.effect).toMatchObject({ kind: 'CreateJob', job: { kind: 'safety' } });
  });

  test('safety: nor is it taken to be gone while Jobs are unknown', () => {
    const world = verified();
    world.record.op = { ...world.record.op!, step: 'fence' } as Op;
    expect(world.set({ jobs: unknown('the API server is slow') }).effect).toBeUndefined();
  });

  test('safety: one that was left out, and is stored all the same, counts', () => {
    const world = verified();
    world.record.op = { ...world.record.op!, step: 'fence' } as Op;
    world.set({ jobs: known([restoreJob, safetyJob]), members: unknown('no leader') });
    expect(world.rule).toBe('Safety.done');
    expect(world.commit().record.op).toMatchObject({ step: 'fence', args: { safetyBackupId: 's' } });
    expect(world.rule).not.toBe('Safety.done');
  });

  test('fence: epoch, token, minEpoch and the name are fenced in one write', () => {
    const { record } = fenced();
    expect(record).toMatchObject({
      epoch: 2,
      minEpoch: 2,
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

  test('retention keeps what is restored and what is replaced, as long as the EtcdRestore is there', () => {
    const world = verified();
    world.record.op = {
      ...world.record.op!,
      args: { ...restoreArgs(world), verified: { ...verifiedBy, id: 'source' } },
    } as Op;
    expect(keptSnapshots(world.record, [])).toBe('source\n');
    world.set({ jobs: known([restoreJob, safetyJob]) }).commit();
    expect(keptSnapshots(world.record, [])).toBe('source\ns\n');
    const { restores } = world.commit().record;
    expect(restores).toMatchObject([{ id: 'monday', snapshots: ['source', 's'] }]);
    const after = { ...new World(3).record, restores };
    const again = request({ uid: 'created again', phase: 'Completed' });
    const waits = request({ name: 'tuesday', snapshots: ['another'] });
    expect(keptSnapshots(after, [again])).toBe('source\ns\n');
    // As while it is replaced, or comes back from a backup.
    expect(keptSnapshots(after, [])).toBe('');
    expect(keptSnapshots(after, [again, waits])).toBe('source\ns\nanother\n');
    expect(keptSnapshots(after, [{ ...waits, phase: 'Failed' }])).toBe('');
    expect(keptSnapshots(after, undefined, 'before\n')).toBe('before\n');
  });

  test('retention keeps what an older release restored, which the status of the EtcdRestore names', () => {
    const restores = [{ id: 'monday', uid: 'restore-uid', specHash: 'hash', at: '' }];
    const older = { ...new World(3).record, restores };
    const named = request({ phase: 'Completed', snapshots: ['source', 's'] });
    expect(keptSnapshots(older, [named])).toBe('source\ns\n');
    expect(keptSnapshots(older, [{ ...named, uid: 'created again' }])).toBe('source\ns\n');
  });

  test('retention keeps what is to be verified', () => {
    const world = verified();
    const args = { ...restoreArgs(world), source: { snapshotId: 'named' }, verified: undefined };
    world.op({ ...world.record.op!, step: 'verify', args } as Op);
    expect(keptSnapshots(world.record, undefined)).toBe('named\n');
  });

  test('the list of what retention keeps is written when it is old', () => {
    const world = new World(3).doc({});
    expect(world.rule).toBeUndefined();
    world.set({ record: known({ doc: world.record, rv: 'rv-10', isListOld: true }) });
    expect(world.rule).toBe('KeepSnapshots');
    expect(world.written).toEqual({ ...world.record, rev: world.record.rev + 1 });
  });

  test('fence: not when the Job serves another snapshot by now', () => {
    const world = backedUp().set({ jobs: known([job({ serving: { ...serving, sha256: 'other' } })]) });
    expect(world.written?.op).toMatchObject({ step: 'report' });
  });

  test('fence: not when the EtcdRestore was deleted', () => {
    expect(backedUp().set({ restores: known([]) }).rule).toBe('Restore.withdrawn');
    // It cannot be undone, so it is not done while nobody knows.
    expect(backedUp().set({ restores: unknown('403') }).rule).not.toBe('Fence');
    expect(backedUp().set({ restores: unknown('403') }).rule).not.toBe('Restore.withdrawn');
    expect(fenced().set({ restores: known([]) }).rule).not.toBe('Restore.withdrawn');
  });

  test('drain: the template first, then no pod', () => {
    const world = fenced();
    expect(world.effect).toEqual({ kind: 'AnnotateEpoch', epoch: 2, basedOn: 'sts-rv' });
    expect(world.sts({ minEpoch: 2 }).effect).toEqual({ kind: 'ScaleTo', replicas: 0, basedOn: 'sts-rv' });
  });

  test('drain: waits for the last pod; one on a dead node only by word, and never ordinal 0', () => {
    const left = (ordinal: number, ignoreUnreachablePods: boolean) => {
      const world = fenced().sts({ minEpoch: 2, replicas: 0 });
      const { op } = world.record;
      if (op?.kind === 'Restore') world.op({ ...op, args: { ...op.args, ignoreUnreachablePods } });
      world.o.since.silent = { [ordinal]: 0 };
      return world
        .pods((pods) => pods.filter((p) => p.ordinal === ordinal))
        .pod(ordinal, { deleting: true })
        .agent(ordinal, undefined);
    };
    expect(left(2, false).effect).toBeUndefined();
    expect(left(2, false).reason('Stalled')).toBe('OldPodsRemain');
    const ending = left(2, false);
    ending.o.since.silent = { 2: now - defaultSettings.unreachable + 1 };
    expect(ending.reason('Stalled')).not.toBe('OldPodsRemain');
    expect(left(2, true).rule).toBe('Drained');
    expect(left(0, true).effect).toBeUndefined();
  });

  test('seed: one pod, with the new minEpoch', () => {
    const world = drained();
    expect(world.effect).toEqual({ kind: 'ScaleTo', replicas: 1, basedOn: 'sts-rv' });
    world
      .sts({ replicas: 1 })
      .set({ pods: known([pod(0)]) })
      .agent(0, asking(0, 'n', { minEpoch: 1 }));
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 0, uid: 'pod-0' });
  });

  test('restore: a permit for the one volume, from the verified snapshot', () => {
    const permit = permitted().record.permits[0];
    expect(permit).toMatchObject({
      mode: 'restore',
      volumeId: 'seed-volumeId',
      epoch: 2,
      token: 'fresh-token',
      restore: {
        id: 'monday',
        source: { url: serving.url, sha256: 'sha', token: 'fresh-secret' },
        bumpRevision: clock - 4000,
      },
    });
  });

  test('restore: another volume asks: another epoch and token, the same minEpoch', () => {
    const world = permitted().agent(0, asking(0, 'other-volumeId', { minEpoch: 2 }));
    expect(world.written).toMatchObject({
      epoch: 3,
      minEpoch: 2,
      startRevision: clock + 1e9,
      permits: { 0: { volumeId: 'other-volumeId', epoch: 3, restore: { bumpRevision: clock + 1e9 - 4000 } } },
    });
  });

  test('restore: a later permit begins later: the first seed may have served unseen', () => {
    const world = permitted().agent(0, asking(0, 'other-volumeId', { minEpoch: 2 }));
    world.o.date = now + 3_600_000;
    const later = clock + 3_600_000_000;
    expect(world.written).toMatchObject({
      startRevision: later,
      permits: { 0: { volumeId: 'other-volumeId', restore: { bumpRevision: later - 4000 } } },
    });
  });

  test('restore: the Job was recreated: the same permit, another address', () => {
    const world = permitted().set({ jobs: known([job({ serving: { ...serving, url: 'https://10.0.0.10' } })]) });
    expect(world.written?.permits[0]).toMatchObject({
      volumeId: 'seed-volumeId',
      restore: { source: { url: 'https://10.0.0.10' } },
    });
  });

  test('restore: after the fence a lost snapshot is waited for', () => {
    const world = permitted().set({ jobs: known([job({ state: 'Failed', message: 'gone' })]) });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Stalled')).toBe('RestoreBlocked');
    world.o.since.jobFailed['job-uid'] = 0;
    expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'restore', uid: 'job-uid' });
  });

  test('restore: after the fence a store that refuses is asked again once a person has acted', () => {
    const refused = job({ state: 'Failed', message: 'no rights', exitCode: 21 });
    const world = permitted().set({ jobs: known([refused]) });
    world.o.since.jobFailed['job-uid'] = 0;
    expect(world.rule).toBe('Job.replace');
    world.op({ ...world.record.op!, startedAt: new Date(0).toISOString() } as never);
    expect(world.effect).toBeUndefined();
    expect(world.message('Stalled')).toMatch(/^no rights; correct that, then delete Job \w+-restore or change/);
    expect(world.set({ jobs: known([]) }).effect).toMatchObject({ kind: 'CreateJob' });
  });

  test('restore: seeded; the Job goes; the EtcdRestore is completed when the cluster has grown again', () => {
    const world = permitted();
    const restored = agent(0);
    const identity = { ...restored.volume.identity!, epoch: 2, permitId: 'fresh-id', volumeId: 'seed-volumeId' };
    world.agent(0, { ...restored, minEpoch: 2, volume: { ...restored.volume, identity } });
    world.set({ members: new World(1).o.members, status: { [idOf(0)]: known(status()) } });
    const claims = world.o.claims.known ? world.o.claims.v : [];
    world.set({ claims: known(claims.map((claim) => ({ ...claim, epoch: 2 }))) });
    const { written } = world;
    expect(written).toMatchObject({ seeded: true, phase: 'Running', lastRestoreId: 'monday' });
    expect(written).not.toHaveProperty('op');
    world.commit();
    world.o.since.healthy = { [idOf(0)]: 0 };
    expect(world.rule).toBe('GrowPod');
    world.spec({ size: 1 }).set({ pods: known([pod(0, { ready: false })]) });
    expect(world.rule).not.toBe('ReportRestore');
    world.set({ pods: known([pod(0)]), restores: known([request()]) });
    expect(world.rule).toBe('ReportRestore');
    world.set({ restores: known([request({ phase: 'Completed' })]) });
    expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'restore', uid: 'job-uid' });
  });
});

describe('a template whose image has another version than it states', () => {
  const wrong = (world: World) => world.sts({ imageVersion: '3.7.3' });
  const right = (world: World) => world.sts({ imageVersion: '3.6.16' });

  test('nothing is fenced, no seed is made, and none gets a permit', () => {
    const begun = asked();
    expect(wrong(begun).effect).toBeUndefined();
    expect(right(begun).rule).toBe('Restore');
    const verified = backedUp();
    expect(wrong(verified).rule).not.toBe('Fence');
    expect(right(verified).rule).toBe('Fence');
    expect(verified.set({ statefulSet: unknown('no answer') }).effect).toBeUndefined();
    const world = drained();
    expect(wrong(world).effect).toBeUndefined();
    expect(world.reason('Accepted')).toBe('TemplateMismatch');
    expect(right(world).rule).toBe('SeedPod');
    const waits = drained().sts({ replicas: 1 });
    waits.set({ pods: known([pod(0, { ready: false })]) }).agent(0, asking(0, 'seed-volumeId', { minEpoch: 2 }));
    expect(wrong(waits).effect).toBeUndefined();
    expect(right(waits).rule).toBe('RestorePermit');
  });
});

describe('a restore that waits before its fence gives the slot to what else there is to do', () => {
  const wrong = (world: World) => world.sts({ imageVersion: '3.7.3' });
  const silent = (world: World) => {
    world.o.since.silent = { 0: longAgo };
    return world.agent(0, undefined);
  };

  test.each([
    ['the image is another than the template says', wrong],
    ['the seed’s agent is silent', silent],
  ])('%s', (_, waits) => {
    const world = waits(backedUp());
    expect(world.rule).toBe('Restore.giveWay');
    expect(world.commit().record.op).toBeUndefined();
    expect(world.record.failure).toBeUndefined();
    expect(world.rule).not.toBe('Restore');
    world.sts({ imageVersion: '3.6.16' }).agent(0, agent(0)).o.since.silent = {};
    expect(world.rule).toBe('Restore');
  });

  test('not for a moment’s silence, and not what nothing else can be done beside', () => {
    const moment = silent(backedUp());
    moment.o.since.silent = { 0: now };
    expect(moment.effect).toBeUndefined();
    expect(wrong(fenced()).rule).not.toBe('Restore.giveWay');
    const recovery = wrong(backedUp()).spec({
      recovery: { id: 'restore-uid', acceptDataLoss: true },
    });
    const { op } = recovery.record;
    if (op?.kind === 'Restore') recovery.noQuorum().op({ ...op, kind: 'Recover' });
    expect(recovery.effect).toBeUndefined();
  });

  test('a roll fails for now, and is tried again', () => {
    const world = backedUp();
    const { op } = world.record;
    if (op?.kind === 'Restore') world.op({ ...op, args: { ...op.args, id: 'roll:x' } });
    expect(wrong(world).written).toMatchObject({ failure: { of: 'Restore roll:x', reason: 'RestoreBlocked' } });
    expect(world.written).not.toHaveProperty('op');
  });
});

describe('blocked past the fence', () => {
  const blocked = () => {
    const world = permitted().set({ jobs: known([job({ state: 'Failed', message: 'gone' })]) });
    return world.set({ restores: known([request(), request({ name: 'tuesday', uid: 'other-uid', createdAt: 2 })]) });
  };

  test('another EtcdRestore takes its place after its own was reported', () => {
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
      minEpoch: 3,
      restores: [{ id: 'monday' }, { id: 'tuesday' }],
      op: { step: 'drain' },
    });
  });

  test('the other one knows the served revision, although no member is left to ask', () => {
    const world = blocked();
    expect(world.record.op).toMatchObject({ args: { lastRevision: 5000 } });
    world.set({ restores: known([request({ phase: 'Failed' }), request({ name: 'tuesday', uid: 'other-uid' })]) });
    world.o.fresh = { ...world.o.fresh, id: 'op-2' };
    expect(world.commit().record.op).toMatchObject({ step: 'verify', args: { id: 'tuesday', lastRevision: 5000 } });
    world.set({ jobs: known([job({ op: 'op-2', serving: { ...serving, sha256: 'sha-2' } })]) });
    // The seed that lost its place may have served.
    const { startRevision } = world.commit().commit().record;
    expect(startRevision).toBe(clock);
    expect(world.record.op).toMatchObject({ step: 'drain', args: { id: 'tuesday', lastRevision: startRevision } });
  });

  test('it is not its own other', () => {
    const world = blocked().set({
      restores: known([request({ phase: 'Failed' }), request({ name: 'tuesday', uid: 'u2' })]),
    });
    world.o.fresh = { ...world.o.fresh, id: 'op-2' };
    world.commit().set({ jobs: known([job({ op: 'op-2', state: 'Failed' })]) });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Stalled')).toBe('RestoreBlocked');
  });

  test('alone it waits; it is never seeded empty', () => {
    expect(blocked().set({ restores: known([request()]) }).effect).toBeUndefined();
    expect(
      blocked()
        .op(undefined)
        .set({ restores: known([]) }).rule,
    ).not.toBe('Seed');
  });
});

describe('pods on a node that is off', () => {
  const other = (ignoreUnreachablePods: boolean) =>
    request({ name: 'tuesday', uid: 'other-uid', createdAt: 2, ignoreUnreachablePods });
  const waiting = () => {
    const world = fenced()
      .sts({ minEpoch: 2, replicas: 0 })
      .pods((pods) => pods.filter(({ ordinal }) => ordinal === 2));
    world.pod(2, { deleting: true }).agent(2, undefined);
    world.o.since.silent = { 2: 0 };
    return world.set({ restores: known([request(), other(true)]) });
  };

  test('keep a restore waiting until another EtcdRestore allows ignoring them', () => {
    const world = waiting();
    expect(world.effect).toMatchObject({ kind: 'ReportRestore', name: 'monday', reason: 'OldPodsRemain' });
    world.set({ restores: known([request({ phase: 'Failed' }), other(true)]) });
    expect(world.written?.op).toMatchObject({ step: 'verify', args: { id: 'tuesday', ignoreUnreachablePods: true } });
  });

  test('and not for one that does not say so, nor while they may only be slow', () => {
    expect(waiting().set({ restores: known([request(), other(false)]) }).effect).toBeUndefined();
    const slow = waiting();
    slow.o.since.silent = { 2: now };
    expect(slow.effect).toBeUndefined();
  });
});

test('a clock that is behind changes neither the source nor the times of the record', () => {
  const source = { schedule: 'nightly', latestVerifiedBefore: '2026-01-01T00:00:00.000Z' };
  const world = asked({ source, createdAt: Date.parse('2026-01-02T00:00:00Z') }).set({
    date: Date.parse('2026-01-02T00:00:05Z'),
  });
  world.commit();
  expect(world.record.op).toMatchObject({ startedAt: '2026-01-02T00:00:05.000Z' });
  world.record.op!.startedAt = '2025-01-01T00:00:00.000Z';
  expect(world.effect).toMatchObject({ kind: 'CreateJob', job: { restore: { source } } });
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

  test('verifies, fences, seeds from it; its pods stay, no minEpoch is raised', () => {
    const world = origin().commit();
    expect(world.record.op).toMatchObject({ args: { id: 'origin:uid-1', source: { backupName: 'b' } } });
    // Its Job runs as the EtcdCluster says now, so that it can be corrected.
    expect(world.effect).toMatchObject({ kind: 'CreateJob', job: { kind: 'restore', restore: { isOrigin: true } } });
    world
      .set({ jobs: known([restoreJob]) })
      .commit()
      .commit();
    expect(world.record).toMatchObject({ epoch: 1, minEpoch: 0, op: { step: 'seed' } });
    expect(world.written?.permits[0]).toMatchObject({ mode: 'restore', volumeId: 'new-0' });
  });

  test('an EtcdCluster that is created again is not held by the origin of the one before', () => {
    const world = origin().commit();
    world.spec({ origin: { source: { backupName: 'right' } } }).resource({ uid: 'another' });
    expect(world.rule).toBe('Restore.withdrawn');
    expect(world.commit().written?.op).toMatchObject({ args: { source: { backupName: 'right' } } });
  });

  test('what does not verify is waited for: never an empty cluster instead', () => {
    const world = origin()
      .commit()
      .set({ jobs: known([job({ state: 'Failed', message: 'not there' })]) });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Stalled')).toBe('RestoreBlocked');
  });

  test('nor one that has no room', () => {
    const world = origin()
      .commit()
      .set({ jobs: known([job({ serving: { ...serving, sizeBytes: 4 * 2 ** 30 } })]) })
      .commit();
    expect(world.record.op).toMatchObject({ step: 'fence' });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Stalled')).toBe('RestoreBlocked');
    expect(world.message('Stalled')).toContain('needs 8.3 GiB free, but has 6.0 GiB');
  });

  test('counts for nothing later', () => {
    expect(new World(3, { origin: { source: { backupName: 'b' } } }).effect).toBeUndefined();
  });
});

describe('a Job whose pod does not start', () => {
  const waits = 'pod c-restore-x: Unschedulable: 0/3 nodes are available';
  const pending = (of: () => World, change: Partial<Job> = {}) => {
    const world = of();
    const own = job({ op: world.record.op!.id, waits, ...change });
    const others = world.o.jobs.known ? world.o.jobs.v.filter(({ kind }) => kind !== own.kind) : [];
    world.set({ jobs: known([...others, own]) });
    world.o.since.jobWaits = { [own.uid]: longAgo };
    return world;
  };
  const other = request({ name: 'tuesday', uid: 'other-uid', createdAt: 2 });

  test('the restore waits for it, and reports when it takes too long', () => {
    const world = pending(() => asked().commit());
    world.o.since.jobWaits = { 'job-uid': now };
    expect(world.reason('Stalled')).toBe('NoActionRequired');
    world.noQuorum();
    expect(world.reason('Stalled')).not.toBe('RestoreBlocked');
    world.o.since.jobWaits = { 'job-uid': longAgo };
    expect(world.effect).toBeUndefined();
    expect(world.plan().conditions.find(({ type }) => type === 'Stalled')).toMatchObject({
      ...{ status: 'True', reason: 'RestoreBlocked', message: waits },
    });
  });

  test.each(['restore', 'safety'] as const)(
    'before the fence a cluster that serves gets its slot back (%s)',
    (kind) => {
      const world = pending(() => (kind === 'restore' ? asked().commit() : verified()), { kind, uid: `${kind}-job` });
      expect(world.rule).toBe('Restore.notStarted');
      expect(world.commit().effect).toMatchObject({
        ...{ kind: 'ReportRestore', phase: 'Failed', reason: 'RestoreBlocked', message: waits },
      });
    },
  );

  test('without a quorum it waits, and gives way to another EtcdRestore', () => {
    const world = pending(() => asked().commit()).noQuorum();
    expect(world.effect).toBeUndefined();
    world.set({ restores: known([request(), other]) });
    expect(world.rule).toBe('Restore.notStarted');
    expect(world.commit().effect).toMatchObject({ kind: 'ReportRestore', name: 'monday', phase: 'Failed' });
  });

  test('past the fence it is blocked: this is reported, and another EtcdRestore takes its place', () => {
    const world = pending(() => drained().sts({ replicas: 1 }));
    expect(world.effect).toBeUndefined();
    expect(world.reason('Stalled')).toBe('RestoreBlocked');
    expect(world.message('Stalled')).toBe(waits);
    expect(world.reason('Degraded')).not.toBe('AllMembersHealthy');
    world.set({ restores: known([request(), other]) });
    expect(world.rule).toBe('Restore.giveUp');
    world.set({ restores: known([request({ phase: 'Failed' }), other]) });
    expect(world.rule).toBe('Restore.supersede');
  });

  test.each([
    ['Upgrade', 'pre-upgrade', { kind: 'Upgrade', to: '3.7' }],
    ['Delete', 'final', { kind: 'Delete', step: 'backup' }],
  ] as const)('that of %s is reported too', (_, kind, op) => {
    const world = new World(3).op({ id: 'fresh-id', holder: 'h', startedAt: '', ...op });
    world.spec({ version: '3.7.3', finalBackupRequired: true }).sts({ version: '3.7.3' });
    if (op.kind === 'Delete') world.resource({ deleting: true, finalizer: true, spec: world.cluster.spec });
    pending(() => world, { kind });
    expect(world.reason('Stalled')).toBe('BackupFailed');
    expect(world.message('Stalled')).toBe(waits);
  });
});

describe('a volume that is lost before the fence', () => {
  test('is seen to first; then the restore is taken up again', () => {
    const world = asked()
      .commit()
      .set({ jobs: known([job({})]) })
      .volumeLost(1);
    expect(world.rule).toBe('Restore.yield');
    expect(world.commit().record.op).toMatchObject({ kind: 'Remove', memberId: idOf(1), why: 'Dead' });
    expect(world.removed(1).commit().record.op).toBeUndefined();
    expect(world.rule).toBe('Restore');
  });

  test('not where that is not safe, nor on the evidence of a moment', () => {
    const begun = () =>
      asked()
        .commit()
        .set({ jobs: known([job({})]) });
    expect(begun().volumeLost(1).down(2).effect).toBeUndefined();
    const world = begun().volumeLost(1);
    world.o.since.evidence[1] = now;
    expect(world.effect).toBeUndefined();
  });

  test('not past the fence', () => {
    expect(permitted().rule).not.toBe('Restore.yield');
  });
});

describe('beyond a lie that a store was believed', () => {
  const high = 2 ** 52 + 5e8;

  test('the revisions that the members and the record name still count', () => {
    const world = served(asked({ safetyBackup: false }), high).commit();
    world.set({ jobs: known([restoreJob]) });
    world.commit().commit();
    expect(world.record.op).toMatchObject({ step: 'drain', args: { lastRevision: high } });
    const again = served(asked({ safetyBackup: false }), 9000)
      .doc({ startRevision: high })
      .commit();
    again.set({ jobs: known([restoreJob]) });
    again.commit().commit();
    expect(again.record.op).toMatchObject({ step: 'drain', args: { lastRevision: high } });
  });

  test('what is beyond every revision is refused before the fence', () => {
    const world = served(asked({ safetyBackup: false }), 2 ** 53).commit();
    world.set({ jobs: known([restoreJob]) }).commit();
    expect(world.rule).toBe('Restore.refused');
    expect(world.commit().record).toMatchObject({
      phase: 'Running',
      failure: {
        reason: 'SnapshotRefused',
        message: expect.stringMatching(/^the cluster is at revision 9007199254740992/),
      },
    });
  });
});
