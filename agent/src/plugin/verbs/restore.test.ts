import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ago, condition, PluginTest, paths } from '../plugin.fixture.ts';

const store = { s3: { bucket: 'etcd-backup', region: 'eu-west-1' } };

const quorum = condition('QuorumLost', 'False', 'Serving', 'a quorum answers');

let plugin: PluginTest;
beforeEach(async () => {
  plugin = await PluginTest.start();
  plugin.putCluster(
    'orders',
    { conditions: [condition('Available', 'True', 'Serving', 'x'), quorum] },
    { backup: { schedules: [{ name: 'hourly', stores: [{ ...store, retention: { last: 3 } }] }] } },
  );
  const status = {
    phase: 'Completed',
    snapshotId: 's1',
    revision: 7,
    sizeBytes: 2048,
    verified: 'open',
    startTime: ago(5400),
    completionTime: ago(5390),
  };
  plugin.api.put(paths.of('etcdbackups', 'b1'), { spec: { clusterName: 'orders' }, status });
});
afterEach(() => plugin[Symbol.asyncDispose]());

const created = () => plugin.api.objects<{ spec: object }>(paths.of('etcdrestores'));
const end = async (status: object) => {
  while (created().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const [object] = created();
  plugin.api.put(paths.of('etcdrestores', object!.metadata.name), { ...object, status });
};

describe('restore', () => {
  test('says what is lost, asks for the name of the cluster, and ends with the result', async () => {
    const running = plugin.run('restore --backup b1', { answers: ['orders'] });
    await end({
      phase: 'Completed',
      snapshotId: 's1',
      safetyBackupId: 's2',
      startTime: ago(60),
      completionTime: ago(0),
    });
    const ended = await running;
    expect(ended.exit).toBe(0);
    expect(ended.err).toMatch(/^In namespace shop, context test, server http:\/\/127\.0\.0\.1:\d+:\n/);
    expect(ended.err).toMatch(/gets the data of EtcdBackup b1 \(snapshot s1, revision 7, 2\.0 KiB, verified:\s+open\)/);
    expect(ended.err).toMatch(/LOST is everything that was written after \S+ \(1h [\dms ]+ago\)/);
    expect(ended.err).toContain('The present data is backed up first.');
    expect(ended.out).toMatch(/Completed in 1m: snapshot s1; the data before is snapshot s2; take a backup now/);
    expect(created()[0]!.spec).toEqual({
      ...{ clusterName: 'orders', source: { backupName: 'b1' } },
      again: expect.stringMatching(/^orders-restore-/),
    });
  });

  test('what is lost begins when the snapshot was taken, not when its Job was created', async () => {
    plugin.api.put(paths.of('etcdbackups', 'b1'), {
      spec: { clusterName: 'orders' },
      status: { phase: 'Completed', snapshotId: 's1', startTime: ago(21_600), snapshotTime: ago(605) },
    });
    const { err } = await plugin.run('restore --backup b1', { answers: ['no'] });
    expect(err).toMatch(/LOST is everything that was written after \S+ \(10m [\ds ]+ago\)/);
    expect((await plugin.run('restore')).err).toMatch(/b1 \(10m [\ds ]+ago\)/);
    expect((await plugin.run('backups')).out).toMatch(/^b1 +Completed +10m\b/m);
  });

  test.each([[['yes']], [['']], [['Orders']]])('the answer %j changes nothing', async (answers) => {
    expect(await plugin.run('restore --backup b1', { answers })).toMatchObject({
      exit: 7,
      err: expect.stringContaining('nothing was changed'),
    });
    expect(created()).toEqual([]);
  });

  test('without a terminal it needs --yes; without a quorum there is no safety backup', async () => {
    plugin.putCluster('orders', { conditions: [condition('QuorumLost', 'True', 'AllVolumesLost', 'x')] });
    expect(await plugin.run('restore --backup b1')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('cannot be backed up first'),
    });
    expect(created()).toEqual([]);
    expect((await plugin.run('restore --backup b1 --yes --no-wait --no-safety-backup --as r1')).exit).toBe(0);
    expect(created()[0]!.spec).toMatchObject({ safetyBackup: false });
  });

  test('a backup of another cluster replaces everything, and that is said', async () => {
    plugin.api.put(paths.of('etcdbackups', 'b2'), {
      spec: { clusterName: 'carts' },
      status: { phase: 'Completed', snapshotId: 's2', startTime: ago(60) },
    });
    const { err } = await plugin.run('restore --backup b2', { answers: ['no'] });
    expect(err).toMatch(/a\s+backup\s+of\s+another\s+cluster,\s+carts/);
    expect(err).toMatch(/LOST\s+is\s+ALL\s+present\s+data\s+of\s+orders/);
    expect(err).not.toContain('written after');
  });

  test.each([
    ['without a status', undefined],
    ['without conditions', { observedAt: ago(10), conditions: [] }],
    ['of an old status', { observedAt: ago(86_400) }],
  ])('%s it is not known whether the present data is backed up first', async (_, status) => {
    if (status) plugin.putCluster('orders', { conditions: [quorum], ...status });
    else plugin.api.put(paths.of('etcdclusters', 'orders'), { spec: { size: 3 } });
    const { err } = await plugin.run('restore --backup b1', { answers: ['no'] });
    expect(err).not.toContain('The present data is backed up first.');
    expect(err).toMatch(/It\s+is\s+not\s+known\s+whether\s+the\s+present\s+data\s+can\s+be\s+backed\s+up\s+first/);
    if (status && 'conditions' in status === false) expect(err).toMatch(/orders was .* ago/);
  });

  test('one that retention has deleted is neither offered nor promised', async () => {
    const path = paths.of('etcdbackups', 'b1');
    const present = plugin.api.object<{ status: object }>(path)!;
    plugin.api.put(path, { ...present, status: { ...present.status, snapshotDeletedAt: ago(60) } });
    const { err } = await plugin.run('restore --backup b1', { answers: ['no'] });
    expect(err.replaceAll(/\s+/g, ' ')).toContain('Retention deleted this snapshot at');
    expect((await plugin.run('restore')).err).toContain('there is no completed EtcdBackup');
    expect((await plugin.run('backups')).out).toMatch(/b1\s+Deleted[\s\S]*retention deleted its snapshot/);
  });

  test('a snapshot is described by the EtcdBackup that stored it, and one that none names is said to be unknown', async () => {
    const ask = async (id: string) =>
      (await plugin.run(`restore --snapshot ${id}`, { answers: ['no'] })).err.replaceAll(/\s+/g, ' ');
    const known = await ask('s1');
    expect(known).toContain('gets the data of EtcdBackup b1 (snapshot s1, revision 7, 2.0 KiB, verified: open)');
    expect(known).toMatch(/LOST is everything that was written after \S+ \(1h [\dms ]+ago\)/);
    expect(known).not.toContain('cannot be shown');
    const restore = { spec: { clusterName: 'orders' }, status: { phase: 'Completed', safetyBackupId: 's2' } };
    plugin.api.put(paths.of('etcdrestores', 'monday'), restore);
    expect(await ask('s2')).toContain('snapshot s2, the safety backup of EtcdRestore monday');
    const unknown = await ask('s9');
    expect(unknown).toMatch(
      /No EtcdBackup names this snapshot, so its time and its cluster cannot be shown\. kubectl etcd/,
    );
    expect(unknown).toContain('and all of it if the snapshot is of another cluster');
  });

  test('a backup that cannot be read is not one that does not exist', async () => {
    plugin.fail('etcdbackups');
    expect(await plugin.run('restore --backup b1')).toMatchObject({ exit: 5 });
  });

  test('from the store of a schedule, without its retention; --dry-run prints the object', async () => {
    const { out, exit } = await plugin.run('restore --before 2026-11-21T02:30:00Z --dry-run');
    expect(exit).toBe(0);
    expect(JSON.parse(out).spec).toEqual({
      clusterName: 'orders',
      source: { store, latestVerifiedBefore: '2026-11-21T02:30:00Z' },
      again: expect.any(String),
    });
    expect(JSON.parse((await plugin.run('restore --snapshot s9 --dry-run')).out).spec.source).toEqual({
      store,
      snapshotId: 's9',
    });
    expect(created()).toEqual([]);
  });

  test('without a source it offers the newest backups', async () => {
    expect(await plugin.run('restore')).toMatchObject({
      exit: 2,
      err: expect.stringMatching(
        /^error: give one of --backup, --snapshot and --before; the newest EtcdBackups: b1 \(.*ago\)\n$/,
      ),
    });
    expect(await plugin.run('restore --backup no')).toMatchObject({ exit: 3 });
    expect(await plugin.run('restore --before soon')).toMatchObject({ exit: 2 });
  });

  test('a failure says why; Ctrl-C says how to take it back', async () => {
    const failing = plugin.run('restore --backup b1 --yes --as r1');
    await end({ phase: 'Failed', reason: 'SnapshotRefused', message: 'it is damaged' });
    expect(await failing).toMatchObject({ exit: 6, out: 'r1: Failed (SnapshotRefused): it is damaged\n' });
    const stop = new AbortController();
    stop.abort();
    const stopped = await plugin.run('restore --backup b1 --yes --as r2', { signal: stop.signal });
    expect(stopped).toMatchObject({
      exit: 130,
      err: expect.stringMatching(/kubectl --context=test --kubeconfig=\S+ delete etcdrestore r2 -n shop/),
    });
  });
});

