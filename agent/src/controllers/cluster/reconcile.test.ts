import type { AgentStatus } from '../../protocol/agent-status.ts';
import { known, Unreadable, unknown } from '../../protocol/known.ts';
import { asking, idOf, now, World } from '../port/observed.fixture.ts';
import type { Observed } from '../port/observed.ts';
import { NotNow, type Port } from '../port/port.ts';
import { defaultSettings } from '../port/settings.ts';
import { act } from './act.ts';
import { clusterStatus } from './conditions/status.ts';
import { emptyMemory, type Memory } from './observe.ts';
import { pass } from './reconcile.ts';

const fresh = { id: 'op', clusterUid: 'uid', token: 'token', secret: 'secret' };
const second = 1000;

const value = <T>(what: { known: true; v: T } | { known: false; why: string }): Promise<T> =>
  what.known ? Promise.resolve(what.v) : Promise.reject(new Error(what.why));

/** Answers from an observation, and notes each call that changes something. */
function portOf(world: World, calls: unknown[][], change: { clusterId?: string; hangs?: boolean } = {}): Port {
  const { o } = world;
  const note =
    (name: string) =>
    (...args: unknown[]): Promise<void> => {
      calls.push([name, ...args]);
      return Promise.resolve();
    };
  const status = (id: string) => value(o.status[id]!);
  return {
    records: { read: () => value(o.record), write: note('write'), remove: note('removeRecord') },
    clusters: {
      cluster: () => value(o.cluster),
      restores: () => value(o.restores),
      setFinalizer: note('setFinalizer'),
      releaseFinalizer: note('releaseFinalizer'),
      reportStatus: note('reportStatus'),
      reportRestore: note('reportRestore'),
    },
    workload: {
      statefulSet: () => value(o.statefulSet),
      pods: () => (change.hangs ? new Promise(() => {}) : value(o.pods)),
      claims: () => value(o.claims),
      agent: ({ ordinal }) => value(o.agents[ordinal]!) as Promise<AgentStatus>,
      scale: note('scale'),
      annotateEpoch: note('annotateEpoch'),
      annotateRoots: note('annotateRoots'),
      annotateClaim: note('annotateClaim'),
      deletePod: note('deletePod'),
      evictPod: note('evictPod'),
      deleteClaim: note('deleteClaim'),
    },
    jobs: { jobs: () => value(o.jobs), create: note('createJob'), remove: note('removeJob') },
    membership: {
      members: async () => ({ clusterId: change.clusterId ?? 'cluster-1', members: await value(o.members) }),
      addLearner: note('addLearner'),
      updatePeerUrls: note('updatePeerUrls'),
      remove: note('remove'),
      promote: note('promote'),
      moveLeader: note('moveLeader'),
    },
    maintenance: {
      status,
      alarms: () => value(o.alarms),
      compact: note('compact'),
      defrag: note('defrag'),
      disarm: note('disarm'),
      hashKV: (members) => {
        calls.push(['hashKV', members]);
        return Promise.resolve({ equal: true, minority: [] });
      },
      leaseChurn: note('leaseChurn'),
    },
  };
}

const settings = { ...defaultSettings, observeRpc: 50 };

async function passes(world: World, times: number[], memory: Memory = emptyMemory(0), change = {}) {
  const calls: unknown[][] = [];
  let last = memory;
  let plan: Awaited<ReturnType<typeof pass>>['plan'] | undefined;
  for (const time of times) {
    const done = await pass(portOf(world, calls, change), time, settings, 'me', fresh, last);
    last = done.memory;
    plan = done.plan;
  }
  return { calls, memory: last, plan };
}

test('a member counts as healthy only after it was well for long enough; then the hashes are compared once', async () => {
  const world = new World(3);
  expect((await passes(world, [now])).calls).toEqual([]);
  const { calls, memory } = await passes(world, [now, now + 5 * second, now + 10 * second, now + 12 * second]);
  expect(calls).toEqual([['hashKV', [idOf(0), idOf(1), idOf(2)]]]);
  expect(memory.hash).toMatchObject({ equal: true, at: now + 10 * second });
});

