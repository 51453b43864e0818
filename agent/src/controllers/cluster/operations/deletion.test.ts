import { known, unknown } from '../../../protocol/known.ts';
import { reasons } from '../../../protocol/reasons.ts';
import { parseRecord } from '../../../protocol/record-schema.ts';
import { asking, idOf, longAgo, now, pod, World } from '../../port/observed.fixture.ts';
import type { ClusterSpec, Job, RestoreRequest } from '../../port/observed.ts';
import { defaultSettings } from '../../port/settings.ts';

const deleted = (change: Partial<ClusterSpec>) => {
  const world = new World(3, change);
  Object.assign(world.cluster, { deleting: true, finalizer: true });
  return world;
};

const finalJob = { kind: 'final' as const, uid: 'j', op: 'fresh-id', deleting: false };

describe('the finalizer', () => {
  test('exists only while a deletion has work', () => {
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
  expect(world.effect).toEqual({ kind: 'DeleteClaim', ordinal: 0, uid: 'claim-0' });
  world.set({ claims: known([]) });
  expect(world.effect).toEqual({ kind: 'DeleteRecord', basedOn: 'rv-13' });
  world.set({ record: known(undefined), pods: known([]) });
  expect(world.effect).toEqual({ kind: 'ReleaseFinalizer', basedOn: 'cr-rv' });
});

test('a final backup that the store refuses is taken again once its Job is deleted, or the resource has changed', () => {
  const refused = { ...finalJob, state: 'Failed' as const, exitCode: 21, generation: 4, message: 's3://b: no rights' };
  const world = deleted({ finalBackupRequired: true });
  world.cluster.generation = 4;
  world.commit().set({ jobs: known([refused]) });
  world.o.since.jobFailed = { j: longAgo };
  // A Secret may get its content a little later than the rest.
  expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'final', uid: 'j' });
  expect(world.message('Stalled')).toMatch(/^s3:\/\/b: no rights\. To delete/);
  world.op({ ...world.record.op!, startedAt: new Date(now - defaultSettings.correction).toISOString() } as never);
  expect(world.effect).toBeUndefined();
  expect(world.message('Stalled')).toMatch(
    /no rights; correct that, then delete Job \w+-final or change the EtcdCluster to try again\. To delete .*skip-final/,
  );
  world.cluster.generation = 5;
  expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'final', uid: 'j' });
  world.cluster.generation = 4;
  expect(world.set({ jobs: known([]) }).effect).toMatchObject({ kind: 'CreateJob', job: { kind: 'final' } });
  world.set({ jobs: known([{ ...refused, exitCode: 20 }]) });
  expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'final', uid: 'j' });
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

  test('it is withdrawn before its fence, and one that failed reports this first', () => {
    const world = goes(begun());
    expect(world.rule).toBe('Restore.withdrawn');
    world.commit();
    expect(world.rule).toBe('Delete');
    const failed = begun().set({ jobs: known([job({ state: 'Failed', message: 'bad' })]) });
    expect(goes(failed.commit()).effect).toMatchObject({ kind: 'ReportRestore', phase: 'Failed' });
  });

  test('past its fence it gives way when it cannot go on, and goes on when the cluster is created again', () => {
    const world = goes(pastFence());
    expect(world.record).toMatchObject({ phase: 'Restoring', op: { kind: 'Restore', step: 'drain' } });
    expect(world.rule).not.toBe('Delete');
    world.sts({ minEpoch: world.record.minEpoch, replicas: 0 });
    world.o.agents = {};
    world.set({ jobs: known([job({ state: 'Failed' })]), pods: known([]), members: unknown('no etcd'), status: {} });
    expect(world.rule).toBe('Drained');
    world.commit().sts({ replicas: 1 });
    expect(world.rule).toBe('Delete');
    world.commit();
    expect(world.record.op).toMatchObject({ kind: 'Delete', suspended: { kind: 'Restore', step: 'seed' } });
    expect(parseRecord(JSON.stringify(world.record)).kind).toBe('record');
    world.cluster.deleting = false;
    expect(world.rule).toBe('Delete.drop');
    expect(world.commit().record.op).toMatchObject({ kind: 'Restore', step: 'seed' });
  });
  /** Drained; its seed is to come. */
  const drained = (spec: Partial<ClusterSpec>) => {
    const world = new World(3, { onDelete: 'Delete', ...spec }).set({ restores: known([request()]) });
    world.cluster.finalizer = true;
    world
      .commit()
      .set({ jobs: known([job({ serving })]) })
      .commit()
      .commit();
    world.sts({ minEpoch: 2, replicas: 0 });
    world.o.agents = {};
    world.o.since.quorumLost = longAgo;
    return world.set({ pods: known([]), members: unknown('no etcd'), status: {} }).commit();
  };
  /** Its seed has a permit. */
  const permitted = (spec: Partial<ClusterSpec>) => {
    const world = drained(spec).sts({ replicas: 1 });
    world.set({ pods: known([pod(0, { ready: false })]) });
    return world.agent(0, asking(0, 'seed', { minEpoch: 2 })).commit();
  };
  const stalled = (world: World) => world.plan().conditions.find(({ type }) => type === 'Stalled');
  const failed = { state: 'Failed', message: 'store unreachable' } as const;
  const delayed: [string, () => World][] = [
    [
      'its seed finds no node',
      () => {
        const world = drained({}).sts({ replicas: 1 });
        const none = { ready: false, running: false, began: false, problem: 'Unschedulable: 0/3 nodes are available' };
        world.o.since.silent = { 0: longAgo };
        return world.set({ pods: known([pod(0, none)]) }).agent(0, undefined);
      },
    ],
    [
      'the gate of its seed cannot restore',
      () => {
        const change = { minEpoch: 2, state: 'Failed', reason: 'RestoreFailed', message: 'no space left' } as const;
        return permitted({}).agent(0, asking(0, 'seed', change));
      },
    ],
    [
      'an old pod is on a node that is off',
      () => {
        const world = pastFence().sts({ minEpoch: 2, replicas: 0 });
        world.o.agents = {};
        world.o.since.silent = { 2: longAgo };
        return world.set({ pods: known([pod(2, { deleting: true })]), members: unknown('no etcd'), status: {} });
      },
    ],
    ['the image is of another version', () => drained({}).sts({ imageVersion: '3.7.3' })],
    ['the StatefulSet is gone', () => drained({}).set({ statefulSet: known(undefined) })],
    ['its Job failed', () => permitted({}).set({ jobs: known([job(failed)]) })],
    ['its seed fetches the snapshot', () => permitted({})],
  ];

  test.each(delayed)('past its fence it gives way at once where no final backup is required: %s', (_, waits) => {
    const world = goes(waits());
    expect(world.rule).toBe('Delete');
    expect(world.commit().record.op).toMatchObject({ kind: 'Delete', step: 'scale', suspended: { kind: 'Restore' } });
  });

  test.each(delayed)('and continues where one is, until a person skips it: %s', (_, waits) => {
    const world = goes(waits().spec({ finalBackupRequired: true }));
    expect(world.rule).not.toBe('Delete');
    const said = stalled(world);
    expect(said?.message).toContain('cdk8s-etcd.dev/skip-final-backup=true');
    expect(said?.message).not.toContain(reasons.NoActionRequired);
    expect(said?.status).toBe(_ === 'its seed fetches the snapshot' ? 'False' : 'True');
    world.cluster.skipFinalBackup = true;
    expect(world.rule).toBe('Delete');
    world.o.fresh = { ...world.o.fresh, id: 'deletion' };
    expect(world.commit().rule).not.toBe('Job.create');
  });

  test('a restore whose Job failed is tried again, for the sake of the final backup', () => {
    const world = goes(permitted({ finalBackupRequired: true })).set({ jobs: known([job(failed)]) });
    expect(world.effect).toBeUndefined();
    expect(stalled(world)).toMatchObject({ status: 'True', reason: 'RestoreBlocked' });
    expect(stalled(world)?.message).toMatch(/^store unreachable; .*skip-final-backup=true/);
    world.o.since.jobFailed = { 'job-uid': longAgo };
    expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'restore', uid: 'job-uid' });
  });

  test('a cluster that is born from a backup, and never served, has nothing to back up', () => {
    const origin = { source: { schedule: 'nightly', snapshotId: 'x' } };
    const world = new World(3, { onDelete: 'Delete', finalBackupRequired: true, origin });
    world.cluster.finalizer = true;
    world.doc({ epoch: 0, seeded: false, phase: 'Seeding', members: {}, clusterId: undefined });
    for (const i of [0, 1, 2]) world.agent(i, asking(i));
    world.set({ members: unknown('no etcd'), status: {} }).commit();
    world
      .set({ jobs: known([job({ serving })]) })
      .commit()
      .commit();
    expect(world.record).toMatchObject({ phase: 'Restoring', op: { args: { id: 'origin:uid-1' } } });
    goes(world).set({ jobs: known([job(failed)]) });
    expect(world.rule).toBe('Delete');
    world.commit();
    expect(world.effect).toEqual({ kind: 'ScaleTo', replicas: 0, basedOn: 'sts-rv' });
    // A deletion of before, which has begun with the backup.
    world.op({ ...world.record.op, step: 'backup' } as never);
    expect(world.rule).toBe('Delete.backedUp');
  });

  test('of a cluster that was born from a backup and never served, whose restore another one replaced', () => {
    const origin = { source: { schedule: 'nightly', snapshotId: 'x' } };
    const world = new World(3, { onDelete: 'Delete', finalBackupRequired: true, origin });
    world.cluster.finalizer = true;
    world.doc({ epoch: 0, seeded: false, phase: 'Seeding', members: {}, clusterId: undefined });
    for (const i of [0, 1, 2]) world.agent(i, asking(i));
    world.set({ members: unknown('no etcd'), status: {} }).commit();
    world
      .set({ jobs: known([job({ serving })]) })
      .commit()
      .commit();
    const another = request({ name: 'tuesday', uid: 'other', createdAt: 2 });
    world.set({ jobs: known([job(failed)]), restores: known([another]) }).commit();
    goes(world).set({ jobs: known([job(failed)]) });
    expect(world.rule).toBe('Delete');
  });

  test('also after that one has fenced; but not if the cluster has ever served', () => {
    const origin = { source: { schedule: 'nightly', snapshotId: 'x' } };
    const world = new World(3, { onDelete: 'Delete', finalBackupRequired: true, origin });
    world.cluster.finalizer = true;
    world.doc({ epoch: 0, seeded: false, phase: 'Seeding', members: {}, clusterId: undefined });
    for (const i of [0, 1, 2]) world.agent(i, asking(i));
    world.set({ members: unknown('no etcd'), status: {} }).commit();
    world
      .set({ jobs: known([job({ serving })]) })
      .commit()
      .commit();
    const another = request({ name: 'tuesday', uid: 'other', createdAt: 2 });
    world.set({ jobs: known([job(failed)]), restores: known([another]) }).commit();
    world
      .set({ jobs: known([job({ serving })]) })
      .commit()
      .commit();
    expect(world.record.restores).toMatchObject([{ id: 'origin:uid-1' }, { id: 'tuesday' }]);
    world.sts({ minEpoch: world.record.minEpoch, replicas: 0 }).set({ pods: known([]) });
    world.o.agents = {};
    world.commit().sts({ replicas: 1 });
    goes(world).set({ jobs: known([job(failed)]) });
    expect(world.rule).toBe('Delete');
    // The origin served, and tuesday replaced its data.
    expect(world.doc({ ...world.record, lastRestoreId: 'origin:uid-1' }).rule).not.toBe('Delete');
    // A record that was rebuilt names the origin without its uid.
    const [first, second] = world.record.restores;
    const rebuilt = { ...world.record, lastRestoreId: undefined, restores: [{ ...first!, uid: '' }, second!] };
    expect(world.doc(rebuilt).rule).not.toBe('Delete');
  });

  test('another EtcdRestore does not take its place any more', () => {
    const others = [request(), request({ name: 'tuesday', uid: 'other', createdAt: 2 })];
    const world = permitted({}).set({ jobs: known([job(failed)]), restores: known(others) });
    expect(world.rule).toBe('Restore.giveUp');
    expect(goes(world).rule).toBe('Delete');
    const told = [request({ phase: 'Failed' }), others[1]!];
    const next = permitted({}).set({ jobs: known([job(failed)]), restores: known(told) });
    expect(next.rule).toBe('Restore.supersede');
    expect(goes(next).rule).toBe('Delete');
  });
});

