import { known, unknown } from '../../../protocol/known.ts';
import { agent, idOf, now, status, unborn, World } from '../../port/observed.fixture.ts';
import type { Cluster } from '../../port/observed.ts';
import { defaultSettings } from '../../port/settings.ts';
import { clusterStatus } from './status.ts';

test('between two restarts of a roll something is in progress', () => {
  const world = new World(3).sts({ updateRevision: 'r2' }).pod(2, { revision: 'r2' });
  expect(world.reason('Progressing')).toBe('RollingRestart');
  expect(new World(3).reason('Progressing')).toBe('Idle');
});

test('a blocked pod shows the reason, in its agent’s own words', () => {
  const kept = (reason: string, state: 'Failed' | 'Refused' | 'Init', message?: string) =>
    new World(3).agent(1, { ...agent(1), state, reason, ...(message && { message }) });
  const full = kept('DiskFull', 'Failed', 'no space left');
  expect(full.reason('Degraded')).toBe('DiskFull');
  expect(full.message('Degraded')).toBe('pod c-1: no space left');
  expect(kept('GateFailed', 'Failed', 'x').message('Degraded')).toBe('pod c-1: GateFailed: x');
  expect(kept('VersionRefused', 'Refused').reason('Degraded')).toBe('VersionRefused');
  expect(kept('VolumeBusy', 'Init').reason('Degraded')).toBe('MemberBlocked');
  expect(kept('RecordUnreachable', 'Init').reason('Degraded')).toBe('AllMembersHealthy');
});

test('all pods that are kept for one reason are named', () => {
  const refused = (ordinal: number) => ({ ...agent(ordinal), state: 'Refused' as const, reason: 'VersionMismatch' });
  const world = new World(3)
    .agent(0, { ...refused(0), message: 'x' })
    .agent(1, refused(1))
    .agent(2, refused(2));
  expect(world.message('Degraded')).toBe('pod c-0: x; the same for c-1, c-2');
  expect(world.message('Stalled')).toBe('a pod runs another version than its template names: c-0, c-1, c-2');
});

test('a template that its image contradicts is not said to be rolled out', () => {
  const world = new World(3).sts({ updateRevision: 'r2', imageVersion: '3.7.3' });
  expect(world.reason('Progressing')).toBe('Idle');
  expect(world.message('Accepted')).toContain('no member is added, restarted or restored on it');
  expect(world.message('Accepted')).toContain('a pod that is deleted comes back with it');
  expect(world.sts({ imageVersion: '3.6.16' }).reason('Progressing')).toBe('RollingRestart');
});

test('what keeps Ready from being True is named', () => {
  const why = (world: World) => world.message('Ready')?.replace(/.*: /, '');
  const young = new World(3);
  young.o.since.healthy['id-1'] = now;
  expect(why(young)).toBe('member id-1 (c-1) answers, and counts as healthy after 10 s');
  expect(why(new World(3).down(1))).toBe('member id-1 (c-1) does not answer');
  expect(why(new World(3).pod(1, { ready: false }))).toBe('member id-1 (c-1) answers, but its pod is not ready');
  expect(why(new World(3, { size: 5 }))).toBe('3 of 5 voters exist');
  expect(why(new World(3).sts({ updateRevision: 'r2' }))).toBe('pod c-0 has another template');
  expect(why(new World(3, { version: '3.6.17' }))).toBe('member id-0 (c-0) runs 3.6.16, the spec names 3.6.17');
});