test('evidence of a lost volume must be the same for the whole time', async () => {
  const world = new World(3).volumeLost(1);
  const well = [now, now + 10 * second];
  const settled = (await passes(new World(3), well)).memory;
  const seen = await passes(world, [now + 11 * second], settled);
  expect(seen.calls).toEqual([]);
  const other = world.agent(1, asking(1, 'yet-another'));
  const changed = await passes(other, [now + 16 * second], seen.memory);
  expect(changed.calls).toEqual([]);
  const again = await passes(other, [now + 21 * second], changed.memory);
  expect(again.calls).toMatchObject([['write', { op: { kind: 'Remove', memberId: idOf(1) } }, 'rv-10']]);
});

test('the members of another cluster at our addresses are not ours', async () => {
  const { plan } = await passes(new World(3), [now], undefined, { clusterId: 'old-epoch' });
  expect(plan?.hold).toBe('MajorityDown');
});

test('a read that hangs is unknown, and stops nothing but what needs it', async () => {
  const world = new World(3).sts({ replicas: 1 });
  const { calls } = await passes(world, [now], undefined, { hangs: true });
  expect(calls).toEqual([['scale', 3, 'sts-rv', 1]]);
});

test.each([
  {
    there: 'it is still to be done',
    world: new World(3).sts({ replicas: 1, rv: 'newer' }),
    does: [['scale', 3, 'newer', 1]],
  },
  { there: 'it is done already', world: new World(3), does: [] },
])('nothing is done on what was kept since an earlier look: $there', async ({ world, does }) => {
  const calls: unknown[][] = [];
  const port = { ...portOf(new World(3).sts({ replicas: 1 }), calls) };
  let kept = true;
  port.lookAgain = () => {
    Object.assign(port, portOf(world, calls));
    const was = kept;
    kept = false;
    return was;
  };
  await pass(port, now, settings, 'me', fresh, emptyMemory(0));
  expect(calls).toEqual(does);
});

test('an effect that fails is reported, and retried ever more slowly', async () => {
  const world = new World(3).sts({ replicas: 1 });
  const port = portOf(world, []);
  port.workload.scale = () => Promise.reject(new Error('409'));
  const first = await pass(port, now, settings, 'me', fresh, emptyMemory(0));
  expect(first).toMatchObject({ error: { message: '409' }, memory: { failures: 1 } });
  const third = await pass(port, now, settings, 'me', fresh, { ...first.memory, failures: 3 });
  expect(third.plan.requeueMs).toBe(8 * second);
});

test('a refused eviction does not count as a failure: it is reported, the slot is released, and it is retried later', async () => {
  const world = new World(3).sts({ updateRevision: 'r2' }).commit();
  const calls: unknown[][] = [];
  const port = portOf(world, calls);
  port.workload.evictPod = () => Promise.reject(new NotNow('pod c-2 is not evicted yet: a drain is on'));
  const memory = { ...emptyMemory(0), since: world.o.since, ...(world.o.hash && { hash: world.o.hash }) };
  const { plan, error, memory: after } = await pass(port, now, settings, 'me', fresh, memory);
  expect({ error, failures: after.failures, calls }).toEqual({ error: undefined, failures: 0, calls: [] });
  expect(plan).toMatchObject({ requeueMs: settings.op, why: expect.stringContaining('a drain is on') });
  expect(plan.effect).toBeUndefined();
  expect(plan.conditions).toContainEqual(
    expect.objectContaining({ type: 'Progressing', message: expect.stringContaining('a drain is on') }),
  );
  const next = await pass(port, now + 2 * second, settings, 'me', fresh, after);
  expect(next.plan.rule).toBe('RestartPod.drop');
  Object.assign(port, portOf(world.op(undefined), calls));
  const waits = await pass(port, now + 20 * second, settings, 'me', fresh, next.memory);
  expect(waits.plan.effect).toBeUndefined();
  const again = await pass(port, now + settings.evictAgain, settings, 'me', fresh, waits.memory);
  expect(again.plan.rule).toBe('RestartPod');
});

test('a refusal is forgotten once the pod is evicted, and when it is long past', async () => {
  const world = new World(3).sts({ updateRevision: 'r2' }).commit();
  const refused = { at: now - settings.evictAgain, since: 0, podUid: 'pod-2', message: 'no room' };
  const memory = { ...emptyMemory(0), since: world.o.since, ...(world.o.hash && { hash: world.o.hash }), refused };
  const evicted = await pass(portOf(world, []), now, settings, 'me', fresh, memory);
  expect(evicted.plan.effect).toMatchObject({ kind: 'DeletePod', evict: true });
  expect(evicted.memory.refused).toBeUndefined();
  const past = await pass(portOf(new World(3), []), now + settings.retryFailed, settings, 'me', fresh, memory);
  expect(past.memory.refused).toBeUndefined();
});

