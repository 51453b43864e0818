import { reasons } from '../../protocol/reasons.ts';
import type { RecordDoc, RestoreStep } from '../../protocol/record.ts';
import type { PodState } from '../jobs/pod-state.ts';
import { whyNotRestored } from '../objects/backup-object.ts';
import { type EtcdRestoreObject, restoreOf } from '../objects/restore-object.ts';
import type { JobKind } from '../port/observed.ts';
import { lackOf, type ObservedRestore, progressOf, troubleOf } from './restore-progress.ts';

const now = '2026-11-22T03:00:00Z';
const startedAt = '2026-11-22T02:59:00.123Z';

const restore = (status?: EtcdRestoreObject['status']): EtcdRestoreObject => ({
  metadata: { name: 'monday', uid: 'u', resourceVersion: '7', generation: 1, creationTimestamp: startedAt },
  spec: { clusterName: 'orders', source: { snapshotId: 's' } },
  ...(status && { status }),
});
const record = (doc: object): RecordDoc => ({ restores: [], ...doc }) as unknown as RecordDoc;
const at = (step: RestoreStep, uid = 'u') =>
  record({ op: { kind: 'Restore', id: 'op1', startedAt, step, args: { id: 'monday', uid } } });
const told = (
  doc: RecordDoc | undefined,
  status?: EtcdRestoreObject['status'],
  served?: { op: string; id: string },
  more: Partial<ObservedRestore> = {},
) => progressOf(restore(status), { doc, served, jobs: new Map(), ...more }, now)?.status;
const eventOf = (doc: RecordDoc, status: EtcdRestoreObject['status'], more: Partial<ObservedRestore> = {}) =>
  progressOf(restore(status), { doc, served: undefined, jobs: new Map(), ...more }, now)?.event;

test('how its Job runs does not make another restore of it', () => {
  const { metadata, spec } = restore();
  const own = { image: 'r/agent:2', nodeSelector: { disk: 'slow' }, podLabels: { tier: 'a' } };
  const found = restoreOf({ metadata, spec: { ...spec, ...own } });
  expect(found.specHash).toBe(restoreOf({ metadata, spec }).specHash);
  expect(found.source).toEqual({ ...spec.source, job: own });
  expect(restoreOf({ metadata, spec: { ...spec, again: 'b' } }).specHash).not.toBe(found.specHash);
});

test.each([
  ['verify', 'Verifying'],
  ['safety', 'BackingUp'],
  ['fence', 'Fencing'],
  ['drain', 'Draining'],
  ['seed', 'Restoring'],
  ['restore', 'Restoring'],
] as const)('at step %s it is %s, since when, and from when on', (step, phase) => {
  const time = `${phase[0]!.toLowerCase()}${phase.slice(1)}Time`;
  expect(told(at(step))).toMatchObject({ phase, reason: phase, startTime: startedAt, [time]: now });
});

test('a restore that has not begun is Pending and has no times; after its fence it regrows', () => {
  const why = { reason: 'Waiting', message: expect.any(String), observedGeneration: 1 };
  const condition = (type: string, status: string) => ({ type, status, ...why, lastTransitionTime: now });
  const conditions = ['Completed', 'Failed', 'Ready', 'Reconciling', 'Stalled'].map((type) =>
    condition(type, type === 'Reconciling' ? 'True' : 'False'),
  );
  const pending = { phase: 'Pending', ...why, conditions };
  expect(told(undefined)).toEqual(pending);
  expect(told(record({ op: { kind: 'Upgrade' } }))).toEqual(pending);
  expect(told(record({ restores: [{ id: 'monday', uid: '', specHash: '' }] }))).toMatchObject({
    phase: 'Regrowing',
    regrowingTime: now,
  });
});

test('a restore that was created again under its name does not regrow', () => {
  const fenced = (uid: string) => record({ restores: [{ id: 'monday', uid, specHash: '' }] });
  expect(told(fenced('u'))).toMatchObject({ phase: 'Regrowing' });
  expect(told(fenced('before'))).toMatchObject({ phase: 'Pending' });
  expect(told(fenced('before'))).not.toHaveProperty('regrowingTime');
  expect(eventOf(fenced('before'), undefined)).toBeUndefined();
});

test('a restore with another spec under its name is not shown the progress of the one before', () => {
  const shown = told(at('drain', 'before'), undefined, { op: 'op1', id: 'snapshot of before' });
  expect(shown).toMatchObject({
    phase: 'Pending',
    message: expect.stringContaining('the EtcdRestore that had its name'),
  });
  expect(shown).not.toHaveProperty('snapshotId');
});

