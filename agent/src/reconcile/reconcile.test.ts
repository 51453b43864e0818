import type { AgentStatus } from './agent-status.ts';
import { emptyMemory, type Memory } from './observe.ts';
import { asking, idOf, now, World } from './observed.fixture.ts';
import type { Observed } from './observed.ts';
import type { Port } from './port.ts';
import { pass } from './reconcile.ts';
import { defaultSettings } from './settings.ts';

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
      annotateClaim: note('annotateClaim'),
      deletePod: note('deletePod'),
      deleteClaim: note('deleteClaim'),
    },
    jobs: { jobs: () => value(o.jobs), create: note('createJob'), remove: note('removeJob') },
    membership: {
      members: async () => ({ clusterId: change.clusterId ?? 'cluster-1', members: await value(o.members) }),
      addLearner: note('addLearner'),
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
  expect(calls).toEqual([['scale', 3, 'sts-rv']]);
});

test.each([
  {
    there: 'it is still to be done',
    world: new World(3).sts({ replicas: 1, rv: 'newer' }),
    does: [['scale', 3, 'newer']],
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

test('an effect that fails is told, and tried again ever more slowly', async () => {
  const world = new World(3).sts({ replicas: 1 });
  const port = portOf(world, []);
  port.workload.scale = () => Promise.reject(new Error('409'));
  const first = await pass(port, now, settings, 'me', fresh, emptyMemory(0));
  expect(first).toMatchObject({ error: { message: '409' }, memory: { failures: 1 } });
  const third = await pass(port, now, settings, 'me', fresh, { ...first.memory, failures: 3 });
  expect(third.plan.requeueMs).toBe(8 * second);
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
  expect(memory.done).toEqual(['compact a']);
  expect((await passes(world.op({ ...op, id: 'b' }), [now], memory)).calls).toEqual([['compact', 1]]);
});
