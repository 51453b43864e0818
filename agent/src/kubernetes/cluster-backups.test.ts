import type { BackupStatus, EtcdBackupObject } from './backup-object.ts';
import { clusterBackups } from './cluster-backups.ts';
import type { EtcdClusterObject } from './cluster-object.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 22, 2, minute)).toISOString();

function backup(minute: number, status: Partial<BackupStatus>, more: { cluster?: string; byHand?: true } = {}) {
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u' }];
  return {
    metadata: {
      ...{ name: `b${minute}`, uid: `u${minute}`, resourceVersion: '1', creationTimestamp: at(minute) },
      ...(!more.byHand && { ownerReferences }),
    },
    spec: { clusterName: more.cluster ?? 'orders', schedule: 'nightly' },
    status: { startTime: at(minute), verified: 'read', ...status },
  } satisfies EtcdBackupObject;
}
const cluster = (...schedules: string[]): EtcdClusterObject => ({
  metadata: { name: 'orders', uid: 'o', resourceVersion: '1', creationTimestamp: at(0) },
  spec: { size: 3, version: '3.6.16', backup: { schedules: schedules.map((name) => ({ name, stores: [] })) } },
});
const orders = cluster('hourly', 'nightly');
const good = (minute: number) => backup(minute, { phase: 'Completed', snapshotId: `s${minute}` });
const failed = (minute: number) => backup(minute, { phase: 'Failed', message: `m${minute}` });

test('the newest good one is the last, in whatever order they come', () => {
  expect(clusterBackups(orders, [good(3), good(9), good(1)]).last).toMatchObject({
    id: 's9',
    at: at(9),
    schedule: 'nightly',
  });
});

test.each([
  ['that was only streamed', backup(9, { phase: 'Completed', snapshotId: 's9', verified: 'stream' })],
  ['of another cluster', backup(9, { phase: 'Completed', snapshotId: 's9' }, { cluster: 'search' })],
  ['that runs', backup(9, { phase: 'BackingUp' })],
  ['that failed', failed(9)],
])('one %s is not good', (_, other) => {
  expect(clusterBackups(orders, [good(1), other]).last?.id).toBe('s1');
});

test('a schedule has failed until a newer run of it is good', () => {
  expect(clusterBackups(orders, [good(1), failed(2)]).failed).toEqual({ schedule: 'nightly', message: 'm2' });
  expect(clusterBackups(orders, [failed(2), good(3)]).failed).toBeUndefined();
});

test('one by hand that failed says nothing of the schedule', () => {
  expect(clusterBackups(orders, [good(1), backup(2, { phase: 'Failed' }, { byHand: true })]).failed).toBeUndefined();
});

test('nor does what failed of a schedule that is no more', () => {
  expect(clusterBackups(cluster('hourly'), [failed(2)]).failed).toBeUndefined();
});