test('what will never be carried out says so, and what to do, whatever else is in the way', () => {
  const trouble = 'every volume is empty';
  const message = (doc: object) =>
    (told(record(doc), undefined, undefined, { trouble }) as { message: string }).message;
  const before = { id: 'monday', uid: 'before' };
  const restored = message({ restores: [{ ...before, specHash: '' }] });
  expect(restored).toMatch(/^monday was restored before, so nothing is done; .* another name .* spec\.again/);
  expect(message({ restores: [{ ...before, specHash: 'other' }] })).toMatch(/another spec; use another name/);
  expect(message({ failedRestores: ['monday'] })).toMatch(/failed before; to try again, use another name/);
  expect(message({ restores: [{ id: 'monday', uid: 'u', specHash: 'changed default' }] })).not.toMatch(/another spec/);
});

test('one that is being deleted is shown only while its operation lasts', () => {
  const { metadata, ...rest } = restore();
  const deleted = { ...rest, metadata: { ...metadata, deletionTimestamp: now } };
  const shown = (doc: RecordDoc) => progressOf(deleted, { doc, served: undefined, jobs: new Map() }, now)?.status;
  expect(shown(record({}))).toMatchObject({ phase: 'Pending', message: expect.stringContaining('was taken back') });
  expect(shown(at('drain'))).toMatchObject({ phase: 'Draining' });
});

test('one that was created again while it was being restored goes on with what it has shown', () => {
  const shown = { phase: 'Restoring', startTime: startedAt, safetyBackupId: 'safety' };
  const doc = record({ restores: [{ id: 'monday', uid: 'before', specHash: restoreOf(restore()).specHash }] });
  expect(told(doc, shown)).toMatchObject({ phase: 'Regrowing' });
  expect(told(doc, shown)).not.toHaveProperty('safetyBackupId');
  expect(told(doc)).toMatchObject({ phase: 'Pending', message: expect.stringContaining('restored before') });
});

test('past a fence nothing is said to be unchanged', () => {
  const jobs = new Map([
    ['restore' as const, { op: 'op1', reason: 'JobFailed' as const, message: 'no such snapshot' }],
  ]);
  const message = (phase: string) => told({ ...at('verify'), phase } as RecordDoc, undefined, undefined, { jobs });
  expect(message('Running')).toMatchObject({ message: 'no such snapshot; nothing has been changed yet' });
  expect(message('Restoring')).toMatchObject({ message: 'no such snapshot' });
});

test('a waiting restore reports what it waits for', () => {
  const message = (op: object) => (told(record({ op })) as { message: string }).message;
  expect(message({ kind: 'Restore', step: 'verify', args: { id: 'sunday' } })).toContain(
    'waiting for EtcdRestore sunday',
  );
  const origin = { kind: 'Restore', step: 'seed', args: { id: 'origin:1' } };
  expect(told(record({ phase: 'Restoring', op: origin }))).toMatchObject({
    message: 'waiting for the creation of the cluster from a backup',
  });
  expect(message({ kind: 'Upgrade' })).toBe('waiting for the current operation of the cluster: Upgrade');
  const queued = told(
    record({ op: { kind: 'Restore', step: 'verify', args: { id: 'sunday' } } }),
    undefined,
    undefined,
    {
      trouble: 'pod orders-1: no answer',
    },
  );
  expect(queued).toMatchObject({
    message: expect.stringMatching(/waiting for EtcdRestore sunday.*; pod orders-1: no answer/),
  });
});

test('a status that is up to date is not written again, except for a snapshot that was found meanwhile', () => {
  const status = { startTime: startedAt, ...told(at('verify')) } as EtcdRestoreObject['status'];
  expect(told(at('verify'), status)).toBeUndefined();
  const served = { op: 'op1', id: 'snapshot-1' };
  expect(told(at('verify'), status, served)).toMatchObject({ phase: 'Verifying', snapshotId: 'snapshot-1' });
  expect(told(at('verify'), status, served)).not.toHaveProperty('verifyingTime');
  expect(told(at('verify'), status, { op: 'another', id: 'snapshot-0' })).toBeUndefined();
});

test('nothing is reported when it has ended, or is about to fail', () => {
  expect(told(at('report'), { phase: 'Verifying' })).toBeUndefined();
  for (const phase of ['Completed', 'Failed']) expect(told(undefined, { phase })).toBeUndefined();
});

