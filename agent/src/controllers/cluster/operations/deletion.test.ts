import { known, unknown } from '../../../protocol/known.ts';
import { parseRecord } from '../../../protocol/record-schema.ts';
import { idOf, World } from '../observed.fixture.ts';
import type { ClusterSpec, Job, RestoreRequest } from '../observed.ts';

const deleted = (change: Partial<ClusterSpec>) => {
  const world = new World(3, change);
  Object.assign(world.cluster, { deleting: true, finalizer: true });
  return world;
};

const finalJob = { kind: 'final' as const, uid: 'j', op: 'fresh-id', deleting: false };

describe('the finalizer', () => {
  test('is there only while a deletion has work', () => {
    expect(new World(3).effect).toBeUndefined();
    expect(new World(3, { onDelete: 'Delete' }).effect).toEqual({ kind: 'SetFinalizer', basedOn: 'cr-rv' });
    const world = new World(3);
    world.cluster.finalizer = true;
    expect(world.effect).toEqual({ kind: 'ReleaseFinalizer', basedOn: 'cr-rv' });
  });

  test('is released without its work when the reconciler goes too', () => {
    const world = deleted({ onDelete: 'Delete' });
    world.cluster.reconcilerGoing = true;
    expect(world.effect).toMatchObject({ kind: 'ReleaseFinalizer' });
  });
});

test('backup, no pods, claims by UID, record, finalizer', () => {
  const world = deleted({ onDelete: 'Delete', finalBackupRequired: true }).commit();
  expect(world.effect).toMatchObject({ kind: 'CreateJob', job: { kind: 'final' } });
  world
    .set({ jobs: known([{ ...finalJob, state: 'Succeeded', backup: { id: 's', revision: 1, sha256: 'x' } }]) })
    .commit();
  expect(world.effect).toEqual({ kind: 'ScaleTo', replicas: 0, basedOn: 'sts-rv' });
  world
    .sts({ replicas: 0 })
    .set({ pods: known([]) })
    .commit();
  expect(world.effect).toEqual({ kind: 'DeletePvc', ordinal: 0, uid: 'claim-0' });
  world.set({ claims: known([]) });
  expect(world.effect).toEqual({ kind: 'DeleteRecord', basedOn: 'rv-13' });
  world.set({ record: known(undefined), pods: known([]) });
  expect(world.effect).toEqual({ kind: 'ReleaseFinalizer', basedOn: 'cr-rv' });
});

describe('while a restore is in flight', () => {
  const request = (change: object = {}): RestoreRequest => ({
    ...{ name: 'monday', uid: 'u', createdAt: 1, specHash: 'h', source: { backupName: 'b' } },
    ...{ safetyBackup: false, ignoreUnreachablePods: false, ...change },
  });
  const job = (change: Partial<Job>): Job => ({
    ...{ kind: 'restore', uid: 'job-uid', op: 'fresh-id', state: 'Running', deleting: false, ...change },
  });
  const serving = { url: 'https://10.0.0.9:8080/snapshot', sha256: 'sha', sizeBytes: 1000, revision: 4000 };
  const goes = (world: World) => {
    Object.assign(world.cluster, { deleting: true, finalizer: true });
    return world;
  };
  const asked = () => new World(3, { onDelete: 'Delete' }).set({ restores: known([request()]) });
  const begun = () => {
    const world = asked();
    world.cluster.finalizer = true;
    return world.commit();
  };
  const pastFence = () => {
    const world = begun();
    world.set({ jobs: known([job({ serving })]) });
    return world.commit().commit();
  };

  test('it is withdrawn before its fence, and one that failed is told so first', () => {
    const world = goes(begun());
    expect(world.row).toBe('Restore.withdrawn');
    world.commit();
    expect(world.row).toBe('Delete');
    const failed = begun().set({ jobs: known([job({ state: 'Failed', message: 'bad' })]) });
    expect(goes(failed.commit()).effect).toMatchObject({ kind: 'ReportRestore', phase: 'Failed' });
  });

  test('past its fence it gives way when it can not go on, and goes on when the cluster is made again', () => {
    const world = goes(pastFence());
    expect(world.record).toMatchObject({ phase: 'Restoring', op: { kind: 'Restore', step: 'drain' } });
    expect(world.row).not.toBe('Delete');
    world.sts({ minEpoch: world.record.minEpoch, replicas: 0 });
    world.o.agents = {};
    world.set({ jobs: known([job({ state: 'Failed' })]), pods: known([]), members: unknown('no etcd'), status: {} });
    expect(world.row).toBe('Drained');
    world.commit().sts({ replicas: 1 });
    expect(world.row).toBe('Delete');
    world.commit();
    expect(world.record.op).toMatchObject({ kind: 'Delete', suspended: { kind: 'Restore', step: 'seed' } });
    expect(parseRecord(JSON.stringify(world.record)).kind).toBe('record');
    world.cluster.deleting = false;
    expect(world.row).toBe('Delete.drop');
    expect(world.commit().record.op).toMatchObject({ kind: 'Restore', step: 'seed' });
  });
});

