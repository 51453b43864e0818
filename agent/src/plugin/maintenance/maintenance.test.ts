// What is asked for once, by spec.maintenance.
import type { ClusterStatus, ReportedMaintenance } from '../../protocol/cluster-status.ts';
import type { MaintenanceKind } from '../../protocol/record.ts';
import { ago, condition, PluginTest, paths } from '../plugin.fixture.ts';

let plugin: PluginTest;
beforeEach(async () => {
  plugin = await PluginTest.start();
  plugin.putCluster('orders');
});
afterEach(() => plugin[Symbol.asyncDispose]());

interface Request {
  readonly at: string;
  readonly ordinal?: number;
}
interface Object {
  readonly spec: { readonly maintenance?: Partial<Record<MaintenanceKind, Request>> };
  readonly status: ClusterStatus;
}

const path = paths.of('etcdclusters', 'orders');
const cluster = () => plugin.api.object<Object>(path)!;
const asked = (kind: MaintenanceKind) => cluster().spec.maintenance?.[kind];
const writes = () => plugin.api.requests.filter((request) => !request.startsWith('GET'));
const looks = () => plugin.api.asked(`GET ${path}`);
const sleep = () => new Promise((resolve) => setTimeout(resolve, 20));

/** Waits until it is asked for, and until that has been looked at. */
async function requested(kind: MaintenanceKind): Promise<Request> {
  while (!asked(kind)) await sleep();
  const before = looks();
  while (looks() === before) await sleep();
  return asked(kind)!;
}

/** Plays the reconciler. */
function report(kind: MaintenanceKind, told: ReportedMaintenance): void {
  const { status, ...object } = cluster();
  plugin.api.put(path, { ...object, status: { ...status, maintenance: { ...status.maintenance, [kind]: told } } });
}

/** Plays somebody else who changes spec.maintenance. */
const put = (maintenance: object | undefined) =>
  plugin.api.put(path, { ...cluster(), spec: { ...cluster().spec, maintenance } });

const members = (change: (ordinal: number) => object) =>
  plugin.putCluster('orders', {
    members: cluster().status.members.map((each) => ({ ...each, ...change(each.ordinal) })),
  });

describe('who is meant', () => {
  test.each([
    ['defrag', 'defragment', undefined],
    ['defrag all orders', 'defragment', undefined],
    ['defrag orders-2', 'defragment', 2],
    ['defrag 0', 'defragment', 0],
    ['move-leader a2', 'moveLeader', 2],
    ['move-leader any orders', 'moveLeader', 1],
  ] as const)('%s', async (args, kind, ordinal) => {
    const ended = await plugin.run(`${args} --no-wait`);
    expect(ended).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/kubectl etcd status orders -n shop --context=test \S+ shows what comes of it/),
    });
    const { at, ...rest } = asked(kind)!;
    expect(rest).toEqual(ordinal === undefined ? {} : { ordinal });
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(10_000);
  });

  test('the member of an older request does not stay, and onNoSpace does', async () => {
    put({ onNoSpace: 'Report', defragment: { at: ago(60), ordinal: 1 } });
    expect((await plugin.run('defrag --no-wait')).exit).toBe(0);
    expect(cluster().spec.maintenance).toEqual({ onNoSpace: 'Report', defragment: { at: asked('defragment')!.at } });
  });

  test('move-leader takes the healthy voter that lags least', async () => {
    members((ordinal) => ({ lag: [0, 7, 3][ordinal] }));
    expect((await plugin.run('move-leader --no-wait')).exit).toBe(0);
    expect(asked('moveLeader')).toMatchObject({ ordinal: 2 });
    members((ordinal) => ({ healthy: ordinal !== 2 }));
    expect((await plugin.run('move-leader --no-wait')).exit).toBe(0);
    expect(asked('moveLeader')).toMatchObject({ ordinal: 1 });
    members((ordinal) => ({ role: ordinal === 1 ? 'Learner' : 'Leader' }));
    expect(await plugin.run('move-leader')).toMatchObject({
      exit: 7,
      err: expect.stringContaining('no other voting member'),
    });
  });

  test('a member that leads already', async () => {
    expect(await plugin.run('move-leader orders-0')).toMatchObject({
      exit: 0,
      out: 'orders-0 is the leader already\n',
    });
    expect(writes()).toEqual([]);
  });

  test.each(['move-leader orders-9', 'defrag orders-9'])('%s: there is none', async (args) => {
    expect(await plugin.run(args)).toMatchObject({ exit: 3, err: expect.stringContaining("no member 'orders-9'") });
  });

  test.each(['move-leader orders-1', 'defrag', 'defrag orders-1', 'defrag orders-2'])(
    '%s is refused while orders-1 is not healthy, or without a quorum',
    async (args) => {
      members((ordinal) => ({ healthy: ordinal !== 1 }));
      expect(await plugin.run(args)).toMatchObject({ exit: 7, err: expect.stringContaining('not healthy') });
      plugin.putCluster('orders', { conditions: [condition('QuorumLost', 'True', 'MajorityDown', 'x')] });
      expect(await plugin.run(args)).toMatchObject({ exit: 7, err: expect.stringContaining('lost its quorum') });
      expect(writes()).toEqual([]);
    },
  );
});