describe('ctl', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubectl-'));
    await kubectl('etcdserver: permission denied');
  });
  const kubectl = async (says: string): Promise<void> => {
    const program = `#!/bin/sh\nprintf '%s\\n' "$@" > ${directory}/args\necho '${says}' >&2\nexit 9\n`;
    await writeFile(join(directory, 'kubectl'), program);
    await chmod(join(directory, 'kubectl'), 0o755);
  };
  afterEach(() => rm(directory, { recursive: true }));

  const ctl = async (spec: object): Promise<string[]> => {
    plugin.putCluster('orders', {}, spec);
    const words = ['ctl', `--kubeconfig=${await plugin.kubeconfig()}`, '--', 'get', '--prefix', '/a b'];
    expect((await plugin.runWords(words, { env: { PATH: `${directory}:${process.env.PATH}` } })).exit).toBe(9);
    return (await readFile(join(directory, 'args'), 'utf8')).trimEnd().split('\n');
  };

  test('runs etcdctl in a healthy member through kubectl, with the exit code of that', async () => {
    const flags = ['--context=test', expect.stringMatching(/^--kubeconfig=/)];
    const before = [...flags, 'exec', '-i', '-n', 'shop', 'orders-0', '-c', 'etcd', '--', 'etcdctl'];
    expect(await ctl({})).toEqual([...before, '--endpoints=http://localhost:2379', 'get', '--prefix', '/a b']);
    expect(await ctl({ tls: { clientSecret: 'x' } })).toEqual(
      expect.arrayContaining(['--endpoints=https://localhost:2379', '--cert=/etc/etcd/tls/server/tls.crt']),
    );
  });

  test.each(['AuthenticationOn', 'AuthenticationOff'] as const)('a refusal with %s', async (reason) => {
    plugin.putCluster('orders', { conditions: [condition('AuthReady', 'True', reason, 'x')] });
    const words = ['ctl', `--kubeconfig=${await plugin.kubeconfig()}`, '--', 'get', '/a'];
    const { err } = await plugin.runWords(words, { env: { PATH: `${directory}:${process.env.PATH}` } });
    expect(/may read and write no key/.test(err)).toBe(reason === 'AuthenticationOn');
  });

  test('other failures are passed on without advice; the API server’s refusal ends with 4', async () => {
    plugin.putCluster('orders', { conditions: [condition('AuthReady', 'True', 'AuthenticationOn', 'x')] });
    const words = ['ctl', `--kubeconfig=${await plugin.kubeconfig()}`, '--', 'get'];
    const run = () => plugin.runWords(words, { env: { PATH: `${directory}:${process.env.PATH}` } });
    await kubectl('Error: get command needs one argument');
    expect(await run()).toMatchObject({ exit: 9, err: 'Error: get command needs one argument\n' });
    await kubectl('Error from server (Forbidden): pods "orders-0" is forbidden');
    expect(await run()).toMatchObject({ exit: 4, err: expect.not.stringContaining('no key') });
  });

  test('a pod in the status whose name is a flag runs nothing', async () => {
    const [member] = plugin.api.object<{ status: { members: object[] } }>(paths.of('etcdclusters', 'orders'))!.status
      .members;
    plugin.putCluster('orders', { members: [{ ...member, pod: '--kubeconfig=/tmp/x', healthy: true } as never] });
    const words = ['ctl', `--kubeconfig=${await plugin.kubeconfig()}`, '--', 'version'];
    const ended = await plugin.runWords(words, { env: { PATH: `${directory}:${process.env.PATH}` } });
    expect(ended).toMatchObject({ exit: 7, err: expect.stringContaining("names a pod '--kubeconfig=/tmp/x'") });
  });

  test('without a command, or in a pod of something else, it runs nothing', async () => {
    expect(await plugin.run('ctl')).toMatchObject({ exit: 2, err: expect.stringContaining('after --') });
    const words = ['ctl', '-m', 'web-0', `--kubeconfig=${await plugin.kubeconfig()}`, '--', 'version'];
    expect(await plugin.runWords(words)).toMatchObject({ exit: 3, err: expect.stringContaining("no member 'web-0'") });
  });
});
