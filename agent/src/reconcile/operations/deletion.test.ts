import { known } from '../known.ts';
import { idOf, World } from '../observed.fixture.ts';
import type { ClusterSpec } from '../observed.ts';

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

test('a final backup that fails holds everything; a person may skip it', () => {
  const world = deleted({ onDelete: 'Delete', finalBackupRequired: true }).commit();
  world.set({ jobs: known([{ ...finalJob, state: 'Failed', message: 'store unreachable' }]) });
  expect(world.effect).toBeUndefined();
  expect(world.reason('Held')).toBe('BackupFailed');
  world.cluster.skipFinalBackup = true;
  expect(world.row).toBe('Delete.backedUp');
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
  const held = world.plan().conditions.find(({ type }) => type === 'Held');
  expect(held).toMatchObject({ status: 'True', reason: 'BackupFailed' });
  expect(held?.message).toMatch(/there is no StatefulSet orders.*skip-final-backup=true/);
});
