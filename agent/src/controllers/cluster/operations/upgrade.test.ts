import { known, unknown } from '../../../protocol/known.ts';
import { agent, idOf, longAgo, now, status, World } from '../../port/observed.fixture.ts';
import type { Job } from '../../port/observed.ts';

const asked = (version: string, change = {}) =>
  new World(3, { version, ...change }).sts({ version, updateRevision: 'r2' });

const job = (change: Partial<Job>): Job => ({
  kind: 'pre-upgrade',
  uid: 'j',
  op: 'fresh-id',
  state: 'Running',
  deleting: false,
  ...change,
});
const backup = { id: 'snap', revision: 1, sha256: 'sha' };

const on35 = (version = '3.6.16', versions = {}) => {
  const world = asked(version).doc({
    versions: { current: '3.5', allowedMinors: ['3.5'], bornOn: '3.5.35', ...versions },
  });
  for (const i of [0, 1, 2]) {
    world.o.status[idOf(i)] = known(status({ version: '3.5.35', clusterVersion: '3.5.0' }));
    world.agent(i, agent(i, { etcdBinary: '3.5.35' }));
  }
  return world;
};

describe('a new minor', () => {
  test('is backed up, then allowed, then rolled', () => {
    const world = asked('3.7.3').commit();
    expect(world.record.op).toMatchObject({ kind: 'Upgrade', to: '3.7' });
    expect(world.effect).toMatchObject({
      kind: 'CreateJob',
      job: { kind: 'pre-upgrade', op: 'fresh-id', schedule: 'nightly' },
    });
    world.set({ jobs: known([job({ state: 'Succeeded', backup })]) });
    world.commit();
    expect(world.record).toMatchObject({
      versions: { current: '3.6', allowedMinors: ['3.6', '3.7'] },
      lastBackup: { id: 'snap' },
    });
    expect(world.record).not.toHaveProperty('op');
    expect(world.rule).toBe('RestartPod');
  });

  test.each([
    ['when the snapshot was taken', '2025-12-31T23:00:00.000Z', '2025-12-31T23:00:00.000Z'],
    ['now, if that is in the future', '2027-01-01T00:00:00.000Z', new Date(now).toISOString()],
    ['now, if an older agent does not say it', undefined, new Date(now).toISOString()],
  ])('the backup is dated %s', (_, at, dated) => {
    const taken = { ...backup, ...(at && { at }) };
    const world = asked('3.7.3').commit();
    expect(world.set({ jobs: known([job({ state: 'Succeeded', backup: taken })]) }).written?.lastBackup).toMatchObject({
      at: dated,
    });
  });

  test('a Job of the last operation goes first', () => {
    const world = asked('3.7.3')
      .commit()
      .set({ jobs: known([job({ op: 'older' })]) });
    expect(world.effect).toEqual({ kind: 'DeleteJob', job: 'pre-upgrade', uid: 'j' });
  });

  test('a failed backup ends it, is reported, and is retried later', () => {
    const world = asked('3.7.3')
      .commit()
      .set({ jobs: known([job({ state: 'Failed', message: 'store unreachable' })]) });
    world.commit();
    expect(world.record.failure).toEqual({ of: 'Upgrade 3.7', reason: 'BackupFailed', message: 'store unreachable' });
    world.set({ jobs: known([]) });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Stalled')).toBe('UpgradeRefused');
    world.o.since.failure = 0;
    expect(world.rule).toBe('Upgrade');
  });

  describe('a backup that fails for what only a person can change', () => {
    const refused = job({ state: 'Failed', exitCode: 21, generation: 4, message: 's3://b: no such bucket' });
    const world = () => {
      const w = asked('3.7.3');
      w.cluster.generation = 4;
      w.commit().set({ jobs: known([refused]) });
      w.commit();
      w.o.since.failure = 0;
      return w;
    };

    test('is not taken again by time', () => {
      const w = world();
      expect(w.effect).toBeUndefined();
      expect(w.reason('Stalled')).toBe('UpgradeRefused');
      expect(w.message('Stalled')).toMatch(
        /no such bucket; correct that, then delete Job \w+-pre-upgrade or change the EtcdCluster to try again$/,
      );
    });

    test('and the status says so also when something else has failed since', () => {
      const w = world();
      w.doc({ ...w.record, failure: { of: 'Restore back', reason: 'StoreRefused', message: 'another' } });
      expect(w.effect).toBeUndefined();
      expect([w.reason('Stalled'), w.reason('Progressing')]).toEqual(['UpgradeRefused', 'Idle']);
      expect(w.message('Stalled')).toContain('no such bucket; correct that');
    });

    test('what is to be done is not said any more once it is done', () => {
      const w = world().set({ jobs: known([]) });
      w.o.since.failure = now;
      expect(w.message('Stalled')).toBe('s3://b: no such bucket');
    });

    test('but after the resource has changed, or its Job is deleted', () => {
      const changed = world();
      changed.cluster.generation = 5;
      expect(changed.rule).toBe('Upgrade');
      expect(world().set({ jobs: known([]) }).rule).toBe('Upgrade');
    });

    test('nor while it is unknown whether the Job is still there', () => {
      expect(world().set({ jobs: unknown('no answer') }).effect).toBeUndefined();
    });

    test('and one of an earlier release, which names no generation, is taken again once', () => {
      const w = world();
      w.set({ jobs: known([{ ...refused, generation: undefined }]) });
      expect(w.rule).toBe('Upgrade');
    });
  });

  test('a backup whose pod does not start ends it, too, and does not hold the slot', () => {
    const waits = 'pod c-backup-x: FailedMount: secret "s3" not found';
    const world = asked('3.7.3')
      .commit()
      .set({ jobs: known([job({ state: 'Running', waits })]) });
    world.o.since.jobWaits = { j: now };
    expect(world.effect).toBeUndefined();
    world.o.since.jobWaits = { j: longAgo };
    expect(world.commit().record.failure).toMatchObject({ reason: 'BackupFailed', message: waits });
  });

  test('gives the slot to a repair', () => {
    expect(asked('3.7.3').commit().volumeLost(1).rule).toBe('Upgrade.drop');
  });

  test('without a schedule it continues and reports this; or not, if a backup is required', () => {
    const world = asked('3.7.3', { schedule: undefined }).commit();
    expect(world.record.versions).toMatchObject({ allowedMinors: ['3.6', '3.7'], withoutBackup: true });
    expect(world.reason('BackupHealthy')).toBe('UpgradedWithoutBackup');
    const refused = asked('3.7.3', { schedule: undefined, requiredForUpgrade: true });
    expect(refused.effect).toBeUndefined();
    expect(refused.reason('Accepted')).toBe('NoSchedule');
  });

  test('is finished when etcd reports it', () => {
    const world = on35('3.6.16', { allowedMinors: ['3.5', '3.6'] });
    expect(world.rule).toBe('RestartPod');
    for (const i of [0, 1, 2]) {
      world.o.status[idOf(i)] = known(status({ clusterVersion: '3.6.0' }));
      world.pod(i, { revision: 'r2' });
    }
    expect(world.written?.versions).toMatchObject({ current: '3.6', allowedMinors: ['3.6'], finalizedIndex: 1000 });
  });

  test('a pod that came back on it too early does not block it', () => {
    const world = asked('3.7.3').down(1);
    world.agent(1, agent(1, { etcdBinary: '3.7.3', state: 'Refused', reason: 'VersionRefused', etcd: undefined }));
    expect(world.rule).toBe('Upgrade');
  });

  test('grow waits for it, as a new pod would have the new version', () => {
    expect(asked('3.7.3').spec({ size: 5 }).rule).toBe('Upgrade');
  });
});

