import { condition, PluginTest, paths } from './plugin.fixture.ts';

let plugin: PluginTest;
beforeEach(async () => {
  plugin = await PluginTest.start();
  plugin.putCluster('orders', {}, { backup: { schedules: [{ name: 'hourly' }] } });
});
afterEach(() => plugin[Symbol.asyncDispose]());

const cluster = () => plugin.api.object<{ spec: Record<string, unknown> }>(paths.of('etcdclusters', 'orders'))!;
const writes = () => plugin.api.requests.filter((request) => !request.startsWith('GET'));

describe('pause and resume', () => {
  test('they set spec.paused', async () => {
    expect(await plugin.run('pause orders')).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^orders: paused\. /),
    });
    expect(cluster().spec.paused).toBe(true);
    expect(await plugin.run('resume')).toMatchObject({ exit: 0, out: expect.stringMatching(/^orders: resumed\. /) });
    expect(cluster().spec.paused).toBe(false);
  });
});

describe('--dry-run', () => {
  test.each(['pause', 'restart', 'replace orders-1', 'backup', 'move-leader', 'defrag', 'defrag orders-2'])(
    '%s changes nothing, and prints what it would send',
    async (args) => {
      const ended = await plugin.run(`${args} --dry-run --context test`);
      expect(ended.exit).toBe(0);
      expect(ended.out).toMatch(
        /^kubectl --context=test --kubeconfig=\S+ patch \w+ orders -n shop --type=merge -p '\{.*\}'\n$|"kind": "EtcdBackup"/,
      );
      expect(writes()).toEqual([]);
    },
  );
});

describe('restart', () => {
  test('changes the pod template, as kubectl rollout restart does', async () => {
    plugin.api.put(paths.of('statefulsets', 'orders'), { spec: { template: { spec: {} } } });
    expect((await plugin.run('restart')).exit).toBe(0);
    const { spec } = plugin.api.object<{ spec: object }>(paths.of('statefulsets', 'orders'))!;
    expect(spec).toMatchObject({
      template: {
        metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': expect.stringMatching(/^\d{4}-.*Z$/) } },
      },
    });
  });

  test('is refused while quorum is lost', async () => {
    plugin.putCluster('orders', { conditions: [condition('QuorumLost', 'True', 'MajorityDown', 'x')] });
    expect(await plugin.run('restart')).toMatchObject({ exit: 7, err: expect.stringContaining('lost its quorum') });
    expect(writes()).toEqual([]);
  });
});

describe('replace', () => {
  test.each(['orders-1', '1', 'a1'])('%s, confirmed: names the member by ordinal and id', async (member) => {
    plugin.putCluster(
      'orders',
      {},
      {
        replace: {
          force: [
            { ordinal: 2, memberId: 'b2' },
            { ordinal: 1, memberId: 'old' },
          ],
        },
      },
    );
    const ended = await plugin.run(`replace ${member}`, { answers: ['yes'] });
    expect(ended).toMatchObject({
      exit: 0,
      err: expect.stringMatching(
        /^In namespace shop, context test, server http:\S+:\norders-1 \(id a1, Follower, healthy\) is removed/,
      ),
    });
    expect(cluster().spec.replace).toEqual({
      force: [
        { ordinal: 2, memberId: 'b2' },
        { ordinal: 1, memberId: 'a1' },
      ],
    });
  });

  test('no: nothing is changed', async () => {
    expect(await plugin.run('replace orders-1', { answers: ['y'] })).toMatchObject({ exit: 7 });
    expect(writes()).toEqual([]);
  });

  test('--yes does not ask; without a terminal it is needed', async () => {
    expect(await plugin.run('replace orders-1')).toMatchObject({ exit: 2, err: expect.stringContaining('pass --yes') });
    expect(writes()).toEqual([]);
    expect((await plugin.run('replace orders-1 --yes --discard-volume')).exit).toBe(0);
    expect(cluster().spec.replace).toEqual({ force: [{ ordinal: 1, memberId: 'a1', discardVolume: true }] });
  });

  test('a member that does not exist', async () => {
    expect(await plugin.run('replace orders-9 --yes')).toMatchObject({
      exit: 3,
      err: "error: orders has no member 'orders-9'; known: orders-0 (a0), orders-1 (a1), orders-2 (a2)\n",
    });
  });

  test('a cluster that somebody changed meanwhile is not overwritten', async () => {
    const { fault } = plugin.api;
    plugin.api.fault = (request, response, path) => {
      if (request.method === 'PATCH') plugin.putCluster('orders');
      return fault(request, response, path);
    };
    expect(await plugin.run('replace orders-1 --yes')).toMatchObject({
      exit: 7,
      err: expect.stringContaining('run the command again'),
    });
  });
});

