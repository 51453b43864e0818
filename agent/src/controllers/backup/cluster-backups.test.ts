import type { BackupStatus, EtcdBackupObject } from '../objects/backup-object.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import { clusterBackups } from './cluster-backups.ts';

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
  spec: {
    size: 3,
    version: '3.6.16',
    backup: { schedules: schedules.map((name) => ({ name, cron: '', stores: [] })) },
  },
});
const orders = cluster('hourly', 'nightly');
const good = (minute: number) => backup(minute, { phase: 'Completed', snapshotId: `s${minute}` });
const failed = (minute: number) => backup(minute, { phase: 'Failed', message: `m${minute}` });

test('the newest good backup is the last one, in any order', () => {
  expect(clusterBackups(orders, [good(3), good(9), good(1)]).last).toMatchObject({
    id: 's9',
    at: at(9),
    schedule: 'nightly',
  });
});

test('the newest good backup is the one whose snapshot was taken last, also if its pod had to wait', () => {
  const waited = backup(1, { phase: 'Completed', snapshotId: 's1', snapshotTime: at(9) });
  expect(clusterBackups(orders, [waited, good(3)]).last).toMatchObject({ id: 's1', at: at(9) });
});

test.each([
  ['that was only streamed', backup(9, { phase: 'Completed', snapshotId: 's9', verified: 'stream' })],
  ['of another cluster', backup(9, { phase: 'Completed', snapshotId: 's9' }, { cluster: 'search' })],
  ['that runs', backup(9, { phase: 'BackingUp' })],
  ['that failed', failed(9)],
])('one %s is not good', (_, other) => {
  expect(clusterBackups(orders, [good(1), other]).last?.id).toBe('s1');
});

test('a backup older than the cluster belongs to a previous cluster with the same name', () => {
  const made = { ...orders, metadata: { ...orders.metadata, creationTimestamp: at(5) } };
  expect(clusterBackups(made, [good(3), failed(4)])).toEqual({});
  expect(clusterBackups(made, [good(3), good(6)]).last?.id).toBe('s6');
});

test('a schedule has failed until a newer run of it is good', () => {
  expect(clusterBackups(orders, [good(1), failed(2)]).failed).toEqual({ schedule: 'nightly', message: 'm2' });
  expect(clusterBackups(orders, [failed(2), good(3)]).failed).toBeUndefined();
});

describe('a run whose pod does not start', () => {
  const message = 'pod orders-nightly-1-x: FailedMount: secret "s3" not found';
  const waits = (minute: number, reason = 'PodWaits') => backup(minute, { phase: 'BackingUp', reason, message });

  test('is known by its schedule, in the words of Kubernetes, until it runs', () => {
    expect(clusterBackups(orders, [good(1), waits(2)]).waits).toEqual({ schedule: 'nightly', message });
    expect(clusterBackups(orders, [waits(2, 'ImageNotPulled')]).waits).toEqual({ schedule: 'nightly', message });
    for (const reason of ['Starting', 'Running', 'Retrying'])
      expect(clusterBackups(orders, [waits(2, reason)]).waits).toBeUndefined();
  });

  test('no longer counts when there is a newer run, or when the schedule was removed', () => {
    expect(clusterBackups(orders, [waits(2), good(3)]).waits).toBeUndefined();
    expect(clusterBackups(cluster('hourly'), [waits(2)]).waits).toBeUndefined();
  });

  test('does not affect a schedule if it was started by hand', () => {
    const byHand = backup(2, { phase: 'BackingUp', reason: 'PodWaits', message }, { byHand: true });
    expect(clusterBackups(orders, [byHand]).waits).toBeUndefined();
  });
});

test('a failed backup by hand does not affect the schedule', () => {
  expect(clusterBackups(orders, [good(1), backup(2, { phase: 'Failed' }, { byHand: true })]).failed).toBeUndefined();
});

