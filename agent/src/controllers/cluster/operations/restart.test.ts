import { known, unknown } from '../../../protocol/known.ts';
import { agent, asking, idOf, now, status, World } from '../../port/observed.fixture.ts';
import { defaultSettings } from '../../port/settings.ts';
import { emptyMemory, recalled, remember } from '../observe.ts';

/** The template is newer than every pod. */
const rolling = (size = 3, change = {}) => new World(size, change).sts({ updateRevision: 'r2' });

const versions = (world: World, version: string) => {
  for (const id of Object.keys(world.o.status)) world.o.status[id] = known(status({ version }));
  return world;
};

describe('new roots', () => {
  const report = { secrets: [], certificates: [], authorities: [], unread: [], problems: [], now, goodAge: 0 };
  const toLoad = (made: World, age = 0) =>
    made.resource({ certificates: { ...report, looked: { at: now - age, age }, rootsToLoad: 'aa-bb' } });

  test('the template names them, and the pods follow it', () => {
    const made = toLoad(new World(3));
    expect(made.effect).toEqual({ kind: 'AnnotateRoots', roots: 'aa-bb', basedOn: 'sts-rv' });
    expect(toLoad(new World(3)).sts({ roots: 'aa-bb' }).effect).toBeUndefined();
    expect(made.sts({ roots: 'aa-bb', updateRevision: 'r2' }).rule).toBe('RestartPod');
  });

  test('not for old observations, while paused, or during an operation', () => {
    expect(toLoad(new World(3), defaultSettings.certificatesOld + 1).effect).toBeUndefined();
    expect(toLoad(new World(3).spec({ paused: true })).effect).toBeUndefined();
    expect(toLoad(new World(3)).volumeLost(1).rule).not.toBe('AnnotateRoots');
    expect(toLoad(rolling().commit()).rule).toBe('RestartPod.call');
  });
});

