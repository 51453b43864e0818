import type { JobObject, ObjectCondition, PodObject } from '../../kube/objects.ts';
import type { BackupStatus, EtcdBackupObject } from '../objects/backup-object.ts';
import { decideBackup, type ObservedBackup } from './decision.ts';
import { backupJobName } from './job.ts';

const created = '2026-11-22T02:00:00Z';
const ended = '2026-11-22T02:03:00Z';
const now = '2026-11-22T02:05:00Z';
const meta = (name: string, uid: string) => ({ name, uid, resourceVersion: '1', creationTimestamp: created });

const backup = (status?: Partial<BackupStatus>, metadata: object = {}): EtcdBackupObject => ({
  metadata: { ...meta('before', 'backup-uid'), generation: 1, ...metadata },
  spec: { clusterName: 'orders', schedule: 'nightly' },
  ...(status && { status }),
});
const jobName = (attempt: number) => backupJobName(backup(), attempt);
const job = (end?: Partial<ObjectCondition> & { type: string }, attempt = 1): JobObject => ({
  metadata: meta(jobName(attempt), `job-uid-${attempt}`),
  ...(end && { status: { conditions: [{ status: 'True', lastTransitionTime: ended, ...end }] } }),
});
const pod = (state: object, phase = 'Running', owner = 'job-uid-1'): PodObject => ({
  metadata: {
    ...meta('before-pod', 'pod-uid'),
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: '', uid: owner }],
  },
  status: { phase, containerStatuses: [{ name: 'backup', state }] },
});
const over = (exitCode: number, said: object | string, owner?: string): PodObject => {
  const message = typeof said === 'string' ? said : JSON.stringify({ command: 'backup', exitCode, ...said });
  return pod({ terminated: { exitCode, message, finishedAt: ended } }, exitCode === 0 ? 'Succeeded' : 'Failed', owner);
};
const stored = {
  snapshot: { id: 'the-id', revision: 7, sizeBytes: 20, sha256: 'ab' },
  stores: [{ store: 's3://b', key: 'orders/the-id.db.zst', verified: 'read' }],
};

const decide = (observed: Partial<ObservedBackup> & { backup: EtcdBackupObject }) =>
  decideBackup({ jobs: [], pods: [], now, ...observed });
const backingUp: Partial<BackupStatus> = {
  phase: 'BackingUp',
  reason: 'Running',
  message: 'runs',
  jobName: jobName(1),
  startTime: created,
};

