import type { RecordDoc, RestoreStep } from '../reconcile/record.ts';
import type { EtcdRestoreObject } from './restore-object.ts';
import { outcomeConditions, progressOf } from './restore-progress.ts';

const now = '2026-11-22T03:00:00Z';
const startedAt = '2026-11-22T02:59:00.123Z';

const restore = (status?: EtcdRestoreObject['status']): EtcdRestoreObject => ({
  metadata: { name: 'monday', uid: 'u', resourceVersion: '7', generation: 1, creationTimestamp: startedAt },
  spec: { clusterName: 'orders', source: { snapshotId: 's' } },
  ...(status && { status }),
});
const record = (doc: object): RecordDoc => ({ restores: [], ...doc }) as unknown as RecordDoc;
const at = (step: RestoreStep) =>
  record({ op: { kind: 'Restore', id: 'op1', startedAt, step, args: { id: 'monday' } } });
const told = (doc: RecordDoc | undefined, status?: EtcdRestoreObject['status'], served?: { op: string; id: string }) =>
  progressOf(restore(status), { doc, served }, now);

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

test('one that nobody began yet is Pending and has no times; one that came through the fence regrows', () => {
  const pending = { phase: 'Pending', reason: 'Waiting', message: expect.any(String), observedGeneration: 1 };
  expect(told(undefined)).toEqual(pending);
  expect(told(record({ op: { kind: 'Upgrade' } }))).toEqual(pending);
  expect(told(record({ restores: [{ id: 'monday' }] }))).toMatchObject({ phase: 'Regrowing', regrowingTime: now });
});

test('what it says already is not said again, but for the snapshot that was found meanwhile', () => {
  const status = { phase: 'Verifying', reason: 'Verifying', startTime: startedAt, verifyingTime: now };
  expect(told(at('verify'), status)).toBeUndefined();
  const served = { op: 'op1', id: 'snapshot-1' };
  expect(told(at('verify'), status, served)).toMatchObject({ phase: 'Verifying', snapshotId: 'snapshot-1' });
  expect(told(at('verify'), status, served)).not.toHaveProperty('verifyingTime');
  expect(told(at('verify'), status, { op: 'another', id: 'snapshot-0' })).toBeUndefined();
});

test('when it is over, or is being failed, nothing is said', () => {
  expect(told(at('report'), { phase: 'Verifying' })).toBeUndefined();
  for (const phase of ['Completed', 'Failed']) expect(told(undefined, { phase })).toBeUndefined();
});

test('kubectl can wait for its end', () => {
  expect(outcomeConditions({ phase: 'Failed', reason: 'SnapshotRefused', message: 'm' }, now)).toMatchObject([
    { type: 'Completed', status: 'False' },
    { type: 'Failed', status: 'True', reason: 'SnapshotRefused', lastTransitionTime: now },
  ]);
});