describe('a new template', () => {
  test('followers first, from the highest ordinal', () => {
    expect(rolling().written?.op).toMatchObject({ kind: 'DeletePod', ordinal: 2, podUid: 'pod-2' });
  });

  test.each([
    [900, 'RestartPod'],
    [1000, undefined],
  ])('while a voter is %d entries behind', (lag, expected) => {
    const world = rolling();
    for (const i of [0, 1]) world.o.status[idOf(i)] = known(status({ raftIndex: 90_000, appliedIndex: 90_000 }));
    world.o.status[idOf(2)] = known(status({ raftIndex: 90_000, appliedIndex: 90_000 - lag }));
    expect(world.rule).toBe(expected);
  });

  test('a voter that is far behind is not near because it has what the leader had in the last pass', () => {
    const world = rolling();
    const write = (leader: number, other: number) => {
      for (const i of [0, 2]) world.o.status[idOf(i)] = known(status({ raftIndex: leader, appliedIndex: leader }));
      world.o.status[idOf(1)] = known(status({ raftIndex: other, appliedIndex: other }));
    };
    write(100_000, 100_000);
    const memory = { ...emptyMemory(0), since: world.o.since };
    const first = remember(memory, world.o, now, defaultSettings);
    write(250_000, 100_001);
    const second = remember(first, world.o, now + defaultSettings.steady, defaultSettings);
    world.set(recalled(second));
    expect(world.written?.op).toMatchObject({ ordinal: 1 });
  });

  test('a broken pod before them', () => {
    expect(rolling().down(1).written?.op).toMatchObject({ ordinal: 1 });
  });

  test('the leader last, after it has handed on', () => {
    const world = rolling().pod(1, { revision: 'r2' }).pod(2, { revision: 'r2' });
    expect(world.commit().record.op).toMatchObject({ ordinal: 0 });
    expect(world.effect).toEqual({ kind: 'MoveLeader', leader: idOf(0), to: idOf(1) });
    for (const id of Object.keys(world.o.status)) world.o.status[id] = known(status({ leader: idOf(1) }));
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 0, uid: 'pod-0', evict: true });
  });

  test('one that is not ready is restarted regardless of the disruption budget, which already counts it as missing', () => {
    const world = rolling().down(1).pod(1, { ready: false }).commit();
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 1, uid: 'pod-1', evict: false });
  });

  test('the disruption budget has no room: this is reported as long as it waits', () => {
    const message = 'pod c-2 is not evicted yet: no room';
    const world = rolling().commit();
    world.set({ refused: { at: now, since: now, podUid: 'pod-2', message } });
    expect(world.message('Progressing')).toBe(`pods are being restarted one by one; ${message}`);
    expect(world.rule).toBe('RestartPod.drop');
    world.commit();
    expect(world.message('Progressing')).toBe(`pods are being restarted one by one; ${message}`);
    expect(world.effect).toBeUndefined();
    expect(world.reason('Stalled')).toBe('NoActionRequired');
    world.set({ refused: { at: now, since: 0, podUid: 'pod-2', message } });
    expect(world.reason('Stalled')).toBe('EvictionRefused');
    expect(world.message('Stalled')).toBe(message);
    world.set({ refused: { at: now - defaultSettings.evictAgain, since: now, podUid: 'pod-2', message } });
    expect(world.rule).toBe('RestartPod');
  });

  test('what was refused does not keep a pod that is not ready', () => {
    const world = rolling().pod(2, { ready: false });
    world.set({ refused: { at: now, since: now, podUid: 'pod-2', message: 'no room' } });
    expect(world.commit().effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2', evict: false });
  });

  test('one at a time: the next waits until the last is healthy for long enough', () => {
    const world = rolling().pod(2, { revision: 'r2', uid: 'pod-2b' });
    world.agent(2, agent(2, { podUid: 'pod-2b' }));
    world.o.since.healthy[idOf(2)] = now;
    expect(world.compared().effect).toBeUndefined();
    world.o.since.healthy[idOf(2)] = 0;
    expect(world.compared().written?.op).toMatchObject({ ordinal: 1 });
  });

  test('and until its data are compared with the others', () => {
    const world = rolling().pod(2, { revision: 'r2', uid: 'pod-2b' });
    world.agent(2, agent(2, { podUid: 'pod-2b' }));
    expect(world.rule).toBe('VerifyHash');
  });

  test('a pod that is being deleted counts as away', () => {
    const world = rolling().pod(2, { deleting: true });
    expect(world.effect).toBeUndefined();
  });

  test('quorum comes first', () => {
    expect(rolling().down(1).down(2).plan().hold).toBe('MajorityDown');
  });

  test('is over when the pod is gone; a restart on the same version is remembered', () => {
    const world = rolling().commit();
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2', evict: true });
    world.pods((pods) => pods.filter(({ ordinal }) => ordinal !== 2));
    const { written } = world;
    expect(written).not.toHaveProperty('op');
    expect(written?.members[2]?.restartedOn).toBe('3.6.16');
  });

  test('nor forgotten in a pass that sees no pods', () => {
    const world = rolling()
      .commit()
      .set({ pods: unknown('timeout') });
    expect(world.effect).toBeUndefined();
  });

  test('the restart that brings a version does not count', () => {
    const world = versions(rolling().sts({ version: '3.6.17' }), '3.6.16').commit();
    world.pods((pods) => pods.filter(({ ordinal }) => ordinal !== 2));
    expect(world.written?.members[2]?.restartedOn).toBeUndefined();
  });

  test('a single member restarts alone', () => {
    expect(rolling(1).rule).toBe('RestartPod');
  });

  test('two members: with a pause, if that is the size; else not', () => {
    expect(rolling(2, { allowEvenSize: true }).rule).toBe('RestartPod');
    expect(rolling(2, { allowEvenSize: true }).spec({ size: 3 }).rule).not.toBe('RestartPod');
  });

  test('not while the controller has not seen it', () => {
    expect(rolling().sts({ observed: false }).effect).toBeUndefined();
  });

  test('it names a minor that is not allowed: an upgrade comes first', () => {
    const world = rolling(3, { version: '3.7.3' }).sts({ version: '3.7.3' });
    expect(world.rule).toBe('Upgrade');
  });

  test('a bad template reached a majority: pods without a running etcd follow the fixed one', () => {
    const world = rolling().down(0).down(1).noQuorum();
    for (const i of [0, 1]) world.pod(i, { ready: false }).agent(i, agent(i, { etcd: undefined, state: 'Starting' }));
    expect(world.rule).toBe('RestartBroken');
    expect(world.agent(0, undefined).agent(1, undefined).effect).toBeUndefined();
  });
});