describe('the time of a request', () => {
  const later = ago(-30);
  const next = new Date(Date.parse(later) + 1).toISOString();

  test('is newer than the one that was tried', async () => {
    report('defragment', { at: later, phase: 'Completed', message: 'x' });
    expect((await plugin.run('defrag --no-wait')).exit).toBe(0);
    expect(asked('defragment')).toEqual({ at: next });
  });

  test('is newer than the one that waits', async () => {
    put({ moveLeader: { at: later, ordinal: 2 } });
    expect((await plugin.run('move-leader --no-wait')).exit).toBe(0);
    expect(asked('moveLeader')).toEqual({ at: next, ordinal: 1 });
  });

  test('is by the clock of the API server', async () => {
    plugin.api.fault = (_, response) => {
      response.setHeader('date', new Date(Date.now() + 7_200_000).toUTCString());
      return false;
    };
    expect((await plugin.run('defrag --no-wait')).exit).toBe(0);
    expect(Math.abs(Date.parse(asked('defragment')!.at) - Date.now() - 7_200_000)).toBeLessThan(10_000);
  });

  test('is not in the future because that of another is', async () => {
    const future = ago(-7200);
    put({ defragment: { at: future } });
    report('defragment', { at: future, phase: 'Waiting', message: 'its time has not come' });
    const refused = await plugin.run('defrag --no-wait');
    expect(refused).toMatchObject({
      exit: 7,
      err: expect.stringMatching(new RegExp(`orders has a request of ${future}, which is in the future; take it back`)),
    });
    expect(refused.err).toContain(`-p '{"spec":{"maintenance":{"defragment":null}}}'`);
    expect(writes()).toEqual([]);
    // Taken back, it still is in the status.
    put({});
    expect((await plugin.run('defrag --no-wait')).exit).toBe(0);

    report('defragment', { at: future, phase: 'Completed', message: 'x' });
    expect(await plugin.run('defrag')).toMatchObject({ exit: 7, err: expect.stringContaining('a clock was wrong') });
  });
});

describe('following', () => {
  test('shows what it waits for, and ends with what the reconciler says', async () => {
    const running = plugin.run('move-leader 1');
    const { at } = await requested('moveLeader');
    report('moveLeader', { at, phase: 'Waiting', message: 'operation \x1b[2JRestartPod is in flight' });
    await requested('moveLeader');
    report('moveLeader', { at: at.replace('Z', '000+00:00'), phase: 'Completed', message: 'orders-1 leads' });
    expect(await running).toEqual({
      exit: 0,
      out: 'orders: Completed: orders-1 leads\n',
      err: 'orders: Waiting (the reconciler has not seen it yet)\norders: Waiting (operation  [2JRestartPod is in flight)\n',
    });
  });

  test('the result of an older request is not that of this one', async () => {
    report('defragment', { at: ago(5), phase: 'Completed', message: 'older' });
    const running = plugin.run('defrag');
    const { at } = await requested('defragment');
    report('defragment', { at, phase: 'Failed', message: 'orders-1 does not answer' });
    expect(await running).toMatchObject({ exit: 6, out: 'orders: Failed: orders-1 does not answer\n' });
  });

  test.each([
    ['replaced', { defragment: { at: ago(-1) } }, /^orders: Failed: somebody has replaced the request by that of 20/],
    ['taken back', {}, /^orders: Failed: somebody has taken the request back\n$/],
  ])('ends when the request is %s', async (_, maintenance, out) => {
    const running = plugin.run('defrag');
    await requested('defragment');
    put(maintenance);
    expect(await running).toMatchObject({ exit: 6, out: expect.stringMatching(out) });
  });

  test('ends when a newer one came first', async () => {
    const running = plugin.run('defrag');
    await requested('defragment');
    report('defragment', { at: ago(-20), phase: 'Running', message: 'x' });
    expect(await running).toMatchObject({ exit: 6, out: expect.stringContaining('came first; run the command again') });
  });

  test('goes on after it is taken back too late', async () => {
    const running = plugin.run('defrag');
    const { at } = await requested('defragment');
    report('defragment', { at, phase: 'Running', message: 'it has begun' });
    put({});
    const before = looks();
    while (looks() < before + 2) await sleep();
    report('defragment', { at, phase: 'Completed', message: 'done' });
    expect(await running).toMatchObject({ exit: 0, out: 'orders: Completed: done\n' });
  });

  test('ends when the cluster is gone', async () => {
    const running = plugin.run('defrag');
    await requested('defragment');
    plugin.api.delete(path);
    expect(await running).toMatchObject({
      exit: 3,
      err: expect.stringContaining('error: the EtcdCluster orders is gone, and the request with it\n'),
    });
  });

  test('Ctrl-C leaves the request, and says how to take it back', async () => {
    const stop = new AbortController();
    const running = plugin.run('defrag', { signal: stop.signal });
    await requested('defragment');
    stop.abort();
    const { exit, err } = await running;
    expect(exit).toBe(130);
    expect(err).toMatch(
      /the request stays; until it begins, this takes it back: kubectl --context=test --kubeconfig=\S+ patch etcdcluster orders -n shop --type=merge -p '{"spec":{"maintenance":{"defragment":null}}}'\n$/,
    );
    expect(asked('defragment')).toBeDefined();
  });

  test('says that no reconciler keeps the status up to date', async () => {
    plugin.putCluster('orders', { observedAt: ago(3700) });
    expect(await plugin.run('defrag --no-wait')).toMatchObject({
      exit: 0,
      err: expect.stringContaining('no reconciler keeps it up to date'),
    });
  });

  test('does not begin if the API server does not know the field', async () => {
    plugin.api.fault = (request, response) => {
      if (request.method !== 'PATCH') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...cluster(), spec: { maintenance: { onNoSpace: 'Report' } } }));
      return true;
    };
    for (const args of ['defrag', 'move-leader --no-wait'])
      expect(await plugin.run(args)).toMatchObject({
        exit: 7,
        out: '',
        err: expect.stringContaining('CustomResourceDefinitions are older than this kubectl-etcd'),
      });
  });
});

