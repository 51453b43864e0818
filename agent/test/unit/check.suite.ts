import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentError, ExitCode } from '../../src/lib/errors.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { runAgent } from '../harness/agent.ts';
import { etcdutl } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { freePorts } from '../harness/free-ports.ts';
import { runHere } from '../support/in-process.ts';

let etcd: EtcdCluster;
let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'check-'));
  etcd = await EtcdCluster.start();
  await etcd.put(10);
});
afterAll(async () => {
  await etcd?.stop();
  await rm(root, { recursive: true });
});

let store: string;
beforeEach(async () => {
  store = await mkdtemp(join(root, 'store-'));
});

const inStore = () => ['--cluster=orders', `--store=file://${store}`];
const check = (...more: string[]) => runHere('check', ...inStore(), `--etcdutl=${etcdutl()}`, ...more);
const withEtcd = () => `--endpoints=${etcd.endpoints.join()}`;
// biome-ignore lint/suspicious/noExplicitAny: a result's data
const of = (what: string, { data }: { data: any }) =>
  data.findings.filter(({ check }: { check: string }) => check === what);

test('the port for peers instead of that for clients is named', async () => {
  const { exitCode, text } = await check(`--endpoints=${etcd.member(0).peerUrl}`);
  expect([exitCode, text]).toEqual([
    ExitCode.etcdUnavailable,
    expect.stringContaining('if this is its port for peers (usually 2380), use that for clients (2379)'),
  ]);
});

test('without problems: a line for each item, and nothing is left in the store', async () => {
  const result = await check(withEtcd());
  expect(result).toMatchObject({ exitCode: 0, data: { failed: 0 } });
  for (const what of ['etcd', 'member', 'quorum', 'alarms', 'store', 'clock', 'snapshots', 'encryption', 'etcdutl']) {
    expect(of(what, result)).toMatchObject([{ outcome: 'ok' }]);
  }
  expect(of('member', result)[0].detail).toMatch(/: etcd 3\.\d+\.\d+, leader, .* in use/);
  expect(of('tls', result)).toMatchObject([{ outcome: 'warning' }]);
  expect(await readdir(store)).toEqual([]);
});

test('a clock that gives no valid time is called so', async () => {
  const { now } = FilesystemStore.prototype;
  FilesystemStore.prototype.now = async () => new Date(Number.NaN);
  const result = await check(withEtcd()).finally(() => {
    FilesystemStore.prototype.now = now;
  });
  expect(of('clock', result)).toMatchObject([
    {
      outcome: 'failed',
      detail: `file://${store}: the time of the store or of this machine is not valid: retention would delete nothing; set the clocks`,
    },
  ]);
});

test('a directory that did not exist is created, with a warning', async () => {
  await rm(store, { recursive: true });
  expect(of('store', await check(withEtcd()))).toMatchObject([
    { outcome: 'ok' },
    {
      outcome: 'warning',
      detail: expect.stringMatching(/^file:.*: the directory did not exist.* mistyped, remove it$/),
    },
  ]);
  expect(of('store', await check(withEtcd()))).toMatchObject([{ outcome: 'ok' }]);
});

test('a payload that has lost its manifest is a warning', async () => {
  const { data } = await runHere('backup', ...inStore(), withEtcd());
  const { id } = data.snapshot;
  const folder = join(store, 'orders');
  await rm(join(folder, `${id}.json`));
  const old = new Date(Date.now() - 2 * 3_600_000);
  for (const name of await readdir(folder)) await utimes(join(folder, name), old, old);
  expect(of('snapshots', await check(withEtcd()))).toMatchObject([
    { outcome: 'ok', detail: expect.stringMatching(/: 0, verified: 0/) },
    { outcome: 'warning', detail: expect.stringMatching(new RegExp(`^${id}: it has no manifest: .*was deleted`)) },
  ]);
});

test('snapshots of the same name in another namespace are not counted, but named', async () => {
  await runHere('backup', ...inStore(), '--namespace=prod', withEtcd());
  const [found] = of('snapshots', await check(withEtcd()));
  expect(found).toMatchObject({
    outcome: 'ok',
    detail: expect.stringMatching(
      /snapshots of orders: 0, verified: 0; it has snapshots of prod\/orders \(1\): check --namespace$/,
    ),
  });
  const prod = of('snapshots', await check(withEtcd(), '--namespace=prod'));
  expect(prod).toMatchObject([{ detail: expect.stringMatching(/snapshots of prod\/orders: 1, verified: 1$/) }]);
});

test('an alarm NOSPACE is a warning: backups go on', async () => {
  await using alarmed = await EtcdCluster.start({ extraArgs: ['--quota-backend-bytes', String(2 * 1024 * 1024)] });
  await alarmed.fill();
  const result = await check(`--endpoints=${alarmed.endpoints.join()}`);
  expect(of('alarms', result)).toMatchObject([
    { outcome: 'warning', detail: expect.stringMatching(/^NOSPACE .*backups still work/) },
  ]);
  expect(result.exitCode).toBe(0);
});