describe('refused and reported', () => {
  const refusals: [string, () => World, string][] = [
    ['a skipped minor', () => on35('3.7.3'), 'MinorSkipped'],
    ['a lower minor', () => asked('3.5.35'), 'DowngradeRefused'],
    ['a minor that nobody knows', () => asked('3.8.0'), 'VersionUnsupported'],
    ['a patch below the floor', () => asked('3.6.5'), 'VersionTooOld'],
    ['members not restarted on 3.5', () => on35('3.6.16', { bornOn: undefined }), 'RestartRequired'],
    ['born on a version not tried', () => on35('3.6.16', { bornOn: '3.5.34' }), 'RestartRequired'],
    ['no room', () => fullDisk(), 'DiskPressure'],
  ];

  test.each(refusals)('%s', (_, world, reason) => {
    expect(`${world().rule}`).not.toMatch(/Upgrade|RestartPod/);
    expect(world().reason('Accepted')).toBe(reason);
    expect(world().reason('Stalled')).toBe('UpgradeRefused');
  });

  test('a template that names another version', () => {
    const world = new World(3).sts({ version: '3.7.3' });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Accepted')).toBe('TemplateMismatch');
  });

  test('not while entries of 3.5 leave the log: that is a wait, and says what follows', () => {
    const world = unsettled(agent(1).volume);
    expect(world.rule).toBe('Settle.churn');
    expect([world.reason('Accepted'), world.reason('Stalled')]).toEqual(['SpecAccepted', 'NoActionRequired']);
    expect(world.reason('Progressing')).toBe('FlushingRaftLog');
    expect(world.message('Progressing')).toContain('3.7.3');
  });

  test('restarted once on their version, members may continue', () => {
    const world = on35('3.6.16', { bornOn: undefined });
    const { members } = world.record;
    const restarted = Object.entries(members).map(([i, m]) => [i, { ...m, restartedOn: '3.5.35' }]);
    expect(world.doc({ members: Object.fromEntries(restarted) }).rule).toBe('Upgrade');
  });
});

const fullDisk = () => {
  const world = asked('3.7.3');
  return world.agent(2, agent(2, { volume: { ...agent(2).volume, freeBytes: 1 } }));
};

const unsettled = (volume: ReturnType<typeof agent>['volume']) => {
  const world = asked('3.7.3').doc({ versions: { current: '3.6', allowedMinors: ['3.6'], finalizedIndex: 900 } });
  return world.agent(1, agent(1, { volume: { ...volume, snapIndex: 5900 } }));
};

describe('Settle', () => {
  test('leases are churned until every member has a snapshot beyond what 3.5 wrote', () => {
    const world = unsettled(agent(1).volume);
    expect(world.effect).toEqual({ kind: 'LeaseChurn', pairs: 500 });
    for (const i of [0, 1, 2]) world.agent(i, agent(i, { volume: { ...agent(i).volume, snapIndex: 5901 } }));
    expect(world.rule).toBe('Upgrade');
  });

  test('unknown history: marked first', () => {
    const world = new World(3).doc({ versions: { current: '3.6', allowedMinors: ['3.6'] } });
    expect(world.written?.versions.finalizedIndex).toBe(1000);
  });

  test('not for an agent that does not answer', () => {
    expect(unsettled(agent(1).volume).agent(2, undefined).effect).toBeUndefined();
  });
});