test('a refusal continues only for the same pod, and while the eviction is requested repeatedly', async () => {
  const world = new World(3).sts({ updateRevision: 'r2' }).commit();
  const port = portOf(world, []);
  port.workload.evictPod = () => Promise.reject(new NotNow('no room'));
  const memory = { ...emptyMemory(0), since: world.o.since, ...(world.o.hash && { hash: world.o.hash }) };
  const sinceAfter = async (ago: number, podUid: string) => {
    const refused = { at: now - ago, since: now - settings.retryFailed, podUid, message: 'no room' };
    const { plan, memory: after } = await pass(port, now, settings, 'me', fresh, { ...memory, refused });
    const held = plan.conditions.find(({ type }) => type === 'Stalled')?.status;
    return [after.refused?.podUid, now - after.refused!.since, held];
  };
  expect(await sinceAfter(settings.evictAgain, 'pod-2')).toEqual(['pod-2', settings.retryFailed, 'True']);
  expect(await sinceAfter(settings.retryFailed - 1, 'pod-2')).toEqual(['pod-2', 0, 'False']);
  expect(await sinceAfter(settings.evictAgain, 'pod-1')).toEqual(['pod-2', 0, 'False']);
});

test('what fails repeatedly is reported until it succeeds', async () => {
  const world = new World(3).sts({ updateRevision: 'r2' });
  world.doc({ lastBackup: { id: 'b', revision: -1, sha256: '', at: '' } });
  const port = portOf(world, []);
  let memory: Memory = { ...emptyMemory(0), since: world.o.since, ...(world.o.hash && { hash: world.o.hash }) };
  const heldAfter = async (times: number) => {
    for (let i = 0; i < times; i++) memory = (await pass(port, now, settings, 'me', fresh, memory)).memory;
    const { plan } = await pass(port, now, settings, 'me', fresh, memory);
    return plan.conditions.find(({ type }) => type === 'Stalled');
  };
  expect(await heldAfter(4)).toMatchObject({ reason: 'NoActionRequired' });
  const held = await heldAfter(1);
  expect(held).toMatchObject({ status: 'True', reason: 'ActionFailing' });
  expect(held?.message).toMatch(/^RestartPod: this record is not written: .*lastBackup.revision/);
  Object.assign(port, portOf(new World(3), []));
  expect(await heldAfter(1)).toMatchObject({ reason: 'NoActionRequired' });
});

test('also where there is no record yet', async () => {
  const world = new World(3).set({ record: known(undefined), claims: known([]), pods: known([]), agents: {} });
  world.resource({ status: {} });
  const port = portOf(world, []);
  port.records.write = () => Promise.reject(new Error('POST configmaps: forbidden'));
  let memory = emptyMemory(0);
  for (let i = 0; i < 5; i++) memory = (await pass(port, now, settings, 'me', fresh, memory)).memory;
  const { plan } = await pass(port, now, settings, 'me', fresh, memory);
  expect(plan.conditions).toContainEqual(
    expect.objectContaining({
      type: 'Stalled',
      reason: 'ActionFailing',
      message: expect.stringContaining('forbidden'),
    }),
  );
});

test('what was done under an operation is forgotten with it', async () => {
  const op = {
    id: 'a',
    kind: 'ClearNoSpace' as const,
    step: 'compact' as const,
    revision: 1,
    done: [],
    holder: '',
    startedAt: '',
  };
  const alarms: Observed['alarms'] = { known: true, v: [{ memberId: idOf(1), type: 'NoSpace' }] };
  const world = new World(3).set({ alarms }).op(op);
  const { calls, memory } = await passes(world, [now]);
  expect(calls).toEqual([['compact', 1]]);
  expect(memory.done).toEqual(['compact a 1']);
  expect((await passes(world.op({ ...op, id: 'b' }), [now], memory)).calls).toEqual([['compact', 1]]);
});