test('the exit code is that of the first failure', async () => {
  const [port] = await freePorts(1);
  const away = await check(`--endpoints=127.0.0.1:${port}`, '--dial-timeout=1s');
  expect(away.exitCode).toBe(ExitCode.etcdUnavailable);
  expect(of('store', away)).toMatchObject([{ outcome: 'ok' }]);

  await writeFile(join(store, 'file'), '');
  const noStore = await runHere(
    'check',
    '--cluster=orders',
    `--store=file://${store}/file/x`,
    withEtcd(),
    '--etcdutl=/nowhere',
  );
  expect(noStore.exitCode).toBe(ExitCode.storeRefused);
  expect(of('etcdutl', noStore)).toMatchObject([{ outcome: 'warning' }]);

  const keys = await check(withEtcd(), '--age-recipient=age1nonsense');
  expect(keys).toMatchObject({ exitCode: ExitCode.usage });
  expect(of('encryption', keys)).toMatchObject([{ outcome: 'failed' }]);
});

test('incomplete snapshots in the store are a warning', async () => {
  await mkdir(join(store, 'orders'));
  await writeFile(join(store, 'orders', 'etcd-snapshot-20260101-000000-abcdef.json'), '{"schema": "cdk8s');
  const result = await check();
  expect(result.exitCode).toBe(0);
  const problem = { outcome: 'warning', detail: expect.stringMatching(/cannot be read/) };
  expect(of('snapshots', result)).toMatchObject([{ outcome: 'ok' }, problem]);
  expect(of('etcd', result)).toMatchObject([{ outcome: 'warning' }]);
});

test('a backup reports its times and sizes, as JSON and as metrics, and a failed one removes none of them', async () => {
  const file = join(store, 'etcd.prom');
  const metrics = async () =>
    Object.fromEntries(
      (await readFile(file, 'utf8'))
        .split('\n')
        .filter((line) => line && !line.startsWith('#'))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
    );
  const args = ['backup', ...inStore(), '--output=json', `--metrics-file=${file}`, '--retention=last=3'];
  const { result } = await runAgent([...args, withEtcd()]);
  const { id: _, createdAt, sizeBytes, storedBytes, dbSize } = result.snapshot;
  expect(result.lastVerified).toBe(createdAt);
  expect(Object.keys(result.phases)).toEqual([
    'sweep',
    'connect',
    'compare',
    'stream',
    'read-back',
    'manifest',
    'retention',
  ]);
  const labels = `{etcd_cluster="orders",store="file://${store}"}`;
  const verifiedAt = { [`etcd_backup_last_verified_timestamp_seconds${labels}`]: Date.parse(createdAt) / 1000 };
  expect(await metrics()).toMatchObject({
    ...verifiedAt,
    [`etcd_backup_last_snapshot_size_bytes${labels}`]: sizeBytes,
    [`etcd_backup_last_snapshot_stored_bytes${labels}`]: storedBytes,
    'etcd_backup_database_size_bytes{etcd_cluster="orders"}': dbSize,
    [`etcd_backup_snapshots${labels}`]: 1,
    'etcd_backup_last_run_exit_code{command="backup",etcd_cluster="orders"}': 0,
    'etcd_backup_last_run_phase_duration_seconds{command="backup",etcd_cluster="orders",phase="stream"}':
      result.phases.stream,
  });

  const [port] = await freePorts(1);
  const failed = await runAgent([...args, `--endpoints=127.0.0.1:${port}`]);
  expect(failed.code).toBe(ExitCode.etcdUnavailable);
  expect(await metrics()).toMatchObject({
    ...verifiedAt,
    'etcd_backup_last_run_exit_code{command="backup",etcd_cluster="orders"}': ExitCode.etcdUnavailable,
  });
  expect(await readFile(file, 'utf8')).not.toMatch(/phase="stream"/);
});

test.each([
  ['put', /a backup cannot store anything here; if these credentials are meant to read only/],
  ['delete', /backups work, but retention deletes nothing .* delete the test object orders\/\S+$/],
] as const)('a store that refuses to %s: what that means is said', async (method, meaning) => {
  const { put, delete: remove } = FilesystemStore.prototype;
  const refuse = () => Promise.reject(new AgentError(ExitCode.storeRefused, '403'));
  Object.assign(FilesystemStore.prototype, { [method]: refuse, delete: refuse });
  try {
    expect(of('store', await check())).toMatchObject([{ outcome: 'failed', detail: expect.stringMatching(meaning) }]);
  } finally {
    Object.assign(FilesystemStore.prototype, { put, delete: remove });
  }
});

test('a command for one store names those that are given', async () => {
  const two = ['--cluster=orders', '--store=file:///a', '--store=file:///b'];
  expect(await runHere('list', ...two)).toMatchObject({
    exitCode: ExitCode.usage,
    text: expect.stringMatching(/takes one store, but 2 are given \(file:\/\/\/a, file:\/\/\/b\); run it for each/),
  });
});
