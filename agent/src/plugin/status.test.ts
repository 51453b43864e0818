import { ago, condition, type Ended, PluginTest, paths } from './plugin.fixture.ts';

let plugin: PluginTest;
beforeEach(async () => {
  plugin = await PluginTest.start();
});
afterEach(() => plugin[Symbol.asyncDispose]());

const widest = ({ out }: Ended): number => Math.max(...out.split('\n').map((line) => line.length));

function putPods(): void {
  for (const ordinal of [0, 1, 2]) {
    const labels = {
      'app.kubernetes.io/name': 'etcd',
      'app.kubernetes.io/instance': 'orders',
      'app.kubernetes.io/component': 'member',
    };
    plugin.api.put(paths.of('pods', `orders-${ordinal}`), {
      metadata: { labels },
      spec: { nodeName: `node-${ordinal}` },
    });
    plugin.api.put(paths.of('persistentvolumeclaims', `data-orders-${ordinal}`), {
      metadata: { labels },
      status: { capacity: { storage: '8Gi' } },
    });
  }
}

describe('status', () => {
  test('a healthy cluster fits one screen, and ends with 0', async () => {
    plugin.putCluster('orders', {}, { backup: { schedules: [{ name: 'hourly', cron: '0 * * * *' }] } });
    putPods();
    const ended = await plugin.run('status');
    expect(ended).toMatchObject({ exit: 0, err: '' });
    expect(ended.out).toMatch(/^orders in shop: Ready \(UpToDate\)\n/);
    expect(ended.out).toMatch(/orders-0 +Leader +3\.6\.16 +25\.0 MiB +0 +8Gi +node-0 +healthy\n/);
    expect(ended.out).toMatch(/observed \d+s\s+ago/);
    expect(ended.out).toContain('none in progress');
    expect(ended.out).toMatch(/last good: 2\dm( \d+s)? ago, schedule hourly, revision 1234, 25\.0 MiB/);
    expect(ended.out).toContain('hourly (0 * * * *)');
    expect(ended.out).toMatch(/orders-server-tls: valid until .*, 90 days/);
    expect(ended.out).not.toContain('Not shown');
    expect(ended.out).not.toContain('\x1b');
    expect(widest(ended)).toBeLessThanOrEqual(80);
    expect(ended.out.split('\n').length).toBeLessThan(30);
  });

  test('a member whose pod is being deleted is not called healthy', async () => {
    plugin.putCluster('orders');
    putPods();
    const path = paths.of('pods', 'orders-1');
    const { metadata, ...pod } = plugin.api.object(path)!;
    plugin.api.put(path, { ...pod, metadata: { ...metadata, deletionTimestamp: ago(3) } });
    expect((await plugin.run('status')).out).toMatch(/orders-1 .* Terminating\n/);
  });

  test('what RBAC refuses is left out, with one line that names it', async () => {
    plugin.putCluster('orders');
    plugin.forbid('pods', 'persistentvolumeclaims', 'leases', 'events', 'etcdbackups', 'configmaps', 'statefulsets');
    plugin.forbid('etcdrestores', 'etcdusers');
    const ended = await plugin.run('status orders');
    expect(ended.exit).toBe(0);
    expect(ended.out).toMatch(/orders-0 +Leader +3\.6\.16 +25\.0 MiB +0 +\? +\? +healthy\n/);
    expect(ended.out.match(/Not shown, because you may not read it: .*pods/g)).toHaveLength(1);
    expect(widest(ended)).toBeLessThanOrEqual(80);
  });

  test('the first line says that a status is old, and the cluster does not count as healthy', async () => {
    plugin.putCluster('orders', { observedAt: ago(3 * 3600 + 1800) });
    plugin.api.put(paths.of('leases', 'etcd-reconciler'), {
      spec: { holderIdentity: 'etcd-reconciler-x', renewTime: ago(9000) },
    });
    const ended = await plugin.run('status');
    expect(ended.exit).toBe(6);
    expect(ended.out).toMatch(/^orders in shop: STATUS IS 3h \d+m OLD, no reconciler keeps it up to date;/);
    expect(ended.out).toMatch(/etcd-reconciler-x renewed its Lease\s+2h \d+m ago/);
    expect(ended.out).toMatch(
      /To find out why: kubectl\s+--context=test\s+--kubeconfig=\S+\s+get\s+deployment,pods,lease\s+-n\s+shop,\s+and\s+kubectl\s+etcd\s+explain\s+EtcdReconcilerDown/,
    );
    expect(ended.out).toMatch(/Operation\n {2}unknown/);
  });

  test('without any status it says so, and shows nothing as known', async () => {
    plugin.api.put(paths.of('etcdclusters', 'orders'), { spec: { size: 3, version: '3.6.16' } });
    const ended = await plugin.run('status');
    expect(ended.exit).toBe(6);
    expect(ended.out).toMatch(/^orders in shop: NO RECONCILER HAS REPORTED YET\n/);
    expect(ended.out).toContain('? of 3 members ready, etcd ?, 3.6.16 requested, leader unknown');
  });

  test('what needs a person comes with its reason and message; expected reasons do not', async () => {
    plugin.putCluster('orders', {
      phase: 'Degraded',
      reason: 'MemberDown',
      conditions: [
        condition('Available', 'True', 'Serving', 'a quorum answers'),
        condition('Degraded', 'True', 'MemberDown', 'orders-1 on node-b does not answer'),
        condition('BackupHealthy', 'False', 'NoSchedule', 'there is no backup schedule'),
      ],
    });
    const ended = await plugin.run('status');
    expect(ended.exit).toBe(6);
    expect(ended.out).toMatch(
      /Needs you\n {2}Degraded: MemberDown: orders-1 on node-b does not answer \(kubectl etcd\n {4}explain MemberDown\)\n/,
    );
    expect(ended.out).not.toContain('NoSchedule');
  });

  test('an operation shows its steps and how long each took; who waits, for what', async () => {
    plugin.putCluster('orders', {
      conditions: [condition('Progressing', 'True', 'ClearingNoSpace', 'orders-1 is next')],
      operation: {
        type: 'ClearingNoSpace',
        startedAt: ago(100),
        steps: [
          { name: 'compact the revisions', startedAt: ago(100), endedAt: ago(90) },
          { name: 'defragment the databases', startedAt: ago(90) },
        ],
        next: ['clear the alarm'],
      },
      waiting: { for: 'ClearNoSpace.defrag waits: all voters healthy', since: ago(60) },
    });
    plugin.api.put(paths.of('etcdbackups', 'b1'), {
      spec: { clusterName: 'orders' },
      status: { phase: 'Pending', reason: 'AnotherRuns', message: 'b0 comes first' },
    });
    plugin.api.put(paths.of('etcdbackups', 'other'), { spec: { clusterName: 'other' }, status: { phase: 'Pending' } });
    const { out } = await plugin.run('status');
    expect(out).toMatch(
      /ClearingNoSpace, for [\dms ]+\n {2}done: compact the revisions \(10s\)\n {2}now: defragment the databases, for [\dms ]+\n {2}next: clear the alarm\n {2}the action ClearNoSpace\.defrag has waited for [\dms ]+, now for: all voters\s+healthy\n {2}orders-1 is next/,
    );
    expect(out).toContain('EtcdBackup b1: Pending, AnotherRuns: b0 comes first');
    expect(out).not.toContain('EtcdBackup other');
  });

  test('the last operation stays visible', async () => {
    plugin.putCluster('orders', {
      lastOperation: {
        type: 'Growing',
        target: '5',
        startedAt: ago(70),
        endedAt: ago(10),
        outcome: 'Completed',
        steps: [],
      },
    });
    const { out } = await plugin.run('status');
    expect(out).toMatch(/none in progress; the last: Growing to 5, completed \d+s ago after 1m\n/);
  });

  test('only the newest steps that are done are shown', async () => {
    const steps = [0, 1, 2, 3, 4, 5, 6].map((n) => ({
      name: `restart orders-${n}`,
      startedAt: ago(90),
      endedAt: ago(80),
    }));
    plugin.putCluster('orders', { operation: { type: 'RollingRestart', startedAt: ago(100), steps } });
    const { out } = await plugin.run('status');
    expect(out).toContain('done: 2 earlier steps\n  done: restart orders-2 (10s)');
    expect(out).not.toContain('orders-1 (');
  });

  test('a restore names its EtcdRestore, with its phase until the reconciler reports steps', async () => {
    plugin.putCluster('orders');
    plugin.api.put(paths.of('etcdrestores', 'r1'), {
      spec: { clusterName: 'orders' },
      status: { phase: 'Fencing', startTime: ago(61), message: 'the pods are stopped' },
    });
    const { out } = await plugin.run('status');
    expect(out).toMatch(/Restoring, phase Fencing by EtcdRestore r1, for [\dms ]+\n {2}the pods are stopped/);
  });

  test.each([
    ['of the restore itself', { safetyBackupId: '20261126T140000Z-1', startTime: ago(1500) }, true],
    ['from before the restore', { startTime: ago(1000) }, true],
    ['from after it', { startTime: ago(2000) }, false],
    ['from before a restore that restored nothing', { startTime: ago(1000), reason: 'AlreadyRestored' }, false],
  ])('the last good backup is %s', async (_, status, isReplaced) => {
    plugin.putCluster('orders');
    plugin.api.put(paths.of('etcdrestores', 'r1'), {
      spec: { clusterName: 'orders' },
      status: { phase: 'Completed', ...status },
    });
    const { out } = await plugin.run('status');
    expect(/it has the data that EtcdRestore r1 replaced;/.test(out)).toBe(isReplaced);
  });

  test('an upgrade is not called that of an EtcdRestore that began meanwhile', async () => {
    const operation = { type: 'Upgrading', target: '3.7.3', startedAt: ago(600), steps: [] };
    plugin.putCluster('orders', { operation });
    plugin.api.put(paths.of('etcdrestores', 'r1'), {
      spec: { clusterName: 'orders' },
      status: { phase: 'Verifying', startTime: ago(61) },
    });
    const { out } = await plugin.run('status');
    expect(out).toMatch(/Restoring, phase Verifying by EtcdRestore r1/);
    expect(out).not.toMatch(/Upgrading to 3\.7\.3 by/);
  });

  test('-o json has the same for programs', async () => {
    plugin.putCluster('orders');
    putPods();
    const { out, exit } = await plugin.run('status -o json');
    expect(exit).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      schema: 'cdk8s-etcd/status/v1',
      cluster: 'orders',
      healthy: true,
      members: [{ pod: 'orders-0', node: 'node-0', volumeSize: '8Gi' }, {}, {}],
      notShown: [],
    });
  });

  test('a message cannot move the cursor, and a terminal gets colors', async () => {
    plugin.putCluster('orders', { message: 'evil \x1b[2J\nmessage' });
    const { out } = await plugin.run('status', { isTTY: true });
    expect(out).toContain(`\x1b[32m${'orders in shop: Ready (UpToDate)'}\x1b[0m`);
    expect(out).toContain('evil [2J message');
    expect(out).not.toContain('\x1b[2J');
  });

  test.each([
    ['no conditions', { conditions: [] }],
    ['Available is Unknown', { conditions: [condition('Available', 'Unknown', 'StateUnknown', 'nobody answered')] }],
    [
      'an Unknown that is not expected',
      {
        conditions: [
          condition('Available', 'True', 'Serving', 'x'),
          condition('Alarm', 'Unknown', 'StateUnknown', 'nobody answered'),
        ],
      },
    ],
    ['a time in the future', { observedAt: ago(-3600) }],
  ])('what is not known is not healthy: %s', async (_, status) => {
    plugin.putCluster('orders', status);
    const { out, exit } = await plugin.run('status -o json');
    expect(exit).toBe(6);
    expect(JSON.parse(out)).toMatchObject({ healthy: false });
  });

  test('an Unknown for an expected reason needs nobody', async () => {
    plugin.putCluster('orders', {
      conditions: [
        condition('Available', 'True', 'Serving', 'x'),
        condition('QuorumLost', 'Unknown', 'Bootstrapping', 'x'),
      ],
    });
    expect(await plugin.run('status')).toMatchObject({ exit: 0 });
  });

  test('a version of etcd with known vulnerabilities needs somebody, and its line says what to use', async () => {
    const message = 'etcd 3.6.11 has known vulnerabilities: …; use 3.6.14 or newer';
    plugin.putCluster('orders', {
      conditions: [
        condition('Available', 'True', 'Serving', 'x'),
        condition('VersionSafe', 'False', 'KnownVulnerabilities', message),
      ],
    });
    expect(await plugin.run('status')).toMatchObject({ exit: 6, out: expect.stringContaining('use 3.6.14 or newer') });
  });

  describe('what etcd cannot be asked', () => {
    const unknown = (type: 'Alarm' | 'AuthReady' | 'TransportReady') =>
      condition(type, 'Unknown', 'StateUnknown', 'nobody answered');
    const serving = condition('Available', 'True', 'Serving', 'x');
    const all = [serving, unknown('Alarm'), unknown('AuthReady'), unknown('TransportReady')];
    const addUser = () => plugin.api.put(paths.of('etcdusers', 'app'), { spec: { clusterName: 'orders' } });

    test('needs nobody while an operation is in progress', async () => {
      addUser();
      plugin.putCluster('orders', { conditions: all });
      expect(await plugin.run('status')).toMatchObject({ exit: 6, out: expect.stringContaining('Needs you') });
      const operation = { type: 'Bootstrapping', startedAt: ago(30), steps: [] };
      plugin.putCluster('orders', { conditions: all, operation });
      expect(await plugin.run('status')).toMatchObject({ exit: 0, out: expect.not.stringContaining('Needs you') });
    });

    test('needs nobody while a restore is prepared, but the quorum still does', async () => {
      const lost = condition('QuorumLost', 'True', 'MajorityDown', 'x');
      plugin.putCluster('orders', { conditions: [...all, lost] });
      const status = { phase: 'Fencing', startTime: ago(61) };
      plugin.api.put(paths.of('etcdrestores', 'r1'), { spec: { clusterName: 'orders' }, status });
      const { out } = await plugin.run('status -o json');
      expect(JSON.parse(out).needsYou).toMatchObject([{ condition: 'QuorumLost' }]);
    });

    test('is not asked for if there is neither an EtcdUser nor spec.auth', async () => {
      const conditions = [serving, unknown('AuthReady')];
      plugin.putCluster('orders', { conditions });
      expect((await plugin.run('status')).exit).toBe(0);
      plugin.putCluster('orders', { conditions }, { auth: false });
      expect((await plugin.run('status')).exit).toBe(6);
      plugin.putCluster('orders', { conditions });
      addUser();
      expect((await plugin.run('status')).exit).toBe(6);
      plugin.forbid('etcdusers');
      expect((await plugin.run('status')).exit).toBe(6);
    });
  });

  test('a status whose reconciler let its Lease expire is not current', async () => {
    plugin.putCluster('orders');
    const put = (seconds: number) =>
      plugin.api.put(paths.of('leases', 'etcd-reconciler'), {
        spec: { holderIdentity: 'r', leaseDurationSeconds: 15, renewTime: ago(seconds) },
      });
    put(5);
    expect((await plugin.run('status')).exit).toBe(0);
    put(600);
    const ended = await plugin.run('status');
    expect(ended.exit).toBe(6);
    expect(ended.out).toMatch(/no reconciler keeps it up to date/);
  });

  test('what the API server fails to give is left out and named', async () => {
    plugin.putCluster('orders');
    plugin.fail('events', 'pods', 'etcdusers');
    const ended = await plugin.run('status');
    expect(ended.exit).toBe(0);
    expect(ended.out).toMatch(/Not shown, because it could not be read: pods \(the API server fails: etcdserver/);
    expect(ended.out).toMatch(/orders-0 +Leader/);
  });

  test('a restore without a status waits, and is not the operation', async () => {
    plugin.putCluster('orders');
    plugin.api.put(paths.of('etcdrestores', 'r1'), { spec: { clusterName: 'orders' } });
    const { out } = await plugin.run('status');
    expect(out).toContain('none in progress');
    expect(out).toMatch(/Waiting\n {2}EtcdRestore r1/);
  });

  test('long names and reasons fit 80 columns', async () => {
    const name = 'a-cluster-with-22-char';
    plugin.putCluster(name);
    const { status } = plugin.api.object<{ status: { members: object[] } }>(paths.of('etcdclusters', name))!;
    plugin.putCluster(name, {
      members: status.members.map((each) => ({ ...each, healthy: false, reason: 'AgentUnreachable' })) as never,
    });
    expect(widest(await plugin.run('status'))).toBeLessThanOrEqual(80);
  });

  test('warnings are those of the cluster, also of its claims, and not those of another', async () => {
    plugin.putCluster('orders');
    for (const [kind, name] of [
      ['PersistentVolumeClaim', 'data-orders-0'],
      ['EtcdCluster', 'orders-eu'],
      ['Pod', 'orders-eu-0'],
    ])
      plugin.api.put(paths.of('events', `${name}.1`), {
        involvedObject: { kind, name },
        type: 'Warning',
        reason: 'R',
        message: 'm',
        lastTimestamp: ago(5),
      });
    const { out } = await plugin.run('status');
    expect(out).toContain('data-orders-0: R');
    expect(out).not.toContain('orders-eu');
  });

  test('--watch goes on until Ctrl-C', async () => {
    plugin.putCluster('orders');
    const stop = new AbortController();
    const running = plugin.run('status --watch', { isTTY: true, signal: stop.signal });
    while (plugin.api.asked('GET /apis/cdk8s-etcd.dev/v1alpha1/namespaces/shop/etcdclusters') < 2)
      await new Promise((resolve) => setTimeout(resolve, 50));
    stop.abort();
    expect(await running).toMatchObject({ exit: 130, err: '' });
  });
});