describe('a spec that was changed without its manifests', () => {
  const source = { made: 'labels=1,resources=2,size=3', now: 'labels=1,resources=7,nodeSelector=4,size=3' };
  const patched = (world = new World(3)) =>
    world.sts({ madeFrom: source.made }).resource({ madeFrom: source.now, status: { epoch: 1 } });
  const since = (world: World, outdated: number) => world.set({ since: { ...world.o.since, outdated } });

  test('is not up to date, and the remedy is named', () => {
    const world = since(patched(), 0);
    expect(world.reason('Ready')).toBe('NotUpToDate');
    expect(world.reason('Accepted')).toBe('ManifestsOutdated');
    for (const type of ['Ready', 'Accepted']) {
      expect(world.message(type)).toContain('spec.nodeSelector, spec.resources: the manifests were made from another');
      expect(world.message(type)).toContain('kubectl get etcdcluster c -n n -o yaml | kubectl etcd render -');
    }
    const status = clusterStatus(world.o, world.plan().conditions, now, defaultSettings);
    expect(status).toMatchObject({ phase: 'Refused', reason: 'ManifestsOutdated' });
  });

  test('is not a fault while an apply may not be complete, but it is not Ready', () => {
    const young = since(patched(), now);
    expect(young.reason('Ready')).toBe('NotUpToDate');
    expect(young.reason('Accepted')).toBe('SpecAccepted');
    // A new process knows it from the status.
    const reported = { type: 'Accepted', status: 'False', reason: 'ManifestsOutdated', message: '' } as const;
    const conditions = [{ ...reported, lastTransitionTime: '' }];
    expect(young.resource({ madeFrom: source.now, status: { conditions } }).reason('Accepted')).toBe(
      'ManifestsOutdated',
    );
  });

  test.each<[string, World]>([
    ['is formed', unborn()],
    ['is paused', new World(3, { paused: true })],
    ['has no quorum', new World(3).noQuorum()],
    ['has no record', new World(3).set({ record: known(undefined) })],
    ['has a record that cannot be read', new World(3).set({ record: unknown('forbidden') })],
  ])('is reported of a cluster that %s, too', (_, world) => {
    expect(since(patched(world), 0).reason('Accepted')).toBe('ManifestsOutdated');
  });

  test('is not reported where manifests of an earlier release do not say it', () => {
    const world = since(new World(3).resource({ madeFrom: source.now }), 0);
    expect([world.reason('Ready'), world.reason('Accepted')]).toEqual(['UpToDate', 'SpecAccepted']);
  });
});

test('a spec of which no Job can be made is not accepted, before the first one is made', () => {
  const jobProblem = 'spec.overrides[0].patch.spec.restartPolicy: cannot be overridden';
  const world = new World(3).resource({ jobProblem });
  expect(world.reason('Accepted')).toBe('JobRefused');
  expect(world.message('Ready')).toContain(jobProblem);
  expect(unborn().resource({ jobProblem }).message('Accepted')).toBe(jobProblem);
});

describe('a cluster whose etcd refuses writes, or whose data differ, is not Ready', () => {
  const alarm = (type: 'NoSpace' | 'Corrupt') => known([{ memberId: 'id-1', type }]);
  const state = (world: World, type: string) => {
    const found = world.plan().conditions.find((each) => each.type === type);
    return `${found?.status} ${found?.reason}`;
  };
  const phase = (world: World) => clusterStatus(world.o, world.plan().conditions, now, defaultSettings)?.phase;

  test.each<[string, World, string, string]>([
    ['NOSPACE', new World(3).set({ alarms: alarm('NoSpace') }), 'False NoSpace', 'False NoSpace'],
    ['CORRUPT', new World(3).set({ alarms: alarm('Corrupt') }), 'False Corrupt', 'False Corrupt'],
    ['hashes that differ', new World(3).compared(false), 'False CorruptAlarm', 'True Serving'],
    ['alarms that are unknown', new World(3).set({ alarms: unknown('x') }), 'Unknown StateUnknown', 'True Serving'],
  ])('%s', (_, world, ready, available) => {
    expect(state(world, 'Ready')).toBe(ready);
    expect(state(world, 'Available')).toBe(available);
    expect(phase(world)).not.toBe('Ready');
    expect(state(world, 'Reconciling')).not.toContain('UpToDate');
  });

  test('a policy that only reports NOSPACE waits for a person', () => {
    const world = new World(3, { onNoSpace: 'Report' }).set({ alarms: alarm('NoSpace') });
    expect(state(world, 'Stalled')).toBe('True NoSpace');
    expect(world.message('Stalled')).toContain('onNoSpace');
  });
});