describe('a schedule that does not run', () => {
  const hour = 3_600_000;
  const daily = (...names: string[]) => {
    const schedules = names.map((name) => ({ name, stores: [], cron: '0 2 * * *' }));
    return { ...orders, spec: { ...orders.spec, backup: { schedules } } };
  };

  test('is due after two runs without a good backup', () => {
    const { due } = clusterBackups(daily('nightly'), [good(1), failed(9)]);
    const cronJob = 'orders-nightly';
    expect(due).toEqual({ schedule: 'nightly', cronJob, at: Date.parse(at(1)) + 48 * hour, last: at(1) });
  });

  test('counts from the creation of the cluster while there is no backup', () => {
    expect(clusterBackups(daily('nightly'), []).due).toEqual({
      schedule: 'nightly',
      cronJob: 'orders-nightly',
      at: Date.parse(at(0)) + 48 * hour,
    });
    expect(clusterBackups(daily('nightly', 'new'), [good(1)]).due).toMatchObject({ schedule: 'nightly' });
  });

  test('counts the newest good backup in the status, whose EtcdBackup was deleted with its Job', () => {
    const told = (schedule: string) => ({
      ...daily('nightly'),
      status: { lastBackup: { id: 's9', at: at(9), schedule } },
    });
    const due = { schedule: 'nightly', cronJob: 'orders-nightly', at: Date.parse(at(9)) + 48 * hour, last: at(9) };
    expect(clusterBackups(told('nightly'), []).due).toEqual(due);
    expect(clusterBackups(told('nightly'), [good(1)]).due).toEqual(due);
    expect(clusterBackups(told('hourly'), [good(1)]).due).toMatchObject({ last: at(1) });
    const { last: _, ...afterAnother } = due;
    expect(clusterBackups(told('hourly'), []).due).toEqual(afterAnother);
  });

  test('counts a backup verified at level stream if the schedule requires no more', () => {
    const streamed = backup(9, { phase: 'Completed', snapshotId: 's9', verified: 'stream' });
    const asks = (verify: 'stream' | 'open') => {
      const schedules = [{ name: 'nightly', stores: [], cron: '0 2 * * *', verify }];
      return { ...orders, spec: { ...orders.spec, backup: { schedules } } };
    };
    expect(clusterBackups(asks('stream'), [streamed]).due).toMatchObject({ last: at(9) });
    expect(clusterBackups(asks('open'), [streamed]).due).toMatchObject({ last: undefined });
  });

  test('is unknown without a valid cron expression', () => {
    expect(clusterBackups(orders, [good(1)]).due).toBeUndefined();
  });
});

test('a failed run of a removed schedule does not count', () => {
  expect(clusterBackups(cluster('hourly'), [failed(2)]).failed).toBeUndefined();
});

test('a schedule that replaced another one and never ran is due from the newest backup on', () => {
  const replaced = {
    metadata: { name: 'orders', namespace: 'shop', uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z' },
    spec: { backup: { schedules: [{ name: 'new', cron: '0 * * * *', cronJobName: 'orders-new' }] } },
    status: { lastBackup: { id: 's', at: '2020-01-02T00:00:00Z', schedule: 'old' } },
  };
  expect(clusterBackups(replaced as never, []).due).toEqual({
    schedule: 'new',
    cronJob: 'orders-new',
    at: Date.parse('2020-01-02T02:00:00Z'),
  });
});

describe('a schedule that asks for no more than stream', () => {
  const hour = 3_600_000;
  const streamed = (schedule: string) => {
    const run = backup(9, { phase: 'Completed', snapshotId: 's9', verified: 'stream' });
    return { ...run, spec: { ...run.spec, schedule } };
  };
  const hourly = { name: 'hourly', stores: [], cron: '0 * * * *', verify: 'stream' };
  const weekly = { name: 'weekly', stores: [], cron: '0 2 * * 0' };
  const born = '2026-01-01T00:00:00.000Z';
  const asks = (...schedules: object[]) => ({
    metadata: { ...orders.metadata, creationTimestamp: born },
    spec: { ...orders.spec, backup: { schedules } },
  });

  test('a new schedule next to it is not due before it ran', () => {
    expect(clusterBackups(asks(hourly, weekly) as never, [streamed('hourly')]).due).toEqual({
      ...{ schedule: 'hourly', cronJob: 'orders-hourly', at: Date.parse(at(9)) + 2 * hour, last: at(9) },
    });
    // A run that is not as its own schedule asks does not count.
    expect(clusterBackups(asks({ ...hourly, verify: 'read' }, weekly) as never, [streamed('hourly')]).due).toEqual({
      ...{ schedule: 'hourly', cronJob: 'orders-hourly', at: Date.parse(born) + 2 * hour },
    });
  });

  test.each([hourly, weekly])('one that replaced it is due from its newest backup on', (schedule) => {
    const { due } = clusterBackups(asks({ ...schedule, name: 'new' }) as never, [streamed('hourly')]);
    expect(due?.at).toBeGreaterThan(Date.parse(at(9)) + hour);
    expect(due).toMatchObject({ last: undefined });
  });
});