describe('which cluster', () => {
  test('without a name, several are listed', async () => {
    for (const name of ['orders', 'carts']) plugin.putCluster(name);
    expect(await plugin.run('status')).toEqual({
      exit: 2,
      out: '',
      err: 'error: the namespace shop has 2 EtcdClusters; name one: orders, carts\n',
    });
    expect((await plugin.run('status carts')).out).toMatch(/^carts in shop/);
  });

  test('one that does not exist', async () => {
    const said = `in the namespace shop; kubectl etcd list -A --context=test --kubeconfig=${await plugin.kubeconfig()} shows all\n`;
    expect(await plugin.run('status')).toMatchObject({ exit: 3, err: `error: there is no EtcdCluster ${said}` });
    expect(await plugin.run('status no')).toMatchObject({ exit: 3, err: `error: there is no EtcdCluster no ${said}` });
  });
});

describe('errors', () => {
  test('each is one line, with its own exit code', async () => {
    plugin.forbid('etcdclusters');
    expect(await plugin.run('list')).toMatchObject({
      exit: 4,
      err: 'error: you may not do this: etcdclusters is forbidden: User "ann" cannot read resource "etcdclusters"\n',
    });
    const nobody = await plugin.kubeconfig('http://127.0.0.1:9');
    const unreachable = await plugin.runWords(['list', `--kubeconfig=${nobody}`]);
    expect(unreachable).toMatchObject({ exit: 5 });
    expect(unreachable.err).toMatch(/^error: cannot reach the API server http:\/\/127\.0\.0\.1:9: .*ECONNREFUSED.*\n$/);
  });

  test.each([
    [['list', '--nonsense'], /^error: unknown option '--nonsense'; --help shows the usage\n$/],
    [['list', '-o', 'xml'], /^error: option .* Allowed choices are text, json; --help shows the usage\n$/],
    [['nonsense'], /^error: there is no verb 'nonsense'; kubectl etcd --help lists them\n$/],
    [['list', '--kubeconfig=/nowhere'], /^error: kubeconfig: .*ENOENT.*\n$/],
  ])('%j is a mistake in usage', async (words, said) => {
    expect(await plugin.runWords(words)).toMatchObject({ exit: 2, out: '', err: expect.stringMatching(said) });
  });

  test('an unknown context names those that exist', async () => {
    expect(await plugin.run('list --context prod')).toMatchObject({
      exit: 2,
      err: "error: kubeconfig: there is no context 'prod'; known: test\n",
    });
  });

  test('help is a result', async () => {
    const ended = await plugin.runWords(['--help']);
    expect(ended).toMatchObject({ exit: 0, err: '' });
    expect(ended.out).toContain('status [options] [name]');
    expect((await plugin.runWords([])).out).toBe(ended.out);
    expect((await plugin.runWords(['status', '--help'])).out).toContain('--kubeconfig <file>');
  });
});