test('how long a pod is not ready is remembered, and forgotten when it is', async () => {
  const look = (world: World, at: number, memory: Memory) =>
    pass(portOf(world, []), at, defaultSettings, 'holder', fresh, memory);
  const first = await look(new World(3).pod(1, { ready: false }), now, emptyMemory(0));
  const second = await look(new World(3).pod(1, { ready: false }), now + 1, first.memory);
  expect(second.observed.since.unready).toEqual({ 1: now });
  expect((await look(new World(3), now + 2, second.memory)).observed.since.unready).toEqual({});
});

test('how long the record could not be read is remembered, and forgotten when it can', async () => {
  const blind = new World(3).set({ record: { known: false, why: 'forbidden' } });
  const look = (world: World, at: number, memory: Memory) =>
    pass(portOf(world, []), at, defaultSettings, 'holder', fresh, memory);
  const first = await look(blind, now, emptyMemory(0));
  const second = await look(blind, now + 1, first.memory);
  expect(second.observed.since.blind).toBe(now);
  expect((await look(new World(3), now + 2, second.memory)).observed.since.blind).toBeUndefined();
});

test('how long the manifests are those of another spec is remembered, and forgotten when they are not', async () => {
  const look = (world: World, at: number, memory: Memory) =>
    pass(portOf(world, []), at, defaultSettings, 'holder', fresh, memory);
  const outdated = () => new World(3).sts({ madeFrom: 'labels=1' }).resource({ madeFrom: 'labels=2' });
  const first = await look(outdated(), now, emptyMemory(0));
  const blind = await look(outdated().set({ record: { known: false, why: 'forbidden' } }), now + 1, first.memory);
  const third = await look(outdated(), now + 2, blind.memory);
  expect(third.observed.since.outdated).toBe(now);
  expect((await look(new World(3), now + 3, third.memory)).observed.since.outdated).toBeUndefined();
});

test('a missing pod counts as one that does not answer, with and without a record', async () => {
  const world = new World(3).pods((pods) => pods.slice(0, 2));
  const { since } = (await pass(portOf(world, []), now, defaultSettings, 'holder', fresh, emptyMemory(0))).observed;
  expect(since.silent).toEqual({ 2: now });
  const without = world.set({ record: { known: true, v: undefined } });
  const seen = await pass(portOf(without, []), now, defaultSettings, 'holder', fresh, emptyMemory(0));
  expect(seen.observed.since.silent).toEqual({ 2: now });
});

test('a record that could not be read is not written', async () => {
  const calls: unknown[][] = [];
  const op = { id: 'o', holder: 'h', startedAt: '', kind: 'Promote', ordinal: -1, memberId: 'feed' } as const;
  const effect = { kind: 'WriteRecord', doc: { ...new World(3).record, op }, basedOn: 'rv-10' } as const;
  await expect(act(effect, portOf(new World(3), calls))).rejects.toThrow('op.ordinal');
  expect(calls).toEqual([]);
});

test('the status reports a record that cannot be read, but not one that could not be read once', async () => {
  const port = portOf(new World(3), []);
  port.records.read = () => Promise.reject(new Error('no answer'));
  const told = async () => {
    const { plan, observed } = await pass(port, now, settings, 'me', fresh, emptyMemory(0));
    expect(plan.effect).toBeUndefined();
    return clusterStatus(observed, plan.conditions, now, settings);
  };
  expect(await told()).toBeUndefined();
  port.records.read = () => Promise.reject(new Unreadable('the record is not followed: op.ordinal: too small'));
  const status = await told();
  const held = status?.conditions.find(({ type }) => type === 'Stalled');
  expect(held).toMatchObject({ status: 'True', reason: 'RecordUnreadable' });
  expect(held?.message).toMatch('op.ordinal: too small');
  expect(status).toMatchObject({ reason: 'RecordUnreadable' });
});

test('a pass that throws carries out nothing, and the status reports it in place of what the last one found', async () => {
  const world = new World(3).doc({ tombstones: undefined as never });
  const calls: unknown[][] = [];
  const look = (memory: Memory) => pass(portOf(world, calls), now, settings, 'me', fresh, memory);
  const first = await look(emptyMemory(0));
  expect(first.error).toBeInstanceOf(TypeError);
  expect((await look(first.memory)).memory.failures).toBe(2);
  expect(calls).toEqual([]);
  const status = clusterStatus(first.observed, first.plan.conditions, now, settings);
  const states = status?.conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
  expect(states).toEqual(
    expect.arrayContaining(['Ready Unknown StateUnknown', 'Available Unknown StateUnknown', 'Stalled True PassFailed']),
  );
  expect(status).toMatchObject({ phase: 'Stalled', reason: 'PassFailed' });
  expect(status?.message).toContain('undefined');
});