describe('while pods are joining', () => {
  /** Of pods that were Pending on the old template, and are new on this one. */
  const growing = (from: number, size: number) => {
    const world = rolling(from, { size }).sts({ replicas: size });
    for (let i = from; i < size; i++) {
      world.joiner(i).pod(i, { revision: 'r2', running: false }).agent(i, undefined);
    }
    return world;
  };
  const asks = (world: World, ordinal: number) => world.pod(ordinal, { running: true }).agent(ordinal, asking(ordinal));
  const sizes = [
    { from: 1, size: 3 },
    { from: 3, size: 5 },
  ];

  test.each(sizes)('from $from to $size: they join before a member that serves is restarted', ({ from, size }) => {
    const world = growing(from, size);
    expect(world.effect).toBeUndefined();
    expect(asks(world, from).rule).toBe('AddLearner');
  });

  test.each(sizes)('from $from to $size: a restart that has begun gives the slot to them', ({ from, size }) => {
    const world = growing(from, size);
    const args = { ordinal: from - 1, podUid: `pod-${from - 1}`, nextVersion: '3.6.16' };
    world.op({ ...args, id: 'o', holder: '', startedAt: '', kind: 'DeletePod' });
    if (from > 1) expect(world.rule).toBe('RestartPod.drop');
    else expect(asks(world, from).rule).toBe('RestartPod.drop');
    expect(asks(world.op(undefined), from).rule).toBe('AddLearner');
  });

  test('a pod that is missing counts, too', () => {
    expect(rolling(3, { size: 5 }).sts({ replicas: 5 }).effect).toBeUndefined();
  });

  test('a member that is down is restarted nevertheless: no pod can join without it', () => {
    const world = growing(3, 5).down(1).pod(1, { ready: false });
    expect(world.commit().effect).toEqual({ kind: 'DeletePod', ordinal: 1, uid: 'pod-1', evict: false });
  });
});

describe('going back in a half-done upgrade', () => {
  const mixed = () => {
    const world = rolling(3, { version: '3.5.35' }).sts({ version: '3.5.35' });
    return world.doc({ versions: { current: '3.5', allowedMinors: ['3.5', '3.6'] } });
  };

  test('as long as a voter runs the old one', () => {
    const world = mixed();
    for (const i of [0, 2]) world.o.status[idOf(i)] = known(status({ clusterVersion: '3.5.0' }));
    world.o.status[idOf(1)] = known(status({ version: '3.5.35', clusterVersion: '3.5.0' }));
    expect(world.written?.op).toMatchObject({ kind: 'DeletePod', nextVersion: '3.5.35' });
  });

  test('not when every voter runs the new one', () => {
    expect(mixed().rule).toBe('Upgrade.finalize');
    const world = versions(mixed(), '3.6.16');
    for (const id of Object.keys(world.o.status)) world.o.status[id] = known(status({ clusterVersion: '3.5.0' }));
    for (const i of [0, 1, 2]) world.agent(i, agent(i, { etcd: { ...agent(i).etcd!, clusterVersion: '3.5.0' } }));
    expect(world.effect).toBeUndefined();
  });
});

describe('ephemeral', () => {
  test('a restart is a replacement', () => {
    const world = rolling(3, { ephemeral: true }).set({ claims: known([]) });
    expect(world.written?.op).toMatchObject({ kind: 'Remove', memberId: idOf(2), why: 'Roll' });
    world.commit().removed(2).commit();
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2' });
    world.pod(2, { uid: 'pod-2b', revision: 'r2', ready: false }).agent(2, asking(2, 'new-2', { podUid: 'pod-2b' }));
    expect(world.written?.op).toMatchObject({ kind: 'AddLearner', ordinal: 2 });
  });

  test('the only member: backed up, then restored into the next pod', () => {
    const world = rolling(1, { ephemeral: true }).set({ claims: known([]) });
    expect(world.written?.op).toMatchObject({ kind: 'Restore', step: 'backup', args: { id: 'roll:fresh-id' } });
    world.commit();
    expect(world.effect).toMatchObject({
      kind: 'CreateJob',
      job: { kind: 'pre-upgrade', op: 'fresh-id', restored: true },
    });
    const job = {
      kind: 'pre-upgrade' as const,
      uid: 'j',
      op: 'fresh-id',
      state: 'Succeeded' as const,
      deleting: false,
    };
    world.set({ jobs: known([{ ...job, backup: { id: 'snap', revision: 1, sha256: 'sha' } }]) });
    expect(world.written?.op).toMatchObject({
      step: 'verify',
      args: { source: { snapshotId: 'snap' }, sha256: 'sha' },
    });
  });

  test('the only member, no schedule: held, untouched', () => {
    const world = rolling(1, { ephemeral: true, schedule: undefined });
    expect(world.effect).toBeUndefined();
    expect(world.reason('Stalled')).toBe('EphemeralSingle');
  });

  test('every pod lost: held', () => {
    const world = new World(3, { ephemeral: true }).volumeLost(0).volumeLost(1).volumeLost(2).noQuorum();
    expect(world.plan().hold).toBe('AllVolumesLost');
  });
});