test('a final backup that fails holds everything; a person may skip it', () => {
  const world = deleted({ onDelete: 'Delete', finalBackupRequired: true }).commit();
  world.set({ jobs: known([{ ...finalJob, state: 'Failed', message: 'store unreachable' }]) });
  expect(world.effect).toBeUndefined();
  expect(world.reason('Stalled')).toBe('BackupFailed');
  world.cluster.skipFinalBackup = true;
  expect(world.rule).toBe('Delete.backedUp');
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
  expect(world.rule).toBe('Remove.call');
});

test('a deleted cluster is not repaired', () => {
  const world = deleted({}).volumeLost(1);
  world.cluster.finalizer = false;
  expect(world.plan().hold).toBe('Deleting');
});

test('a required final backup without a schedule is reported early', () => {
  expect(new World(3, { finalBackupRequired: true, schedule: undefined }).reason('Accepted')).toBe(
    'FinalBackupNeedsSchedule',
  );
});

test('the record is lost while the deletion waits: it is rebuilt, for the work is not done', () => {
  expect(deleted({ onDelete: 'Delete' }).set({ record: known(undefined) }).rule).toBe('RebuildRecord');
});

test('a final backup that fails is reported, with the setting that skips it', () => {
  const world = deleted({ finalBackupRequired: true }).commit();
  world.set({ jobs: known([{ ...finalJob, state: 'Failed', message: 'there is no StatefulSet orders' }]) });
  const held = world.plan().conditions.find(({ type }) => type === 'Stalled');
  expect(held).toMatchObject({ status: 'True', reason: 'BackupFailed' });
  expect(held?.message).toMatch(/there is no StatefulSet orders.*skip-final-backup=true/);
});