describe('it reports the state of its Job', () => {
  const job = (kind: JobKind, reason: PodState['reason'] | 'JobFailed', message: string, op = 'op1') => ({
    jobs: new Map([[kind, { op, reason, message }]]),
  });
  const pulls = job('restore', 'ImageNotPulled', 'pod orders-restore-x: ErrImagePull: not found');

  test('a pod that does not start, with the message of Kubernetes', () => {
    expect(told(at('verify'), undefined, undefined, pulls)).toMatchObject({
      ...{ phase: 'Verifying', reason: 'ImageNotPulled' },
      message: 'pod orders-restore-x: ErrImagePull: not found; nothing has been changed yet',
    });
  });

  test('a failed attempt, with the message of its pod, while another one runs', () => {
    const tried = job('restore', 'Retrying', 'Job orders-restore: attempt 1 failed: there is no snapshot x');
    const status = told(at('verify')) as EtcdRestoreObject['status'];
    expect(told(at('verify'), status, undefined, tried)).toMatchObject({
      ...{ phase: 'Verifying', reason: 'Retrying' },
      message: 'Job orders-restore: attempt 1 failed: there is no snapshot x; nothing has been changed yet',
    });
  });

  test('the safety backup reports the state of its own Job', () => {
    const waits = job('safety', 'PodWaits', 'pod orders-safety-x: FailedMount: secret "s3" not found');
    expect(told(at('safety'), undefined, undefined, waits)).toMatchObject({ phase: 'BackingUp', reason: 'PodWaits' });
    expect(told(at('safety'), undefined, undefined, pulls)).toMatchObject({ reason: 'BackingUp' });
  });

  test('the next problem of its pod replaces the previous one', () => {
    const cpu = told(at('verify'), undefined, undefined, job('restore', 'PodWaits', 'pod x: Unschedulable: cpu'));
    const mount = job('restore', 'PodWaits', 'pod x: FailedMount: secret "s3" not found');
    const before = { startTime: startedAt, ...cpu } as EtcdRestoreObject['status'];
    const starts = job('restore', 'Starting', 'the pod has not started');
    expect(told(at('verify'), before, undefined, starts)).toBeUndefined();
    expect(told(at('verify'), before, undefined, mount)).toMatchObject({
      message: 'pod x: FailedMount: secret "s3" not found; nothing has been changed yet',
    });
  });

  test('past the fence as before it, but without "nothing has been changed"', () => {
    const failed = job('restore', 'JobFailed', 'the store is gone');
    expect(told(at('seed'), undefined, undefined, failed)).toMatchObject({
      ...{ phase: 'Restoring', reason: 'JobFailed', message: 'the store is gone' },
    });
  });

  test('fetching is reported while its pod runs, and not before', () => {
    expect(told(at('verify'))).toMatchObject({ message: expect.stringContaining('waiting to fetch') });
    const runs = job('restore', 'Running', 'Job orders-restore: pod x runs');
    expect(told(at('verify'), undefined, undefined, runs)).toMatchObject({
      ...{ reason: 'Verifying', message: 'fetching and verifying the snapshot; nothing has been changed yet' },
    });
    const another = job('restore', 'Running', 'Job orders-restore: pod x runs', 'op0');
    expect(told(at('verify'), undefined, undefined, another)).toMatchObject({
      message: expect.stringContaining('waiting to fetch'),
    });
  });

  test('an event for each phase, and a Warning for each reason to wait, not for each message', () => {
    expect(eventOf(at('verify'), undefined)).toMatchObject({ type: 'Normal', reason: 'Verifying' });
    const status = told(at('verify')) as EtcdRestoreObject['status'];
    expect(eventOf(at('verify'), status, pulls)).toMatchObject({ type: 'Warning', reason: 'ImageNotPulled' });
    const waits = told(at('verify'), status, undefined, pulls) as EtcdRestoreObject['status'];
    const other = job('restore', 'ImageNotPulled', 'pod orders-restore-x: ErrImagePull: no such host');
    expect(told(at('verify'), waits, undefined, other)).toBeDefined();
    const pause = job('restore', 'ImageNotPulled', 'pod orders-restore-x: ImagePullBackOff: Back-off');
    expect(told(at('verify'), waits, undefined, pause)).toBeUndefined();
    expect(eventOf(at('verify'), waits, other)).toBeUndefined();
    expect(eventOf(at('verify'), waits, job('restore', 'Running', ''))).toBeUndefined();
    expect(eventOf(at('verify'), status, job('restore', 'Starting', 'the pod has not started'))).toBeUndefined();
    const tries = [1, 2].map((n) => job('restore', 'Retrying', `try ${n} failed`));
    const retried = told(at('verify'), status, undefined, tries[0]) as EtcdRestoreObject['status'];
    expect(eventOf(at('verify'), retried, tries[0])).toBeUndefined();
    expect(eventOf(at('verify'), retried, tries[1])).toMatchObject({ type: 'Warning', reason: 'Retrying' });
  });
});