test('members that differ: nothing is changed, the minority is a person’s to name', () => {
  const world = rolling().compared(false);
  expect(world.plan().hold).toBe('CorruptAlarm');
  expect(world.reason('Stalled')).toBe('CorruptAlarm');
});

test('alarm CORRUPT is disarmed when the member that it names is gone and the others are equal', () => {
  const raised = (memberId: string) => new World(3).set({ alarms: known([{ memberId, type: 'Corrupt' }]) });
  expect(raised(idOf(1)).plan().hold).toBe('CorruptAlarm');
  expect(raised('id-old').effect).toEqual({ kind: 'Disarm', memberId: 'id-old', alarm: 'Corrupt' });
});

describe('a pod that runs another version than its template names', () => {
  const message = 'etcd 3.7.3 runs, and the pod template says 3.6.16';
  /** The image of pod 1 was changed by hand. */
  const strange = (world: World) => {
    world.o.status[idOf(1)] = known(status({ version: '3.7.3' }));
    return world.pod(1, { ready: false }).agent(1, agent(1, { state: 'Refused', reason: 'VersionMismatch', message }));
  };

  test('of the template that there is: held', () => {
    expect(strange(new World(3)).plan().hold).toBe('VersionMismatch');
    expect(strange(rolling().pod(1, { revision: 'r2' })).plan().hold).toBe('VersionMismatch');
  });

  test('of an earlier template: it follows the new one before all others, and nothing is held', () => {
    const world = strange(rolling());
    expect(world.reason('Stalled')).toBe('NoActionRequired');
    expect(world.commit().record.op).toMatchObject({ kind: 'DeletePod', ordinal: 1, nextVersion: '3.6.16' });
    expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 1, uid: 'pod-1', evict: false });
  });

  test('of an earlier template, on its way out: nothing is held, either', () => {
    const going = strange(rolling()).commit().pod(1, { ready: false, deleting: true });
    expect(going.reason('Stalled')).toBe('NoActionRequired');
    const gone = strange(rolling()).pod(1, { ready: false, deleting: true });
    expect(gone.reason('Stalled')).toBe('NoActionRequired');
    expect(gone.effect).toBeUndefined();
  });

  test('of the current template, while it is deleted: its successor does not differ', () => {
    expect(
      strange(rolling().pod(1, { revision: 'r2' }))
        .pod(1, { revision: 'r2', deleting: true })
        .plan().hold,
    ).toBe('VersionMismatch');
  });

  test('of an earlier template, and the others are not well: it waits', () => {
    expect(strange(rolling()).down(2).pod(2, { revision: 'r2' }).effect).toBeUndefined();
  });

  test('whose data the template’s etcd does not start on any more: held', () => {
    const world = strange(rolling());
    for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ version: '3.7.3', clusterVersion: '3.7.0' }));
    expect(world.plan().hold).toBe('VersionMismatch');
  });
});

describe('a template whose TLS is not that of the spec, as after an apply of which the EtcdCluster was refused', () => {
  const mounted = { peer: 'orders-peer-tls', server: 'orders-server-tls' };

  test.each([
    ['TLS on', {}, mounted, 'has TLS, but spec.tls is missing'],
    ['TLS off', { tls: true }, {}, 'has no TLS, but spec.tls is set'],
    [
      'other Secrets',
      { tls: true, tlsSecrets: mounted },
      { ...mounted, peer: 'mine' },
      'mounts the Secrets mine and orders-server-tls, but spec.tls names orders-peer-tls and orders-server-tls',
    ],
  ])('%s: creates no pod, which is reported', (_, spec, tlsSecrets, message) => {
    const wrong = () => rolling().spec(spec).sts({ tlsSecrets });
    expect(wrong().effect).toBeUndefined();
    expect(wrong().reason('Accepted')).toBe('TemplateMismatch');
    expect(wrong().message('Accepted')).toContain(message);
    expect(wrong().spec({ ...spec, size: 5 }).effect).toBeUndefined();
  });

  test('the same on both sides', () => {
    expect(rolling().sts({ tlsSecrets: {} }).rule).toBe('RestartPod');
    const same = rolling().spec({ tls: true, tlsSecrets: mounted }).sts({ tlsSecrets: mounted });
    expect(same.reason('Accepted')).not.toBe('TemplateMismatch');
    // Secrets of the user, whose names only the template has.
    const own = rolling()
      .spec({ tls: true })
      .sts({ tlsSecrets: { peer: 'p', server: 's' } });
    expect(own.reason('Accepted')).not.toBe('TemplateMismatch');
  });
});

