import { known, unknown } from '../../../protocol/known.ts';
import type { ReportedRequest, Requests } from '../../../protocol/requests.ts';
import { agent, idOf, status, now as time, World } from '../observed.fixture.ts';
import type { Port } from '../port.ts';
import { defaultSettings } from '../settings.ts';
import { requestEvents } from './events.ts';
import { obey } from './obey.ts';

const mebibyte = 1024 ** 2;

/** A cluster that serves, whose annotations are these, and a port that carries out what is requested. */
class Requested {
  readonly world = new World();
  readonly sent: string[] = [];
  readonly points: string[] = [];
  reports: readonly ReportedRequest[] | undefined = [];
  fails: Error | undefined;
  stale = false;
  readonly stop = new AbortController();

  constructor(requests: Requests) {
    this.world.resource({ requests });
  }

  /** Runs one pass, whose reports become the status. */
  async pass(): Promise<readonly ReportedRequest[]> {
    const { world } = this;
    const send = async (what: string) => {
      if (this.fails) throw this.fails;
      this.sent.push(what);
    };
    const port = {
      lookAgain: () => this.stale,
      membership: { moveLeader: (from: string, to: string) => send(`${from} to ${to}`) },
      maintenance: {
        defrag: (id: string) => send(`defrag ${id}`),
        status: async () => status({ dbSize: 8 * mebibyte }),
      },
    } as unknown as Port;
    const at = (point: string) => void this.points.push(point);
    const run = { port, settings: defaultSettings, signal: this.stop.signal, at };
    this.reports = await obey(run, { observed: world.o, plan: world.plan() }, time);
    const { cluster } = world.o;
    if (cluster.known && cluster.v && this.reports)
      world.set({ cluster: known({ ...cluster.v, status: { ...cluster.v.status, requests: this.reports } }) });
    return this.reports ?? [];
  }

  async phases(passes: number): Promise<string[]> {
    const found: string[] = [];
    for (let n = 0; n < passes; n++)
      found.push(...(await this.pass()).map(({ phase, message }) => `${phase}: ${message}`));
    return found;
  }
}

const move = (to = 'c-1') => new Requested({ 'move-leader': `t1 ${to}` });

describe('move-leader', () => {
  test('is announced in the status, done once, and never again', async () => {
    const asked = move();
    expect(await asked.phases(4)).toEqual([
      'Running: moving the leader to c-1',
      'Completed: c-1 leads',
      'Completed: c-1 leads',
      'Completed: c-1 leads',
    ]);
    expect(asked.sent).toEqual(['id-0 to id-1']);
    expect(asked.points).toEqual(['before Request.MoveLeader', 'after Request.MoveLeader']);
  });

  test('a member that leads already: nothing is sent', async () => {
    const asked = move('c-0');
    expect(await asked.phases(1)).toEqual(['Completed: c-0 leads']);
    expect(asked.sent).toEqual([]);
  });

  test.each([
    ['t1 c-7', 'c-7 is not a voting member; voting members: c-0, c-1, c-2'],
    ['t1', "'t1' names no member; write a text and the name of its pod"],
  ])('%s fails', async (request, message) => {
    const asked = new Requested({ 'move-leader': request });
    expect(await asked.phases(1)).toEqual([`Failed: ${message}`]);
  });

  test('another value is another request', async () => {
    const asked = move();
    await asked.phases(2);
    asked.world.resource({ requests: { 'move-leader': 't2 c-2' }, status: { requests: asked.reports! } });
    await asked.phases(2);
    expect(asked.sent).toEqual(['id-0 to id-1', 'id-0 to id-2']);
  });

  test('what etcd refuses has failed, and is not repeated', async () => {
    const asked = move();
    asked.fails = new Error('etcdserver: bad leader transferee');
    expect(await asked.phases(3)).toEqual([
      'Running: moving the leader to c-1',
      ...Array(2).fill('Failed: moving the leader to c-1: etcdserver: bad leader transferee'),
    ]);
  });

  test('a reconciler that ends meanwhile says nothing, so that its successor goes on', async () => {
    const asked = move();
    await asked.pass();
    asked.fails = new Error('the connections to etcd were closed');
    asked.stop.abort();
    await asked.pass();
    expect(asked.reports).toBeUndefined();
  });
});