test('nothing is decided before the domain of the member names is known', async () => {
  const world = new World(3).sts({ replicas: 1 });
  const { domain: _, ...nameless } = world.cluster;
  world.set({ cluster: known(nameless) });
  const { calls, plan } = await passes(world, [now]);
  expect(calls).toEqual([]);
  expect(plan?.why).toMatch('the EtcdCluster is unknown: the StatefulSet, which names the domain');
  let asked = 0;
  const port = portOf(world, calls);
  // The StatefulSet, which is read at the same time, contains the domain.
  port.clusters.cluster = () => Promise.resolve(asked++ === 0 ? nameless : world.cluster);
  await pass(port, now, settings, 'me', fresh, emptyMemory(0));
  expect(calls).toEqual([['scale', 3, 'sts-rv', 1]]);
});

test('a clearing that was dropped is not remembered as one that cleared', async () => {
  const op = { id: 'o', holder: 'h', startedAt: '', kind: 'ClearNoSpace', step: 'disarm', revision: 1 } as const;
  const alarms: Observed['alarms'] = { known: true, v: [{ memberId: idOf(1), type: 'NoSpace' }] };
  const world = new World(3).set({ alarms }).op({ ...op, done: [0, 1, 2].map(idOf) });
  const clearing = await passes(world, [now]);
  const { calls } = await passes(world.op(undefined), [now + 11 * second], clearing.memory);
  expect(calls).toEqual([
    ['write', expect.objectContaining({ op: expect.objectContaining({ step: 'compact' }) }), 'rv-10'],
  ]);
});

test('how long a pod of a Job has not started is remembered, also when the Jobs are not read this once', async () => {
  const job = { kind: 'restore', uid: 'j', op: 'o', state: 'Running', deleting: false } as const;
  const world = new World(3).set({ jobs: known([{ ...job, waits: 'no node' }]) });
  const first = await passes(world, [now]);
  const blind = await passes(world.set({ jobs: unknown('no answer') }), [now + second], first.memory);
  const again = await passes(
    world.set({ jobs: known([{ ...job, waits: 'no node' }]) }),
    [now + 2 * second],
    blind.memory,
  );
  expect(again.memory.since.jobWaits).toEqual({ j: now });
  const runs = await passes(world.set({ jobs: known([job]) }), [now + 3 * second], again.memory);
  expect(runs.memory.since.jobWaits).toEqual({});
});

test('the step of a defragmentation is reported before the call, which may take minutes', async () => {
  const calls: unknown[][] = [];
  const memory = emptyMemory(0);
  const world = new World(3).op({
    ...{ id: 'd', holder: 'h', startedAt: '', kind: 'Defragment', at: '2026-01-01T00:00:00Z', done: [] },
    present: { memberId: idOf(2), pod: 'c-2', before: 1, by: memory.self },
  });
  world.spec({ maintenance: { defragment: { at: '2026-01-01T00:00:00Z' } } });
  const port = portOf(world, calls);
  const first = await pass(port, now, settings, 'me', fresh, { ...memory, since: world.o.since });
  expect(calls).toEqual([]);
  expect(first.plan.requeueMs).toBe(settings.next);
  const told = clusterStatus(first.observed, first.plan.conditions, now, settings);
  expect(told?.operation?.steps.map(({ name }) => name)).toEqual(['defragment c-2']);
  const second = await pass(port, now, settings, 'me', fresh, first.memory);
  expect(calls).toEqual([['defrag', idOf(2)]]);
  expect(second.memory.done).toEqual([`defragment d ${idOf(2)}`]);
});

test('what was seen while another reconciler follows the cluster does not count after a takeover', async () => {
  const world = new World(3);
  const at = async (time: number, memory: Memory, followedBy: string | undefined) => {
    world.resource({ followedBy });
    return (await pass(portOf(world, []), time, settings, 'me', fresh, memory)).memory;
  };
  const watched = await at(now - 1000, await at(now - 60_000, emptyMemory(0), 'other'), 'other');
  expect(watched.since).toMatchObject({ holder: now - 1000, healthy: {} });
  const taken = await at(now, watched, undefined);
  expect(taken.since).toMatchObject({ holder: now - 1000, healthy: { [idOf(0)]: now } });
});