describe('a template whose image has another version than it states', () => {
  const wrong = () => rolling().sts({ imageVersion: '3.7.3' });

  test('creates no pod, which is reported', () => {
    expect(wrong().effect).toBeUndefined();
    expect(wrong().reason('Accepted')).toBe('TemplateMismatch');
    expect(wrong().message('Accepted')).toContain('3.7.3');
    expect(wrong().spec({ size: 5 }).effect).toBeUndefined();
  });

  test('nor when it became so after the restart was decided on', () => {
    const begun = rolling().commit();
    expect(begun.rule).toBe('RestartPod.call');
    expect(begun.sts({ imageVersion: '3.7.3' }).rule).toBe('RestartPod.drop');
  });

  test('of the stated version, or of an image without a version in its tag', () => {
    expect(rolling().sts({ imageVersion: '3.6.16' }).rule).toBe('RestartPod');
    expect(rolling().rule).toBe('RestartPod');
  });

  test('not even a pod that never voted', () => {
    const world = wrong().removed(2).pod(2, { ready: false }).agent(2, undefined);
    const { 2: _, ...members } = world.record.members;
    expect(world.doc({ members }).rule).not.toBe('RestartUnborn');
  });
});

test('a voter whose pod is not ready, and of an old template, does not wait for the learner that waits for it', () => {
  const world = new World(4).learner(3, { id: idOf(3), name: 'c-3' }).down(1);
  world.pod(1, { revision: 'r0', ready: false }).agent(1, { ...agent(1), state: 'Refused', reason: 'VersionMismatch' });
  expect(world.written?.op).toMatchObject({ kind: 'DeletePod', ordinal: 1 });
});

/** Its agent hangs, its etcd answers, its pod is not ready, and the template has changed. */
const forgotten = (ephemeral: boolean) => {
  const world = new World(3, { ephemeral });
  const { 2: _, ...members } = world.record.members;
  world.doc({ members });
  world.agent(2, undefined);
  return world.pods((pods) => pods.map((pod) => ({ ...pod, revision: 'r0', ready: pod.ordinal !== 2 })));
};

test.each([true, false])(
  'a voter that a rebuilt record does not know is none that never voted (ephemeral: %s)',
  (ephemeral) => {
    const world = forgotten(ephemeral).down(1).pod(1, { ready: false });
    expect(world.rule).not.toBe('RestartUnborn');
    expect(world.written?.op).toMatchObject({ ordinal: 1 });
  },
);

test('nor is it while the member list is unreadable', () => {
  expect(forgotten(true).noQuorum().effect).toBeUndefined();
});

test('a pod that holds no member follows the template at once', () => {
  const world = forgotten(false).removed(2).agent(2, asking(2));
  expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2' });
});

test('a learner, too', () => {
  const world = forgotten(false)
    .removed(2)
    .learner(2, { id: idOf(2), name: 'c-2' });
  expect(world.rule).toBe('RestartUnborn');
});

describe('a pod that cannot start, and a template that is a newer one', () => {
  /** For example, its image cannot be pulled: there is neither an agent nor an etcd. */
  const stuck = (world: World, ordinal: number) => {
    world
      .down(ordinal)
      .agent(ordinal, undefined)
      .pod(ordinal, { revision: 'r0', running: false, began: false, ready: false });
    world.o.since.silent = { [ordinal]: now - defaultSettings.stable };
    return world;
  };
  const deleted = { kind: 'DeletePod', ordinal: 0, uid: 'pod-0' };

  test('is recreated, although quorum is lost without it', () => {
    expect(stuck(new World(1).noQuorum(), 0).effect).toEqual(deleted);
  });

  test('is recreated while a learner waits for all voters', () => {
    const world = new World(3);
    expect(stuck(world.learner(2, { id: idOf(2), name: 'c-2' }), 0).effect).toEqual(deleted);
  });

  test('is left alone while it may be starting, and on the template that there is', () => {
    const world = stuck(new World(1).noQuorum(), 0);
    world.o.since.silent = { 0: now - defaultSettings.stable + 1 };
    expect(world.effect).toBeUndefined();
    const begun = stuck(new World(1, { ephemeral: true }).noQuorum(), 0).pod(0, { began: true });
    expect(begun.rule).not.toBe('RestartUnstarted');
    const same = stuck(new World(1).noQuorum(), 0).pod(0, { revision: 'r1' });
    expect(same.rule).not.toBe('RestartUnstarted');
  });
});