describe('defrag', () => {
  const all = () => new Requested({ defrag: 't1' });

  test('each member once, the leader last, with the sizes', async () => {
    const asked = all();
    const seen = await asked.phases(7);
    expect(asked.sent).toEqual(['defrag id-1', 'defrag id-2', 'defrag id-0']);
    expect(seen.at(-1)).toBe(
      'Completed: c-1: 256.0 MiB to 8.0 MiB, c-2: 256.0 MiB to 8.0 MiB, c-0: 256.0 MiB to 8.0 MiB',
    );
    expect(asked.reports![0]!.members![0]).toEqual({ pod: 'c-1', before: 256 * mebibyte, after: 8 * mebibyte });
  });

  test('one member alone', async () => {
    const asked = new Requested({ defrag: 't1 c-0' });
    await asked.phases(4);
    expect(asked.sent).toEqual(['defrag id-0']);
  });

  test('no room for a copy: it fails before anything is written', async () => {
    const asked = all();
    const { volume, ...rest } = agent(1);
    asked.world.agent(1, { ...rest, volume: { ...volume, freeBytes: mebibyte } });
    expect(await asked.phases(1)).toEqual([
      'Failed: the volume of c-1 has no room for a copy of its database; make it larger',
    ]);
  });

  test('a member that goes away between two makes it wait; the members that are done stay done', async () => {
    const asked = all();
    await asked.phases(2);
    asked.world.down(2);
    expect((await asked.phases(1))[0]).toMatch(/^Waiting: /);
    expect(asked.reports![0]!.members).toHaveLength(1);
    asked.world.o.status[idOf(2)] = known(status());
    asked.world.o.since.healthy[idOf(2)] = 0;
    await asked.phases(5);
    expect(asked.sent).toEqual(['defrag id-1', 'defrag id-2', 'defrag id-0']);
  });

  test('an old observation: nothing is sent', async () => {
    const asked = all();
    asked.stale = true;
    await asked.phases(3);
    expect(asked.sent).toEqual([]);
  });
});

describe('never beside anything else', () => {
  const restart = { id: 'op', kind: 'RestartPod', holder: '', startedAt: '' } as never;
  test.each<[string, (world: World) => unknown, RegExp]>([
    ['an operation', (world) => world.op(restart), /operation RestartPod is in flight/],
    ['a pause', (world) => world.resource({ requests: both, spec: { ...world.cluster.spec, paused: true } }), /paused/],
    ['a deletion', (world) => world.resource({ requests: both, deleting: true }), /being deleted/],
    ['a permit', (world) => world.doc({ permits: { 1: {} as never } }), /a member joins/],
    [
      'an upgrade',
      (world) => world.doc({ versions: { ...world.record.versions, allowedMinors: ['3.6', '3.7'] } }),
      /./,
    ],
    ['a member that does not answer', (world) => world.down(1), /./],
    ['a member that has just come back', (world) => (world.o.since.healthy[idOf(1)] = time), /long enough|comes first/],
    ['a pod that is not ready', (world) => world.pod(1, { ready: false }), /c-1 is not ready|comes first/],
    ['a pod that goes', (world) => world.pod(1, { deleting: true }), /./],
    ['a missing pod', (world) => world.pods((pods) => pods.filter((each) => each.ordinal !== 1)), /./],
    [
      'a cluster that is to grow',
      (world) => world.resource({ requests: both, spec: { ...world.cluster.spec, size: 5 } }),
      /./,
    ],
    ['a lost quorum', (world) => world.noQuorum(), /./],
    [
      'an unknown record',
      (world) => world.set({ record: unknown('no answer') }),
      /the record of the cluster is not known/,
    ],
  ])('%s: both wait, and nothing is sent', async (_, change, why) => {
    const asked = new Requested(both);
    change(asked.world);
    const seen = [...(await asked.pass()), ...(await asked.pass())];
    expect(seen.map(({ phase }) => phase)).toEqual(Array(4).fill('Waiting'));
    for (const { message } of seen) expect(message).toMatch(why);
    expect(asked.sent).toEqual([]);
  });

  const both: Requests = { 'move-leader': 't1 c-1', defrag: 't1' };

  test('one after the other', async () => {
    const asked = new Requested(both);
    await asked.phases(2);
    expect(asked.sent).toEqual(['id-0 to id-1']);
    expect(asked.reports!.map(({ phase }) => phase)).toEqual(['Completed', 'Running']);
  });
});

test('without an annotation there is nothing to report; while the EtcdCluster is unknown, nothing is said', async () => {
  const asked = new Requested({});
  expect(await asked.pass()).toEqual([]);
  asked.world.set({ cluster: unknown('no answer') });
  await asked.pass();
  expect(asked.reports).toBeUndefined();
});

test('an Event reports each request that is over, once', () => {
  const of = (phase: ReportedRequest['phase']) =>
    ({ requests: [{ kind: 'defrag', request: 't1', phase, message: 'why' }] }) as never;
  expect(requestEvents(of('Running'), of('Completed'))).toEqual([
    { type: 'Normal', reason: 'RequestCompleted', message: 'defrag: why' },
  ]);
  expect(requestEvents(of('Running'), of('Failed'))).toEqual([
    { type: 'Warning', reason: 'RequestFailed', message: 'defrag: why' },
  ]);
  for (const before of ['Completed', 'Running'] as const) expect(requestEvents(of(before), of(before))).toEqual([]);
});