describe('a Job that timed out reports after how long, and what it was doing', () => {
  const late = { type: 'Failed', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' };
  const failed = (status: Partial<BackupStatus>, pods: PodObject[] = []) => {
    const limited = { ...job(late), spec: { activeDeadlineSeconds: 660 } };
    return decide({ backup: backup(status), jobs: [limited], pods }).status;
  };

  test('the pod was running', () => {
    const status = failed(backingUp);
    expect(status).toMatchObject({ phase: 'Failed', reason: 'TimedOut' });
    expect(status?.message).toContain('after 660 s: the pod was still running');
    expect(status?.message).toContain('timeouts.total');
  });

  test('an earlier attempt ended at the agent’s own time-out', () => {
    const said = { error: 'not done after 600s', phases: { snapshot: 3, upload: 597 } };
    expect(failed(backingUp, [over(50, said)])?.message).toContain('not done after 600s (phase upload)');
  });

  test('a Job that ended before Kubernetes stopped it', () => {
    const said = { error: 'not done after 600s', phases: { snapshot: 600 } };
    const jobs = [job({ type: 'Failed', reason: 'BackoffLimitExceeded' })];
    const { status } = decide({ backup: backup(backingUp), jobs, pods: [over(50, said)] });
    expect(status).toMatchObject({ reason: 'TimedOut', message: expect.stringContaining('(phase snapshot)') });
  });
});

describe('before there is a Job', () => {
  test('the Job is created', () => {
    expect(decide({ backup: backup() })).toEqual({ create: 1 });
  });

  test('an obstacle is reported without an Event, and the phase is Pending', () => {
    const obstacle = { reason: 'ClusterNotFound', message: 'there is none' };
    const { status, event, create } = decide({ backup: backup(), obstacle });
    expect(status).toMatchObject({ phase: 'Pending', ...obstacle, source: 'orders', observedGeneration: 1 });
    expect(status?.conditions).toMatchObject([
      { type: 'Completed', status: 'False', reason: 'ClusterNotFound' },
      { type: 'Failed', status: 'False' },
      { type: 'Ready', status: 'False' },
      { type: 'Reconciling', status: 'True' },
      { type: 'Stalled', status: 'False' },
    ]);
    expect([event, create]).toEqual([undefined, undefined]);
  });

  test('a Job that the API server refuses is reported in the status and with one Warning', () => {
    const obstacle = { reason: 'JobNotCreated', message: 'POST jobs: exceeded quota' };
    const first = decide({ backup: backup(), obstacle });
    expect(first.status).toMatchObject({ phase: 'Pending', ...obstacle });
    expect(first.event).toMatchObject({ type: 'Warning', reason: 'FailedCreate', message: obstacle.message });
    expect(decide({ backup: backup(first.status), obstacle }).event).toBeUndefined();
    expect(decide({ backup: backup(first.status) })).toEqual({ create: 1 });
  });

  test('a request that can never be fulfilled is Failed', () => {
    const obstacle = { reason: 'BadSpec', message: 'prefix: a command store has none', permanent: true } as const;
    const { status, event } = decide({ backup: backup(), obstacle });
    expect(status).toMatchObject({ phase: 'Failed', reason: 'BadSpec', completionTime: now });
    expect(event).toMatchObject({ type: 'Warning', reason: 'BackupFailed', message: obstacle.message });
  });
});

describe('while the Job runs', () => {
  test('its start is reported once', () => {
    const first = decide({ backup: backup(), jobs: [job()] });
    expect(first.status).toMatchObject({
      phase: 'BackingUp',
      reason: 'Starting',
      startTime: created,
      jobName: jobName(1),
    });
    expect(first.event).toMatchObject({
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Created Job ${jobName(1)}`,
    });
    const pods = [pod({ running: {} })];
    const second = decide({ backup: backup(first.status), jobs: [job()], pods });
    expect(second).toMatchObject({ status: { reason: 'Running' } });
    expect(second.event).toBeUndefined();
  });

  test('an image that cannot be pulled is reported with its reason, which the back-off does not hide', () => {
    const pulls = (reason: string, message: string) => [pod({ waiting: { reason, message } }, 'Pending')];
    const jobs = [job()];
    const first = decide({ backup: backup(backingUp), jobs, pods: pulls('ErrImagePull', 'not found') }).status;
    expect(first).toMatchObject({ phase: 'BackingUp', reason: 'ImageNotPulled' });
    expect(first?.message).toBe('pod before-pod: ErrImagePull: not found');
    const backOff = pulls('ImagePullBackOff', 'Back-off pulling image "x"');
    expect(decide({ backup: backup(first), jobs, pods: backOff }).status?.message).toBe(first?.message);
    // At the time-out the Job controller deletes the pod, and then lets the Job fail.
    expect(decide({ backup: backup(first), jobs }).status).toMatchObject({
      reason: 'ImageNotPulled',
      message: first?.message,
    });
    const runs = decide({ backup: backup(first), jobs, pods: [pod({ running: {} })] });
    expect(runs.status?.reason).toBe('Running');
    const late = [job({ type: 'Failed', reason: 'DeadlineExceeded', message: 'Job was active longer' })];
    const { status, event } = decide({ backup: backup(first), jobs: late });
    expect(status).toMatchObject({ phase: 'Failed', reason: 'ImageNotPulled', completionTime: ended });
    expect(event?.message).toBe(`Job ${jobName(1)}: timed out after 180 s: ${first?.message}`);
  });

  test('the next problem of its pod replaces the previous one', () => {
    const why = (reason: string, message: string) => [
      {
        ...pod({}, 'Pending'),
        status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason, message }] },
      },
    ];
    const jobs = [job()];
    const first = decide({ backup: backup(backingUp), jobs, pods: why('Unschedulable', 'insufficient cpu') }).status;
    expect(first?.message).toContain('insufficient cpu');
    expect(decide({ backup: backup(first), jobs, pods: [pod({}, 'Pending')] }).status?.message).toBe(first?.message);
    const secret = [pod({ waiting: { reason: 'CreateContainerConfigError', message: 'no key x' } }, 'Pending')];
    const second = decide({ backup: backup(first), jobs, pods: secret }).status;
    expect(second).toMatchObject({ reason: 'PodWaits', message: expect.stringContaining('no key x') });
    const gone = [pod({ waiting: { reason: 'InvalidImageName', message: 'couldn’t parse' } }, 'Pending')];
    const third = decide({ backup: backup(second), jobs, pods: gone }).status;
    expect(third).toMatchObject({ reason: 'ImageNotPulled', message: expect.stringContaining('InvalidImageName') });
  });

  test.each([
    [
      'a Secret without the key',
      { waiting: { reason: 'CreateContainerConfigError', message: 'no key x' } },
      'no key x',
    ],
    ['no node', {}, 'Unschedulable: 0/3 nodes'],
  ])('a problem of its pod is reported: %s', (_, state, told) => {
    const waits = pod(state, 'Pending');
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }];
    const pods = [{ ...waits, status: { ...waits.status, conditions } }];
    const { status } = decide({ backup: backup(backingUp), jobs: [job()], pods });
    expect(status).toMatchObject({ reason: 'PodWaits', message: expect.stringContaining(told) });
  });

  test('a failed attempt is reported until the next one starts', () => {
    const pods = [over(20, { error: 's3: connection refused' })];
    const { status, event } = decide({ backup: backup(backingUp), jobs: [job()], pods });
    expect(status?.message).toContain('attempt 1 failed: s3: connection refused');
    expect([status?.phase, event]).toEqual(['BackingUp', undefined]);
  });
});

describe('at the end of the Job', () => {
  test('Completed, with the result of the agent', () => {
    const jobs = [job({ type: 'Complete' })];
    const { status, event } = decide({ backup: backup(backingUp), jobs, pods: [over(0, stored)] });
    expect(status).toMatchObject({
      phase: 'Completed',
      startTime: created,
      completionTime: ended,
      snapshotId: 'the-id',
      key: 'orders/the-id.db.zst',
      revision: 7,
      sizeBytes: 20,
      sha256: 'ab',
      verified: 'read',
      jobName: jobName(1),
      conditions: [
        { type: 'Completed', status: 'True', lastTransitionTime: now },
        { type: 'Failed', status: 'False' },
        { type: 'Ready', status: 'True' },
        { type: 'Reconciling', status: 'False' },
        { type: 'Stalled', status: 'False' },
      ],
    });
    expect(event).toMatchObject({ type: 'Normal', reason: 'BackupSucceeded' });
    expect(event?.message).toContain(`Job ${jobName(1)}: the-id of revision 7`);
  });

  test.each([
    ['when its pod took it', '2026-11-22T02:02:07.891Z', '2026-11-22T02:02:07Z'],
    ['at the earliest when its Job was created, if the clock of the node is behind', '2026-11-21T00:00:00Z', created],
    ['at the latest when its Job ended, if the clock of the node is ahead', '2027-01-01T00:00:00Z', ended],
    ['at an unknown time, if an older agent took it', undefined, undefined],
    ['at an unknown time, if the result has none', 'yesterday', undefined],
  ])('the snapshot was taken %s', (_, createdAt, snapshotTime) => {
    const result = { ...stored, snapshot: { ...stored.snapshot, createdAt } };
    const { status } = decide({
      backup: backup(backingUp),
      jobs: [job({ type: 'Complete' })],
      pods: [over(0, result)],
    });
    expect(status?.snapshotTime).toBe(snapshotTime);
  });

  test.each([
    [2, { error: '--age-recipient: x is none' }, 'BadConfiguration', '--age-recipient: x is none'],
    [10, { error: 'no member answers' }, 'EtcdUnavailable', 'no member answers'],
    [21, { error: 's3: access denied' }, 'StoreRefused', 's3: access denied'],
    [11, { ...stored, suspect: ['Corrupt'] }, 'SourceSuspect', 'not counted as verified: Corrupt'],
    [
      3,
      { ...stored, stores: [...stored.stores, { store: 'sftp://x', error: 'full' }] },
      'PartlyStored',
      'sftp://x: full',
    ],
    [137, 'the end of a log', 'JobFailed', 'the end of a log'],
  ])('exit code %i is Failed, as a Warning with the Job and the line of the agent', (exitCode, said, reason, line) => {
    const jobs = [job({ type: 'Failed', reason: 'PodFailurePolicy', message: 'of Kubernetes' })];
    const { status, event } = decide({ backup: backup(backingUp), jobs, pods: [over(exitCode, said)] });
    expect(status).toMatchObject({ phase: 'Failed', reason, completionTime: ended });
    expect(event).toMatchObject({ type: 'Warning', reason: 'BackupFailed' });
    expect(event?.message).toMatch(new RegExp(`^Job ${jobName(1)}: .*`));
    expect(event?.message).toContain(line);
  });

  test("without a pod the Job's condition says why", () => {
    const jobs = [job({ type: 'Failed', reason: 'BackoffLimitExceeded', message: 'reached the limit' })];
    expect(decide({ backup: backup(backingUp), jobs }).status?.message).toBe(`Job ${jobName(1)}: reached the limit`);
  });

  test('the pods of another Job with its name do not count', () => {
    const jobs = [job({ type: 'Failed', message: 'limit' })];
    expect(decide({ backup: backup(), jobs, pods: [over(0, stored, 'older')] }).status?.message).toContain('limit');
  });

  test('a result that was lost with its pod is found in the store by one more Job', () => {
    const [first, pods] = [job({ type: 'Complete' }), [over(0, stored, 'job-uid-2')]];
    expect(decide({ backup: backup(backingUp), jobs: [first] })).toEqual({ create: 2 });
    const running = decide({ backup: backup(backingUp), jobs: [first, job(undefined, 2)] });
    expect(running.event?.message).toBe(`Created Job ${jobName(2)}`);
    const jobs = [first, job({ type: 'Complete' }, 2)];
    expect(decide({ backup: backup(backingUp), jobs, pods }).status).toMatchObject({ snapshotId: 'the-id' });
    expect(decide({ backup: backup(backingUp), jobs }).status).toMatchObject({
      phase: 'Completed',
      reason: 'ResultLost',
    });
  });
});

describe('when the Job vanishes', () => {
  test('it is reported, its remaining pod is awaited, and another Job is created', () => {
    const gone = decide({ backup: backup(backingUp) });
    expect(gone.status).toMatchObject({ phase: 'BackingUp', reason: 'JobVanished', startTime: created });
    expect(gone.event).toMatchObject({ type: 'Warning', reason: 'JobVanished' });
    const after = backup(gone.status);
    expect(decide({ backup: after, pods: [pod({ running: {} })] })).toEqual({});
    expect(decide({ backup: after, pods: [over(0, stored)] })).toEqual({ create: 1 });
    const again = decide({ backup: after, jobs: [job()] });
    expect(again.event?.reason).toBe('SuccessfulCreate');
    expect(again.status?.startTime).toBe(created);
  });

  test('a Job that is being deleted is awaited', () => {
    const deleting = { ...job(), metadata: { ...job().metadata, deletionTimestamp: now } };
    expect(decide({ backup: backup(backingUp), jobs: [deleting] })).toEqual({});
  });
});

test.each(['Completed', 'Failed'] as const)('%s is final', (phase) => {
  for (const jobs of [[], [job()], [job({ type: 'Complete' })], [job({ type: 'Failed' })]]) {
    expect(decide({ backup: backup({ ...backingUp, phase }), jobs })).toEqual({});
  }
});

test('nothing is done for an EtcdBackup that is being deleted', () => {
  expect(decide({ backup: backup(undefined, { deletionTimestamp: now }) })).toEqual({});
});

describe('a record of a scheduled run', () => {
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'orders-nightly-1', uid: 'job-uid-1' }];
  const mirror = (status?: Partial<BackupStatus>) => backup(status, { ownerReferences });

  test('never creates a Job', () => {
    expect(decide({ backup: mirror() })).toEqual({});
    expect(decide({ backup: mirror(backingUp) })).toEqual({});
  });

  test('reports the result of the run', () => {
    const run = decide({ backup: mirror(), jobs: [job()] });
    expect(run.status?.phase).toBe('BackingUp');
    expect(run.event).toBeUndefined();
    const failed = [job({ type: 'Failed' })];
    const failure = decide({ backup: mirror(run.status), jobs: failed, pods: [over(21, { error: 'denied' })] });
    expect(failure.event).toMatchObject({ type: 'Warning', reason: 'BackupFailed' });
    expect(decide({ backup: mirror(), jobs: [job({ type: 'Complete' })] }).status).toMatchObject({
      phase: 'Completed',
      reason: 'ResultLost',
    });
  });
});
