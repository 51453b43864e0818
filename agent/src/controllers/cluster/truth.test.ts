import { type Condition, type ConditionType, conditionTypes } from '../../protocol/condition.ts';
import { known, unknown } from '../../protocol/known.ts';
import { agent, idOf, longAgo, now, seeded, status, unborn, World } from '../port/observed.fixture.ts';
import type { Observed } from '../port/observed.ts';
import { defaultSettings } from '../port/settings.ts';
import { clusterStatus } from './conditions/status.ts';

// Conditions show only observations, and never cover what is missing, unknown, stuck or stale.

/** Only of clusters with backups, or with certificates of their own or of root. */
const optional: readonly ConditionType[] = ['BackupHealthy', 'CertificatesReady', 'AuthReady'];

const quota = 'FailedCreate: create Pod c-2 in StatefulSet c failed error: exceeded quota: small';
const image = 'ImagePullBackOff: Back-off pulling image "etcd:9"';

const silentFor = (world: World, ordinal: number, ms: number): World => {
  world.agent(ordinal, undefined).o.since.silent = { [ordinal]: now - ms };
  return world;
};
const minute = defaultSettings.unreachable;

const stateOf = (world: World, type: ConditionType): string => {
  const found = world.plan().conditions.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}`;
};

const readyVoters = (world: World): number | undefined =>
  clusterStatus(world.o, world.plan().conditions, now, defaultSettings)?.readyVoters;

describe('a cluster that never formed', () => {
  test('is called neither healthy nor served', () => {
    expect(stateOf(unborn(), 'Degraded')).toBe('Unknown Bootstrapping');
    expect(stateOf(unborn(), 'QuorumLost')).toBe('Unknown Bootstrapping');
    expect(stateOf(unborn(), 'Available')).toBe('False Bootstrapping');
  });

  test('whose image cannot be pulled reports it in the words of Kubernetes, although its agents answer', () => {
    const world = unborn().pod(1, { problem: image });
    expect(stateOf(world, 'Degraded')).toBe('True PodNotRunning');
    expect(world.message('Degraded')).toContain(`c-1: ${image}`);
    expect(world.message('Available')).toContain(image);
  });

  test('continues to report it while an agent that has answered is silent', () => {
    const world = silentFor(unborn().pod(1, { problem: image }), 1, 0);
    expect(stateOf(world, 'Degraded')).toBe('True PodNotRunning');
  });

  test('reports it even before there is a record', () => {
    const world = unborn()
      .resource({ status: {} })
      .pod(1, { problem: image, began: false })
      .set({ record: known(undefined) });
    for (const i of [0, 1, 2]) world.agent(i, undefined);
    expect(stateOf(world, 'Degraded')).toBe('Unknown Bootstrapping');
    world.o.since.silent = { 1: now - defaultSettings.stable };
    expect(stateOf(world, 'Degraded')).toBe('True PodNotRunning');
    expect(world.message('Degraded')).toContain(image);
    expect(stateOf(world.pod(1, { problem: undefined }), 'Degraded')).toBe('Unknown Bootstrapping');
  });

  test('whose agents do not answer for a minute reports it', () => {
    expect(stateOf(silentFor(unborn(), 0, minute - 1), 'Degraded')).toBe('Unknown Bootstrapping');
    expect(stateOf(silentFor(unborn(), 0, minute), 'Degraded')).toBe('True PodNotRunning');
  });
});

describe('that nothing waits for a person', () => {
  test('is not reported while Kubernetes gives a reason why a pod does not run', () => {
    expect(new World(3).message('Stalled')).toBe('the reconciler does not wait for a decision');
    const kept = new World(3).down(1).agent(1, undefined).pod(1, { ready: false, running: false, problem: image });
    kept.o.since.silent = { 1: now - defaultSettings.stable };
    for (const world of [unborn().pod(1, { problem: image }), kept]) {
      expect(stateOf(world, 'Stalled')).toBe('False NoActionRequired');
      expect(world.message('Stalled')).toContain(image);
    }
  });
});

describe('a restore that only prepares', () => {
  const args = { id: 'monday', uid: 'r', specHash: 'h', safetyBackup: true, ignoreUnreachablePods: false };
  const op = { kind: 'Restore', id: 'o', holder: 'h', startedAt: '2026-01-01T00:00:00Z' } as const;
  const at = (step: 'verify' | 'safety' | 'fence' | 'drain') => ({ ...op, step, args: { ...args, sourceToken: 't' } });

  test('leaves the cluster Ready, and reports that it prepares', () => {
    for (const step of ['verify', 'safety', 'fence'] as const) {
      const world = new World(3).op(at(step));
      expect([stateOf(world, 'Ready'), stateOf(world, 'Progressing')]).toEqual([
        'True UpToDate',
        'True PreparingRestore',
      ]);
      // It may not ask for that, or there is no quorum.
      expect(world.message('Progressing')).not.toContain('backed up');
    }
    expect(stateOf(new World(3).op(at('verify')).down(1), 'Ready')).toBe('False NotUpToDate');
  });

  test('until its fence', () => {
    const world = new World(3).op(at('drain')).doc({ phase: 'Restoring', seeded: false });
    expect([stateOf(world, 'Ready'), stateOf(world, 'Progressing')]).toEqual(['False NotUpToDate', 'True Restoring']);
  });
});

describe('a cluster that grows', () => {
  test('reports that a member joins when there is one, and before that what is missing', () => {
    const small = new World(3, { size: 5 });
    expect(small.message('Progressing')).toBe('3 of 5 voters exist; the others will join');
    const asked = new World(3, { size: 5 }).sts({ replicas: 4 });
    asked.o.since.silent = { 3: longAgo };
    expect(asked.message('Progressing')).toBe('3 of 5 voters exist; pod c-3 does not exist');
    const joins = new World(3, { size: 3 }).removed(2).learner(2);
    expect(joins.message('Progressing')).toBe(`member ${idOf(2)} (c-2) is joining`);
  });

  test('for the first time is being formed, whatever member it adds', () => {
    const add = {
      id: 'o',
      holder: 'h',
      startedAt: '2026-01-01T00:00:00Z',
      kind: 'AddLearner',
      ordinal: 1,
      volumeId: 'n',
    };
    expect(stateOf(seeded(), 'Progressing')).toBe('True Bootstrapping');
    expect(stateOf(seeded().op(add as never), 'Progressing')).toBe('True Bootstrapping');
    expect(stateOf(new World(3, { size: 5 }).op(add as never), 'Progressing')).toBe('True Growing');
  });
});

test('a downgrade that is left enabled stops growth, which is reported with the way out', () => {
  const world = new World(3, { size: 5 });
  world.o.status[idOf(1)] = known(status({ downgradeEnabled: true }));
  for (const type of ['Progressing', 'Degraded'] as const)
    expect(world.message(type)).toContain('etcdctl downgrade cancel');
});

describe('a cluster that has not got its size', () => {
  test('is not said to have every member', () => {
    expect(stateOf(seeded(), 'Degraded')).toBe('False Joining');
    expect(seeded().message('Degraded')).toContain('1 of 3');
    expect(stateOf(new World(3, { size: 5 }), 'Degraded')).toBe('False Joining');
  });

  test('because of a quota for pods is reported, with or without the words', () => {
    const world = seeded().pods((pods) => pods.filter(({ ordinal }) => ordinal !== 2));
    expect(stateOf(world, 'Degraded')).toBe('False Joining');
    world.sts({ lacks: { why: quota } }).o.since.silent = { 2: now - defaultSettings.stable };
    expect(stateOf(world, 'Degraded')).toBe('True PodNotRunning');
    expect(world.message('Degraded')).toContain(quota);
    world.sts({ lacks: {} }).o.since.silent = { 2: longAgo };
    expect(world.message('Degraded')).toContain('pod c-2 does not exist');
  });

  test('but whose pod is not its turn yet lacks nothing', () => {
    const world = seeded().sts({ replicas: 2 });
    world.pods((pods) => pods.filter(({ ordinal }) => ordinal !== 2)).o.since.silent = { 2: longAgo };
    expect(stateOf(world, 'Degraded')).toBe('False Joining');
  });

  test('at a size that is refused does not grow', () => {
    expect(new World(3, { size: 4 }).reason('Progressing')).toBe('Idle');
    expect(stateOf(new World(3, { size: 4 }), 'Degraded')).toBe('False AllMembersHealthy');
  });
});

describe('a voter that does not answer', () => {
  const waiting = (ordinal: number) => agent(ordinal, { state: 'Starting', etcd: undefined });

  test('is being started for a minute, and is down from then on', () => {
    const world = new World(3).down(1).agent(1, undefined).pod(1, { ready: false, running: false });
    expect(stateOf(world, 'Degraded')).toBe('True Starting');
    world.o.since.down[idOf(1)] = now - minute;
    expect(stateOf(world, 'Degraded')).toBe('True MemberDown');
    expect(stateOf(new World(3).down(1).agent(1, waiting(1)).pod(1, { ready: false }), 'Degraded')).toBe(
      'True Starting',
    );
    expect(stateOf(new World(3).down(1).pod(1, { deleting: true }), 'Degraded')).toBe('True Starting');
  });

  test('is down at once if its pod ran, or if Kubernetes gives a reason', () => {
    expect(stateOf(new World(3).down(1).agent(1, undefined), 'Degraded')).toBe('True MemberDown');
    const world = new World(3).down(1).agent(1, undefined).pod(1, { ready: false, running: false, problem: image });
    world.o.since.silent = { 1: now - defaultSettings.stable };
    expect(stateOf(world, 'Degraded')).toBe('True MemberDown');
    expect(world.message('Degraded')).toContain(image);
  });

  test('of a restarted pod is being started until it is ready, also if its agent reaches etcd before the reconciler does', () => {
    const state = (reason: 'Starting' | 'AllMembersHealthy', ready: boolean) => {
      const world = new World(3).down(1).agent(1, agent(1)).pod(1, { ready });
      const before = { type: 'Degraded', status: 'True', reason, message: '', lastTransitionTime: '' } as const;
      return stateOf(world.resource({ status: { conditions: [before] } }), 'Degraded');
    };
    expect(state('Starting', false)).toBe('True Starting');
    expect(state('Starting', true)).toBe('True MemberDown');
    expect(state('AllMembersHealthy', false)).toBe('True MemberDown');
  });

  test('that was reported down does not start: it is down until it answers', () => {
    const world = new World(3).down(1).agent(1, undefined).pod(1, { ready: false, running: false });
    const before = { type: 'Degraded', status: 'True', reason: 'MemberDown', message: '' } as const;
    world.resource({ status: { conditions: [{ ...before, lastTransitionTime: '' }] } });
    expect(stateOf(world, 'Degraded')).toBe('True MemberDown');
  });

  test('names its pod and the node of it', () => {
    const world = new World(3).down(1).agent(1, undefined).pod(1, { node: 'node2' });
    expect(world.message('Degraded')).toContain(`member ${idOf(1)}`);
    expect(world.message('Degraded')).toContain('c-1 on node2');
  });

  test('whose volume is full reports it, through its agent or by the free space', () => {
    const down = agent(1).etcd!;
    const full = (change: object) =>
      new World(3).down(1).agent(1, agent(1, { etcd: { ...down, up: false }, ...change }));
    expect(full({ reason: 'DiskFull', message: 'the volume has 0 of 8 bytes left' }).reason('Degraded')).toBe(
      'DiskFull',
    );
    const volume = { ...agent(1).volume, freeBytes: 2 ** 20 };
    expect(full({ volume }).reason('Degraded')).toBe('DiskFull');
    expect(full({ reason: 'EtcdDown', message: 'etcd does not answer' }).message('Degraded')).toContain('EtcdDown');
  });

  test('is reported although the cluster grows', () => {
    const world = new World(3, { size: 5 }).down(1).agent(1, undefined);
    expect(world.reason('Progressing')).toBe('Growing');
    expect(world.reason('Degraded')).toBe('MemberDown');
  });
});

describe('a quorum that no Service leads to', () => {
  const running = agent(0).etcd!;
  const strange = (ordinal: number) =>
    agent(ordinal, {
      ...{ state: 'Refused', reason: 'VersionMismatch', etcdBinary: '3.6.16', etcd: { ...running, version: '3.7.3' } },
      message: 'etcd 3.7.3 runs, and the pod template says 3.6.16',
    });
  const unready = (...ordinals: number[]) => {
    const world = new World(3);
    for (const ordinal of ordinals) world.pod(ordinal, { ready: false }).agent(ordinal, strange(ordinal));
    return world;
  };

  test('is not available, and neither Ready', () => {
    expect(stateOf(unready(1, 2), 'Available')).toBe('True Serving');
    expect(stateOf(unready(0, 1, 2), 'Available')).toBe('False VersionMismatch');
    expect(unready(0, 1, 2).message('Available')).toContain('no Service leads to a member; pod c-0: etcd 3.7.3 runs');
    const plain = new World(3);
    for (const ordinal of [0, 1, 2]) plain.pod(ordinal, { ready: false });
    expect(stateOf(plain, 'Available')).toBe('False NoReadyPod');
    expect(stateOf(new World(3).pod(1, { ready: false }), 'Ready')).toBe('False NotUpToDate');
    const going = new World(1).pod(0, { deleting: true });
    expect(stateOf(going, 'Available')).toBe('False NoReadyPod');
    expect(stateOf(new World(3).set({ pods: unknown('x') }), 'Available')).toBe('True Serving');
  });

  test('is not available with a ready pod whose member does not answer', () => {
    const world = new World(3).down(2).pod(0, { ready: false }).pod(1, { ready: false });
    expect(stateOf(world, 'Available')).toBe('False NoReadyPod');
  });

  test('Available and the number of ready voters are one observation', () => {
    // The leader is another one since a moment ago, as after a shrink: no member counts as healthy for long enough.
    const world = new World(3);
    world.o.since.healthy = Object.fromEntries([0, 1, 2].map((i) => [idOf(i), now]));
    expect([stateOf(world, 'Available'), readyVoters(world)]).toEqual(['True Serving', 3]);
    expect(stateOf(world, 'Ready')).toBe('False NotUpToDate');
    for (const ordinal of [0, 1, 2]) world.pod(ordinal, { ready: false });
    expect([stateOf(world, 'Available'), readyVoters(world)]).toEqual(['False NoReadyPod', 0]);
    const blind = new World(3).set({ pods: unknown('x') });
    expect([stateOf(blind, 'Available'), readyVoters(blind)]).toEqual(['True Serving', undefined]);
  });

  test('compares with the template as it is now', () => {
    expect(unready(0).message('Degraded')).toContain('the pod template says 3.6.16');
    expect(unready(0).sts({ version: '3.7.3' }).message('Degraded')).toBe(
      'pod c-0: etcd 3.7.3 runs in a pod that was created for 3.6.16; the template now names 3.7.3',
    );
  });
});

describe('pods that go', () => {
  test('all at once: no quorum is said to be kept', () => {
    const one = new World(3).pod(1, { deleting: true });
    expect(one.message('Degraded')).toContain('quorum is kept');
    const all = one.pod(0, { deleting: true }).pod(2, { deleting: true });
    expect(stateOf(all, 'Degraded')).toBe('True Starting');
    expect(all.message('Degraded')).toContain('the voters that stay are not a quorum');
  });

  test('for a recovery: it is not said that nothing is touched', () => {
    const args = { id: 'recovery:x', uid: 'r', specHash: 'h', sourceToken: 't', safetyBackup: false };
    const op = { kind: 'Recover', id: 'o', holder: 'h', startedAt: '2026-01-01T00:00:00Z', step: 'drain', args };
    const world = new World(3)
      .op(op as never)
      .volumeLost(1)
      .volumeLost(2)
      .noQuorum();
    for (const type of ['Degraded', 'QuorumLost'] as const)
      expect(world.message(type)).toBe('no quorum answers; a survivor is being backed up and restored');
  });
});

test('an etcd that was never started has no log to read', () => {
  const silent = agent(1, { reason: 'EtcdDown', message: 'see the log', etcd: undefined });
  const world = new World(3).down(1).agent(1, silent).pod(1, { ready: false, problem: image });
  expect(world.message('Degraded')).not.toContain('see the log');
  expect(world.pod(1, { problem: 'CrashLoopBackOff: back-off' }).message('Degraded')).toContain('see the log');
});

describe('volumes that are lost', () => {
  test('one of three: quorum is kept', () => {
    expect(new World(3).volumeLost(1).message('Degraded')).toContain('quorum is kept');
  });

  test('quorum is not said to be kept while the next is on its way out', () => {
    const world = new World(3).volumeLost(1).pod(2, { deleting: true });
    expect(world.reason('Degraded')).toBe('VolumeLost');
    expect(world.message('Degraded')).not.toContain('quorum is kept');
    expect(new World(5).volumeLost(1).volumeLost(2).message('Degraded')).toContain('quorum is kept');
  });

  test('a majority: that a quorum is lost needs no waiting', () => {
    const world = new World(3).volumeLost(1).volumeLost(2).noQuorum();
    world.o.since.quorumLost = now;
    expect(stateOf(world, 'QuorumLost')).toBe('True MajorityVolumesLost');
    expect(stateOf(world, 'Degraded')).toBe('True MajorityVolumesLost');
    expect(stateOf(world, 'Available')).toBe('False QuorumLost');
  });
});

describe('a quorum that does not answer', () => {
  test('is unknown for a minute, and while agents see a leader', () => {
    const world = new World(3).down(1).down(2).noQuorum();
    world.o.since.quorumLost = now;
    for (const type of ['Available', 'QuorumLost', 'Degraded'] as const) {
      expect(stateOf(world, type)).toBe('Unknown QuorumUnknown');
    }
    world.o.since.quorumLost = longAgo;
    expect(stateOf(world, 'QuorumLost')).toBe('True MajorityDown');
    const seen = new World(3).set({ members: unknown('no route') });
    seen.o.since.quorumLost = longAgo;
    expect(stateOf(seen, 'Available')).toBe('Unknown QuorumUnknown');
    expect(seen.message('Available')).toContain('no route');
  });

  test('is not called lost by a reconciler that is cut off, while Kubernetes counts a quorum of pods as ready', () => {
    const world = new World(3).noQuorum();
    for (const ordinal of [0, 1, 2]) world.down(ordinal).agent(ordinal, undefined).pod(ordinal, { ready: true });
    for (const type of ['Available', 'QuorumLost', 'Degraded'] as const)
      expect(stateOf(world, type)).toBe('Unknown QuorumUnknown');
    expect(world.message('QuorumLost')).toContain('the network and the certificates of the reconciler itself');
    world.pod(1, { ready: false }).pod(2, { ready: false });
    expect(stateOf(world, 'QuorumLost')).toBe('True MajorityDown');
  });

  test('is not called lost while the cluster is deleted', () => {
    const op = { kind: 'Delete', step: 'claims', id: 'o', holder: 'h', startedAt: '2026-01-01T00:00:00Z' } as const;
    const world = new World(3)
      .op(op)
      .resource({ deleting: true, finalizer: true })
      .pods(() => [])
      .sts({ replicas: 0 });
    for (const ordinal of [0, 1, 2]) world.down(ordinal).agent(ordinal, undefined);
    world.noQuorum();
    expect(stateOf(world, 'Available')).toBe('False Deleting');
    expect(stateOf(world, 'QuorumLost')).toBe('Unknown Deleting');
    expect(stateOf(world, 'Degraded')).toBe('Unknown Deleting');
    expect(clusterStatus(world.o, world.plan().conditions, now, defaultSettings)?.phase).toBe('Deleting');
  });

  test('names the pods that block it, in the words of Kubernetes', () => {
    const world = new World(3).down(1).down(2).noQuorum().agent(1, undefined).agent(2, undefined);
    world.pod(1, { problem: 'Unschedulable: 0/3 nodes: 3 Insufficient cpu.' }).pod(2, { node: 'node3' });
    expect(world.message('QuorumLost')).toContain('c-1: Unschedulable: 0/3 nodes: 3 Insufficient cpu.');
    expect(world.message('QuorumLost')).toContain('c-2 on node3');
  });
});

describe('a reconciler that has just started', () => {
  /** `healthy`: the members, in the last status. */
  const started = (world: World, healthy: boolean): World => {
    world.o.since.healthy = {};
    world.o.since.holder = now;
    const members = [0, 1, 2].map((ordinal) => ({ ordinal, pod: `c-${ordinal}`, memberId: idOf(ordinal), healthy }));
    world.cluster.status = { members };
    return world;
  };

  test('has not watched the members for long, and its predecessor had', () => {
    expect(stateOf(started(new World(3), true), 'Ready')).toBe('True UpToDate');
    expect(stateOf(started(new World(3), false), 'Ready')).toBe('False NotUpToDate');
  });

  test('sees for itself what is down, going or not ready', () => {
    expect(stateOf(started(new World(3).down(1), true), 'Ready')).toBe('False NotUpToDate');
    expect(stateOf(started(new World(3).pod(1, { deleting: true }), true), 'Ready')).toBe('False NotUpToDate');
    expect(stateOf(started(new World(3).pod(1, { ready: false }), true), 'Ready')).toBe('False NotUpToDate');
  });
});

describe('what could not be looked at', () => {
  test('pods: nothing is said to be well', () => {
    const world = new World(3).set({ pods: unknown('pods is forbidden'), agents: {} });
    expect(stateOf(world, 'Degraded')).toBe('Unknown StateUnknown');
    expect(world.message('Degraded')).toContain('pods is forbidden');
    expect(stateOf(world, 'Ready')).toBe('False NotUpToDate');
  });

  test('an agent: for a minute nothing, then it is said', () => {
    expect(stateOf(silentFor(new World(3), 1, minute - 1), 'Degraded')).toBe('False AllMembersHealthy');
    expect(stateOf(silentFor(new World(3), 1, minute), 'Degraded')).toBe('True AgentUnreachable');
  });

  test('a StatefulSet whose controller has not seen it is not as desired', () => {
    expect(stateOf(new World(3).sts({ observed: false }), 'Ready')).toBe('False NotUpToDate');
    expect(stateOf(new World(3).set({ statefulSet: unknown('x') }), 'Ready')).toBe('False NotUpToDate');
  });

  test('the record: all is unknown, and why', () => {
    const world = new World(3).set({ record: unknown('configmaps "c-record" is forbidden') });
    for (const type of conditionTypes.filter((each) => each !== 'Accepted' && !optional.includes(each))) {
      expect(stateOf(world, type)).toBe('Unknown StateUnknown');
    }
    expect(world.message('Available')).toContain('is forbidden');
  });

  test('alarms of another cluster are not ours', () => {
    const world = new World(3).set({ members: unknown('cluster x answers, not cluster-1') });
    expect(stateOf(world, 'Alarm')).toBe('Unknown StateUnknown');
  });

  test('agents, while entries of 3.5 may be left: it is not said that they leave', () => {
    const settling = { current: '3.6', allowedMinors: ['3.6'], finalizedIndex: 100 };
    const world = new World(3).doc({ versions: settling });
    expect(world.reason('Progressing')).toBe('FlushingRaftLog');
    for (const i of [0, 1, 2]) world.agent(i, undefined);
    expect(world.reason('Progressing')).toBe('Idle');
  });
});

// Everything of an observation, missing or changed, each with each.

type Change = [string, (world: World) => unknown];
const changes: Change[] = [
  ['nothing', () => {}],
  ['no record', (world) => world.set({ record: known(undefined) })],
  ['record unknown', (world) => world.set({ record: unknown('x') })],
  ['not seeded', (world) => world.doc({ seeded: false, phase: 'Seeding' })],
  ['restoring', (world) => world.doc({ seeded: false, phase: 'Restoring' })],
  ['seeding', (world) => world.doc({ phase: 'Seeding' })],
  ['pods unknown', (world) => world.set({ pods: unknown('x'), agents: {} })],
  ['no pods', (world) => world.set({ pods: known([]), agents: {} })],
  ['a pod missing', (world) => world.pods((pods) => pods.slice(0, 2)).sts({ lacks: {} })],
  ['a pod that cannot be made', (world) => world.pods((pods) => pods.slice(0, 2)).sts({ lacks: { why: quota } })],
  ['a pod with a problem', (world) => world.pod(2, { running: false, ready: false, problem: image })],
  ['a pod going', (world) => world.pod(1, { deleting: true })],
  ['StatefulSet unknown', (world) => world.set({ statefulSet: unknown('x') })],
  ['no StatefulSet', (world) => world.set({ statefulSet: known(undefined) })],
  ['StatefulSet unseen', (world) => world.sts({ observed: false })],
  ['claims unknown', (world) => world.set({ claims: unknown('x') })],
  ['agents silent', (world) => [0, 1, 2].map((i) => world.agent(i, undefined))],
  ['an agent silent for long', (world) => silentFor(world, 1, minute)],
  ['an agent of another pod', (world) => world.agent(1, agent(1, { podUid: 'old' }))],
  ['an agent that refuses', (world) => world.agent(1, agent(1, { state: 'Refused', reason: 'ForeignData' }))],
  ['a lost volume', (world) => world.volumeLost(1)],
  ['two lost volumes', (world) => world.volumeLost(1).volumeLost(2)],
  ['a member down', (world) => world.down(1)],
  ['two members down', (world) => world.down(1).down(2)],
  ['no quorum', (world) => world.down(1).down(2).noQuorum()],
  ['members unknown', (world) => world.set({ members: unknown('x') })],
  ['alarms unknown', (world) => world.set({ alarms: unknown('x') })],
  ['another at the address of a pod', (world) => world.learner(1, { id: 'id-other', isLearner: false })],
  ['a learner', (world) => world.removed(2).learner(2)],
  ['grows', (world) => world.spec({ size: 5 })],
  ['a size that is refused', (world) => world.spec({ size: 4 })],
  ['full', (world) => world.agent(1, agent(1, { volume: { ...agent(1).volume, freeBytes: 1 } }))],
];

const combined = changes.flatMap(([a, first], i) =>
  changes.slice(i).map(([b, second]): [string, World] => {
    const world = new World(3);
    first(world);
    second(world);
    return [`${a}, ${b}`, world];
  }),
);

/** Required observation for this condition. Undefined if there is none. */
function lie({ type, status, reason, message }: Condition, o: Observed): string | undefined {
  const voters = o.members.known ? o.members.v.filter(({ isLearner }) => !isLearner) : [];
  const answering = voters.filter(({ id }) => o.status[id]?.known).length;
  const quorum = o.members.known && answering > voters.length / 2;
  const doc = o.record.known ? o.record.v?.doc : undefined;
  const all = voters.length > 0 && answering === voters.length;
  const says = `${type} ${status} ${reason}`;
  if (!doc && status !== 'Unknown' && ['QuorumLost', 'Alarm'].includes(type)) return 'without a record';
  if (!doc?.seeded && says === 'QuorumLost False QuorumAvailable') return 'before it served';
  if (!quorum && ['QuorumLost False', 'Available True'].includes(`${type} ${status}`)) return 'without a quorum';
  if (!quorum && message.includes('quorum is kept')) return 'without a quorum';
  if (reason === 'AllMembersHealthy' && !(all && o.pods.known && o.pods.v.length >= voters.length))
    return 'not all was seen';
  if (says.startsWith('Degraded False') && !(all && doc?.seeded)) return 'not all are well';
  if (says.startsWith('Ready True') && !(all && o.statefulSet.known && o.pods.known)) return 'not all was seen';
  if (says.startsWith('Alarm False') && !(o.alarms.known && o.members.known)) return 'alarms were not seen';
  return undefined;
}

test('no condition reports anything that was not observed, whatever is missing', () => {
  const lies = combined.flatMap(([name, world]) =>
    world.plan().conditions.flatMap((condition) => {
      const why = lie(condition, world.o);
      return why ? [`${name}: ${condition.type}=${condition.status} ${condition.reason}: ${why}`] : [];
    }),
  );
  expect(lies).toEqual([]);
  expect(combined.length).toBeGreaterThan(400);
});

test('each state is reported: no condition is left out of the status', () => {
  const always = conditionTypes.filter((type) => !optional.includes(type));
  const left = combined.flatMap(([name, world]) => {
    const types = world.plan().conditions.map(({ type }) => type);
    return always.filter((type) => !types.includes(type)).map((type) => `${name}: ${type}`);
  });
  expect(left).toEqual([]);
});