test('nothing is done to a cluster that another reconciler follows, whatever it needs', () => {
  const world = new World(3).volumeLost(1);
  expect(world.effect).toBeDefined();
  world.resource({ followedBy: 'etcd' });
  expect(world.effect).toBeUndefined();
  expect(world.reason('Stalled')).toBe('OtherReconciler');
  const unread = world.set({ record: unknown('forbidden') });
  expect(unread.reason('Stalled')).toBe('OtherReconciler');
});

test('a pod that Kubernetes does not count as ready for a minute is not called well', () => {
  const world = new World(3).pod(2, { ready: false, node: 'node3' });
  expect(world.reason('Degraded')).toBe('AllMembersHealthy');
  world.o.since.unready = { 'pod-2': now - defaultSettings.unreachable };
  expect(world.reason('Degraded')).toBe('PodNotReady');
  expect(world.message('Degraded')).toContain('c-2 on node3');
  world.pod(2, { ready: true });
  expect(world.reason('Degraded')).toBe('AllMembersHealthy');
});

test('without any ready pod Available and Degraded have one reason, so one alert fires', () => {
  const world = new World(1).pod(0, { ready: false });
  world.o.since.unready = { 'pod-0': now - defaultSettings.unreachable };
  expect([world.reason('Available'), world.reason('Degraded')]).toEqual(['NoReadyPod', 'NoReadyPod']);
});

test('unknown free space does not mean a full disk', () => {
  const upgraded = () => new World(3, { version: '3.7.3' }).sts({ version: '3.7.3' });
  const volume = { ...agent(1).volume, freeBytes: 0 };
  expect(upgraded().agent(1, undefined).reason('Accepted')).toBe('SpecAccepted');
  const gate = agent(1, { volume: { ...volume, totalBytes: 0 } });
  expect(upgraded().agent(1, gate).reason('Accepted')).toBe('SpecAccepted');
  expect(upgraded().agent(1, gate).reason('Stalled')).toBe('NoActionRequired');
  const full = upgraded().agent(1, agent(1, { volume }));
  expect(full.reason('Accepted')).toBe('DiskPressure');
  expect(full.message('Accepted')).toContain('member id-1 (c-1)');
});

test('without a quorum the cluster is not called well', () => {
  const world = new World(3).down(1).down(2);
  expect(world.reason('Degraded')).toBe('QuorumUnknown');
  world.pod(1, { ready: false }).pod(2, { ready: false }).agent(1, undefined).agent(2, undefined);
  world.o.since.quorumLost = 0;
  expect(world.reason('Degraded')).toBe('MajorityDown');
});

test('a cluster whose members are not known is not said to grow', () => {
  expect(new World(2, { size: 3 }).reason('Progressing')).toBe('Growing');
  expect(new World(3).noQuorum().reason('Progressing')).toBe('Idle');
});