describe('status', () => {
  const status = async () => (await plugin.run('status')).out;

  test('shows a request until some time after its end, in 80 columns', async () => {
    put({ moveLeader: { at: ago(5), ordinal: 1 } });
    expect(await status()).toMatch(
      /Operation\n {2}none in progress\n {2}move of the leader, requested \ds ago: Waiting: the reconciler has not seen\n {4}it yet\n/,
    );
    report('moveLeader', { at: ago(4000), phase: 'Completed', message: 'orders-1 leads' });
    put({});
    report('defragment', { at: ago(90), phase: 'Running', message: `evil \x1b[2J ${'long '.repeat(40)}` });
    const out = await status();
    expect(out).toMatch(/defragmentation, requested 1m[ \ds]* ago: Running: evil \[2J long/);
    expect(out).toMatch(/move of the leader, requested 1h 6m ago: Completed: orders-1 leads\n/);
    expect(out).not.toContain('\x1b');
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    report('moveLeader', { at: ago(7300), phase: 'Failed', message: 'x' });
    expect(await status()).not.toContain('move of the leader');
  });

  test('one that was taken back does not wait', async () => {
    report('defragment', { at: ago(60), phase: 'Waiting', message: 'the cluster is paused' });
    expect(await status()).not.toContain('defragmentation');
    expect(JSON.parse((await plugin.run('status -o json')).out).maintenance).toBeUndefined();
  });

  test('one whose time has not come', async () => {
    const at = ago(-3600);
    put({ defragment: { at } });
    report('defragment', { at, phase: 'Waiting', message: 'its time has not come' });
    expect((await status()).replaceAll(/\s+/g, ' ')).toContain(
      `defragmentation, requested for ${at}: Waiting: its time has not come`,
    );
  });

  test('-o json has it', async () => {
    report('defragment', { at: '2026-01-01T00:00:00Z', phase: 'Failed', message: 'm' });
    expect(JSON.parse((await plugin.run('status -o json')).out)).toMatchObject({
      maintenance: { defragment: { at: '2026-01-01T00:00:00Z', phase: 'Failed', message: 'm' } },
    });
  });
});

test('a reconciler that has seen the request, and does not know it, is named, and the command ends', async () => {
  const meta = { generation: 7 };
  plugin.api.put(path, {
    ...cluster(),
    metadata: meta,
    status: { ...cluster().status, observedGeneration: 7, reconciler: { lease: 'etcd-reconciler', version: '0.1.0' } },
  } as never);
  const ended = await plugin.run('defrag');
  expect(ended).toMatchObject({
    exit: 6,
    err: expect.stringMatching(/version 0\.1\.0\) does not know this request; .*patch etcdcluster orders/),
  });
}, 30_000);