test('a final backup that fails holds everything; a person may skip it', () => {
  const world = deleted({ onDelete: 'Delete', finalBackupRequired: true }).commit();
  world.set({ jobs: known([{ ...finalJob, state: 'Failed', message: 'store unreachable' }]) });
  expect(world.effect).toBeUndefined();
  expect(world.reason('Stalled')).toBe('BackupFailed');
  world.cluster.skipFinalBackup = true;
  expect(world.row).toBe('Delete.backedUp');
});

test('what the pod of its final backup waits for is said at once', () => {
  const world = deleted({ onDelete: 'Delete', finalBackupRequired: true }).commit();
  const waits = 'pod orders-final-x: FailedMount: secret "s3" not found';
  world.set({ jobs: known([{ ...finalJob, state: 'Running', waits }]) });
  expect(world.message('Progressing')).toContain(`; ${waits}`);
  world.set({ jobs: known([{ ...finalJob, state: 'Running', message: 'try 1 failed: no room' }]) });
  expect(world.message('Progressing')).toContain('; try 1 failed: no room');
  world.set({ jobs: known([{ ...finalJob, op: 'another', state: 'Running', waits }]) });
  expect(world.message('Progressing')).not.toContain(waits);
});

test('Retain: claims and record stay', () => {
  const world = deleted({ finalBackupRequired: true });
  world.cluster.skipFinalBackup = true;
  world.commit().commit().sts({ replicas: 0 }).commit();
  expect(world.effect).toEqual({ kind: 'ReleaseFinalizer', basedOn: 'cr-rv' });
});

test('an operation in flight is finished first', () => {
  const world = deleted({ onDelete: 'Delete' });
  world.op({
    id: 'op',
    kind: 'Remove',
    ordinal: 2,
    memberId: idOf(2),
    why: 'Shrink',
    step: 'remove',
    holder: '',
    startedAt: '',
  });
  expect(world.row).toBe('Remove.call');
});

test('a deleted cluster is not repaired', () => {
  const world = deleted({}).volumeLost(1);
  world.cluster.finalizer = false;
  expect(world.plan().hold).toBe('Deleting');
});

test('a required final backup without a schedule is told early', () => {
  expect(new World(3, { finalBackupRequired: true, schedule: undefined }).reason('Accepted')).toBe(
    'FinalBackupNeedsSchedule',
  );
});

test('the record is lost while the deletion waits: it is rebuilt, for the work is not done', () => {
  expect(deleted({ onDelete: 'Delete' }).set({ record: known(undefined) }).row).toBe('RebuildRecord');
});

test('a final backup that fails is told, with what skips it', () => {
  const world = deleted({ finalBackupRequired: true }).commit();
  world.set({ jobs: known([{ ...finalJob, state: 'Failed', message: 'there is no StatefulSet orders' }]) });
  const held = world.plan().conditions.find(({ type }) => type === 'Stalled');
  expect(held).toMatchObject({ status: 'True', reason: 'BackupFailed' });
  expect(held?.message).toMatch(/there is no StatefulSet orders.*skip-final-backup=true/);
});