test('backups are healthy when the newest run of each schedule was good, and nothing is said before there was one', () => {
  const last = { id: 's1', at: '2026-11-22T02:00:00Z' };
  const failed = { schedule: 'nightly', message: 'Job c-nightly-1: access denied' };
  const world = (backups?: Cluster['backups']) =>
    new World(3).spec({ schedule: 'nightly' }).resource({ ...(backups && { backups }) });
  expect(world({ last }).reason('BackupHealthy')).toBe('LastBackupSucceeded');
  expect(world({ last, failed }).reason('BackupHealthy')).toBe('LastBackupFailed');
  const waits = { schedule: 'nightly', message: 'pod c-nightly-2-x: FailedMount: secret "s3" not found' };
  expect(world({ last, waits }).reason('BackupHealthy')).toBe('BackupPending');
  expect(world({ last, waits }).message('BackupHealthy')).toBe(`nightly: ${waits.message}`);
  expect(world({ last, waits, failed }).reason('BackupHealthy')).toBe('LastBackupFailed');
  const due = { schedule: 'nightly', cronJob: 'c-nightly', at: now - 1, last: '2026-11-20T02:00:00Z' };
  expect(world({ last, due }).reason('BackupHealthy')).toBe('BackupOverdue');
  expect(
    world({ last, due })
      .set({ date: now - 2 })
      .reason('BackupHealthy'),
  ).toBe('LastBackupSucceeded');
  expect(world({ last, due }).message('BackupHealthy')).toContain('2026-11-20T02:00:00Z');
  expect(world({ last, due }).message('BackupHealthy')).toContain('check CronJob c-nightly');
  expect(world({ last, due, waits }).reason('BackupHealthy')).toBe('BackupPending');
  expect(world({ due: { schedule: 'nightly', cronJob: 'c-nightly', at: now - 1 } }).reason('BackupHealthy')).toBe(
    'BackupOverdue',
  );
  expect(world({ last, failed, due }).reason('BackupHealthy')).toBe('LastBackupFailed');
  expect(world({ last, due: { ...due, at: now + 1 } }).reason('BackupHealthy')).toBe('LastBackupSucceeded');
  // The EtcdBackups went with their Jobs, and the status remembers.
  const remembered = { status: { lastBackup: last }, backups: { due: { ...due, at: now + 1 } } };
  expect(new World(3).resource(remembered).reason('BackupHealthy')).toBe('LastBackupSucceeded');
  expect(world({ failed }).message('BackupHealthy')).toBe('nightly: Job c-nightly-1: access denied');
  expect([world(), world({})].map((each) => each.reason('BackupHealthy'))).toEqual([undefined, undefined]);
  expect(new World(3).spec({ schedule: undefined }).resource({ backups: { last } }).reason('BackupHealthy')).toBe(
    'NoSchedule',
  );
});

describe('authentication', () => {
  const refused =
    'etcd at x requires authentication, for which the reconciler needs it (etcdserver: permission denied)';

  test('without a certificate of root it is stalled, whichever call is refused', () => {
    expect(new World(3).set({ members: unknown(refused) }).reason('Stalled')).toBe('AuthEnabled');
    const change = new World(3).set({ failures: 1, error: refused });
    expect(change.reason('Stalled')).toBe('AuthEnabled');
    expect(change.message('Stalled')).toContain('spec.tls.rootSecret');
    expect(new World(3, { rootTls: true }).set({ failures: 1, error: refused }).reason('Stalled')).not.toBe(
      'AuthEnabled',
    );
  });

  test('spec.auth without a certificate of root is refused', () => {
    expect(new World(3, { auth: true }).reason('Accepted')).toBe('AuthRefused');
    expect(new World(3, { auth: true, rootTls: true }).reason('Accepted')).toBe('SpecAccepted');
  });
});

test.each([
  ['4Gi', /; storage\.size is 4Gi, but the claim data-c-0 asks for 8Gi: a volume cannot shrink$/],
  ['20Gi', /; storage\.size is 20Gi, but the claim data-c-0 asks for 8Gi: the reconciler expands no volume$/],
  ['8192Mi', /every member is healthy$/],
])('a spec with volumes of %s does not pass for the claims of 8Gi', (volumeSize, message) => {
  const world = new World(3).spec({ volumeSize });
  for (const ordinal of [0, 1, 2]) world.claim(ordinal, { size: '8Gi' });
  expect(world.plan().conditions.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'True',
    message: expect.stringMatching(message),
  });
});

const running = (...versions: string[]) => {
  const world = new World(3);
  versions.forEach((version, ordinal) => {
    world.o.status[idOf(ordinal)] = known(status({ version }));
  });
  return world.plan().conditions.find(({ type }) => type === 'VersionSafe');
};

test('the oldest version that runs counts', () => {
  expect(running('3.6.16', '3.6.16', '3.6.16')).toMatchObject({ status: 'True', reason: 'NoAdvisory' });
  expect(running('3.6.16', '3.6.11', '3.6.16')).toMatchObject({
    status: 'False',
    reason: 'KnownVulnerabilities',
    message: expect.stringMatching(/^etcd 3\.6\.11 has known vulnerabilities: .*; use 3\.6\.14 or newer \(known on 20/),
  });
});

test('before a member runs, it is the version of the spec', () => {
  const found = unborn()
    .plan()
    .conditions.find(({ type }) => type === 'VersionSafe');
  expect(found).toMatchObject({ status: 'True', reason: 'NoAdvisory' });
});