test('after the fence it reports the problem of the cluster', () => {
  const trouble = 'pod orders-0: FailedMount: no such volume';
  expect(told(at('seed'), undefined, undefined, { trouble })).toMatchObject({
    message: `waiting for the first member to restore the snapshot; ${trouble}`,
  });
  expect(told(at('verify'), undefined, undefined, { trouble })).not.toMatchObject({
    message: expect.stringContaining(trouble),
  });
});

test('Stalled, Degraded and a refused pod template are the problems that block a restore', () => {
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
  });
  const of = (...conditions: object[]) => troubleOf({ conditions } as Parameters<typeof troubleOf>[0]);
  const silent = condition('Degraded', 'True', 'AgentUnreachable', 'pod 0: no answer');
  const image = condition('Accepted', 'False', 'TemplateMismatch', 'its image is 3.5.9');
  expect(of(silent)).toBe('pod 0: no answer');
  expect(of(condition('Degraded', 'True', 'Starting', 'a member starts'))).toBeUndefined();
  expect(of(condition('Degraded', 'True', 'SpaceShort', 'the quota'))).toBeUndefined();
  expect(of(image)).toBe('its image is 3.5.9');
  expect(of(silent, image)).toBe('its image is 3.5.9; pod 0: no answer');
  expect(of(condition('Accepted', 'False', 'SizeRefused', 'size 4'))).toBeUndefined();
  expect(of(condition('Progressing', 'False', 'Paused', 'spec.paused is set'))).toBe('spec.paused is set');
  expect(of(condition('Progressing', 'False', 'Idle', 'nothing to do'))).toBeUndefined();
});

test('one that is older than the data of the cluster says from the start that it will be refused', () => {
  const refused = { phase: 'Pending', message: expect.stringContaining('older than the data') };
  const origin = { kind: 'Restore', id: 'o', step: 'verify', args: { id: 'origin:1' } };
  expect(told(record({ phase: 'Seeding', op: origin }))).toMatchObject(refused);
  expect(told(record({ phase: 'Restoring', op: origin, olderRestores: [{ id: 'monday' }] }))).toMatchObject(refused);
  expect(told(record({ phase: 'Running', olderRestores: [{ id: 'monday' }] }))).toMatchObject(refused);
  expect(told(record({ phase: 'Running', olderRestores: [{ id: 'sunday' }] }))).not.toMatchObject(refused);
});

test('while members join, it names what the cluster still lacks', () => {
  const lacks = 'orders-2 answers, but its pod is not ready';
  const regrowing = record({ restores: [{ id: 'monday', uid: 'u' }] });
  expect(told(regrowing, undefined, undefined, { lacks })).toMatchObject({ message: expect.stringContaining(lacks) });
  const trouble = 'spec.paused is set';
  expect(told(regrowing, undefined, undefined, { lacks, trouble })).toMatchObject({
    message: expect.stringMatching(/; spec\.paused is set$/),
  });
  expect(told(at('drain'), undefined, undefined, { lacks })).not.toMatchObject({
    message: expect.stringContaining(lacks),
  });
  const ready = (status: string) => ({
    conditions: [{ type: 'Ready', status, reason: 'NotUpToDate', message: `${reasons.NotUpToDate}: ${lacks}` }],
  });
  expect(lackOf(ready('False') as Parameters<typeof lackOf>[0])).toBe(lacks);
  expect(lackOf(ready('True') as Parameters<typeof lackOf>[0])).toBeUndefined();
});

test('before it begins, and at the fence, it reports the problem of the cluster', () => {
  const trouble = 'pod orders-0: the agent of a pod does not answer';
  expect(told(undefined, undefined, undefined, { trouble })).toMatchObject({
    ...{ phase: 'Pending', message: `waiting until the cluster can start the restore; ${trouble}` },
  });
  const serves = {
    trouble,
    jobs: new Map([['restore' as const, { op: 'op1', reason: 'Running' as const, message: '' }]]),
  };
  for (const more of [{ trouble }, serves])
    expect(told(at('fence'), undefined, undefined, more)).toMatchObject({
      message: expect.stringContaining(`; ${trouble}`),
    });
});