describe('backup', () => {
  const created = () => plugin.api.objects<{ spec: object }>(paths.of('etcdbackups'));
  const end = async (status: object) => {
    while (created().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const [object] = created();
    plugin.api.put(paths.of('etcdbackups', object!.metadata.name), { ...object, status });
  };
  const times = { startTime: '2026-11-26T10:00:00Z', completionTime: '2026-11-26T10:00:42Z' };

  test('follows an EtcdBackup, and ends with its result', async () => {
    const running = plugin.run('backup', { isTTY: true });
    await end({
      phase: 'Completed',
      reason: 'Stored',
      snapshotId: 's1',
      revision: 7,
      sizeBytes: 1024,
      verified: 'open',
      ...times,
    });
    const ended = await running;
    expect(ended).toMatchObject({
      exit: 0,
      out: expect.stringMatching(
        /^orders-\d{8}-\d{6}: Completed: snapshot s1, revision 7, 1\.0 KiB, verified: open, in 42s\n$/,
      ),
    });
    expect(created()[0]!.spec).toEqual({ clusterName: 'orders', schedule: 'hourly' });
  });

  test('a failure is an exit code of its own', async () => {
    const running = plugin.run('backup --as b1');
    await end({ phase: 'Failed', reason: 'StoreRefused', message: 'no such bucket', ...times });
    expect(await running).toMatchObject({ exit: 6, out: 'b1: Failed (StoreRefused): no such bucket\n' });
  });

  test('the seconds before a reconciler sees it are no warning', async () => {
    const running = plugin.run('backup --as b1');
    await end({ phase: 'Pending', reason: 'NotSeen', message: 'no reconciler has reported a status yet' });
    // Two looks.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await end({ phase: 'Failed', reason: 'StoreRefused', message: 'no such bucket', ...times });
    const { err } = await running;
    expect(err).toContain('b1: waiting for the reconciler');
    expect(err).not.toContain('no reconciler');
  });

  test('Ctrl-C leaves it running, and says so', async () => {
    const stop = new AbortController();
    const running = plugin.run('backup --as b1', { signal: stop.signal });
    await end({ phase: 'BackingUp', reason: 'Running' });
    stop.abort();
    expect(await running).toMatchObject({
      exit: 130,
      err: expect.stringMatching(
        /EtcdBackup b1 goes on; kubectl etcd backups orders -n shop --context=test \S+ shows it/,
      ),
    });
    expect(created()).toHaveLength(1);
  });

  test('of several schedules one must be named, and it must exist', async () => {
    expect(await plugin.run('backup --schedule daily')).toMatchObject({
      exit: 2,
      err: expect.stringContaining("no schedule 'daily'; known: hourly"),
    });
    plugin.putCluster('orders', {}, { backup: { schedules: [{ name: 'hourly' }, { name: 'daily' }] } });
    expect(await plugin.run('backup')).toMatchObject({ exit: 2, err: expect.stringContaining('name one') });
    expect((await plugin.run('backup --schedule daily --no-wait')).exit).toBe(0);
    expect(created()[0]!.spec).toEqual({ clusterName: 'orders', schedule: 'daily' });
  });
});

test('backups lists those of the cluster, newest first, with why one is not complete', async () => {
  const put = (name: string, creationTimestamp: string, status: object, clusterName = 'orders') =>
    plugin.api.put(paths.of('etcdbackups', name), { metadata: { creationTimestamp }, spec: { clusterName }, status });
  put('b1', '2026-11-26T10:00:00Z', {
    phase: 'Completed',
    reason: 'Stored',
    revision: 7,
    sizeBytes: 2048,
    verified: 'read',
  });
  put('b2', '2026-11-26T11:00:00Z', { phase: 'Failed', reason: 'StoreRefused', message: 'no such bucket' });
  put('other', '2026-11-26T11:00:00Z', {}, 'carts');
  const { out, exit } = await plugin.run('backups');
  expect(exit).toBe(0);
  expect(out).toMatch(
    /^NAME +PHASE .*\nb2 +Failed .*\n {4}StoreRefused: no such bucket\nb1 +Completed +\S+ +7 +2\.0 KiB +read\n/,
  );
  expect(out).not.toContain('other');
  expect(out).toMatch(/Newest good backup: snapshot 20261126T140000Z-1, /);
  expect(JSON.parse((await plugin.run('backups -o json')).out).backups).toHaveLength(2);
});