test('a safety backup that is skipped because there is no quorum is reported', () => {
  const without = (step: RestoreStep, args: object) => {
    const { op } = at(step) as unknown as { op: { args: object } };
    return record({ op: { ...op, args: { ...op.args, ...args } } });
  };
  const leftOut = { message: expect.stringContaining('; no safety backup was taken: no quorum answered') };
  for (const step of ['fence', 'drain', 'seed', 'restore'] as const) {
    expect(told(without(step, { safetyBackup: true }))).toMatchObject(leftOut);
    expect(told(without(step, { safetyBackup: true, safetyBackupId: 's' }))).not.toMatchObject(leftOut);
    expect(told(without(step, { safetyBackup: false }))).not.toMatchObject(leftOut);
  }
  expect(told(without('safety', { safetyBackup: true }))).not.toMatchObject(leftOut);
});

test('the safety backup has an id as soon as it is stored', () => {
  const withBackup = (args: object) => {
    // The safety backup of another operation does not count.
    const lastBackup = { id: 'another', revision: 7, sha256: 'abc', at: '2026-11-22T02:59:30.000Z' };
    const { op } = at('fence') as unknown as { op: { args: object } };
    return record({ lastBackup, op: { ...op, args: { ...op.args, ...args } } });
  };
  const fenced = withBackup({ safetyBackup: true, safetyBackupId: 'safety-1' });
  expect(told(fenced)).toMatchObject({ safetyBackupId: 'safety-1' });
  const { safetyBackupId: _, ...before } = told(fenced) as Record<string, unknown>;
  expect(told(fenced, before)).toMatchObject({ safetyBackupId: 'safety-1' });
  expect(told(fenced, { ...before, safetyBackupId: 'safety-1' })).toBeUndefined();
  for (const safetyBackup of [true, false])
    expect(told(withBackup({ safetyBackup }))).not.toHaveProperty('safetyBackupId');
});

test('a restore that is resumed does not mention its previous attempt', () => {
  const first = {
    ...{ ...told(at('fence')), snapshotId: 'snapshot-0', safetyBackupId: 'safety-0', backingUpTime: now },
    startTime: '2026-11-21T02:59:00.123Z',
  } as EtcdRestoreObject['status'];
  const nothing = { startTime: null, fencingTime: null, backingUpTime: null, snapshotId: null, safetyBackupId: null };
  const waits = told(record({ op: { kind: 'Remove' } }), first);
  expect(waits).toMatchObject({ ...nothing, phase: 'Pending', reason: 'Waiting' });
  const { op } = at('fence') as unknown as { op: { args: object } };
  const fenced = record({ op: { ...op, args: { ...op.args, safetyBackup: true } } });
  expect(told(fenced, first)).toMatchObject({
    ...{ ...nothing, startTime: startedAt, fencingTime: now, phase: 'Fencing' },
    message: expect.stringContaining('no safety backup was taken'),
  });
  expect(told(fenced, first, { op: 'op1', id: 'snapshot-1' })).toMatchObject({ snapshotId: 'snapshot-1' });
  // After its operation, and while the record is unknown, it is still the same attempt.
  expect(told(record({ restores: [{ id: 'monday', uid: 'u' }] }), first)).not.toHaveProperty('safetyBackupId');
  expect(told(undefined, first)).toBeUndefined();
});

test('newer snapshots that were passed over remain in the message', () => {
  const passedOver = 'passed over: snapshot-2, 2h newer: it was never verified';
  const served = { op: 'op1', id: 'snapshot-1', passedOver };
  const found = told(at('verify'), undefined, served) as EtcdRestoreObject['status'];
  expect(found).toMatchObject({ passedOver, message: expect.stringContaining(`; ${passedOver}`) });
  expect(told(at('verify'), { ...found, startTime: startedAt }, served)).toBeUndefined();
  // A reconciler that has just started knows them only from the status.
  const grown = told(record({ restores: [{ id: 'monday', uid: 'u' }] }), { ...found, startTime: startedAt });
  expect(grown).toMatchObject({ message: expect.stringMatching(/pod is ready; passed over: snapshot-2/) });
  expect(told(at('verify'), undefined, { ...served, op: 'another' })).not.toHaveProperty('passedOver');
});

test('an EtcdBackup that cannot be restored is explained', () => {
  const backup = (status?: object) => ({ status }) as unknown as Parameters<typeof whyNotRestored>[0];
  expect(whyNotRestored(undefined)).toBe('does not exist');
  expect(whyNotRestored(backup())).toContain('no reconciler');
  expect(whyNotRestored(backup({ phase: 'BackingUp', message: 'its pod runs' }))).toBe(
    'has not completed: its pod runs',
  );
  expect(whyNotRestored(backup({ phase: 'Failed', message: 'no bucket' }))).toMatch(/^failed, .*: no bucket$/);
  expect(whyNotRestored(backup({ phase: 'Completed' }))).toContain('does not name its snapshot');
});
