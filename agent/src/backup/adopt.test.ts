import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { etcdutl } from '../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../test/harness/etcd-cluster.ts';
import { runHere } from '../../test/in-process.ts';
import { seal } from '../../test/mutations/mutate.ts';
import { saveSnapshot } from '../../test/save-snapshot.ts';
import { ExitCode } from '../errors.ts';
import { timeInName } from './name-time.ts';

let saved: Buffer;
beforeAll(async () => {
  await using etcd = await EtcdCluster.start();
  await etcd.put(20);
  saved = (await saveSnapshot(etcd)).snapshot;
});

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'adopt-'));
});
afterEach(() => rm(path, { recursive: true }));

const modified = new Date('2026-11-20T02:38:30Z');
async function put(key: string, bytes: Uint8Array = saved, at = modified): Promise<void> {
  await mkdir(join(path, key, '..'), { recursive: true });
  await writeFile(join(path, key), bytes);
  await utimes(join(path, key), at, at);
}
const inStore = () => ['--cluster=orders', `--store=file://${path}`];
const adopt = (...more: string[]) =>
  runHere('adopt', ...more, ...inStore(), `--etcdutl=${etcdutl()}`, `--scratch=${path}`);
const files = async () =>
  (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(path.length + 1))
    .sort();
const list = async () => (await runHere('list', ...inStore())).data;

test('a plain snapshot becomes one of ours, with nothing of it changed', async () => {
  await put('orders/snapshot-20261120-023807.db');
  expect(await adopt()).toMatchObject({
    exitCode: 0,
    text: expect.stringMatching(/its own sha256 and a trial restore stand in/),
    data: { adopted: 1, failed: 0, snapshots: [{ outcome: 'adopted', id: 'snapshot-20261120-023807' }] },
  });
  expect(await files()).toEqual(['orders/snapshot-20261120-023807.db', 'orders/snapshot-20261120-023807.json']);
  expect(await list()).toMatchObject({
    broken: [],
    snapshots: [{ verified: true, level: 'open', clusterId: 'unknown', createdAt: '2026-11-20T02:38:07.000Z' }],
  });
  expect(await runHere('verify', '--level=open', ...inStore(), `--etcdutl=${etcdutl()}`)).toMatchObject({
    exitCode: 0,
  });
  expect(await adopt()).toMatchObject({ exitCode: 0, text: expect.stringMatching(/^nothing to adopt/) });
  expect(await adopt('orders/snapshot-20261120-023807.db')).toMatchObject({
    exitCode: 0,
    data: { skipped: 1, adopted: 0 },
  });
});

test('compressed ones; names that are no id; the same name twice', async () => {
  await put('orders/a.db.gz', gzipSync(saved));
  await put('orders/a.db', saved);
  await put('orders/etcd 2026-11-20T02:38:07.db.zst', zstdCompressSync(saved));
  expect(await adopt()).toMatchObject({ exitCode: 0, data: { adopted: 3 } });
  const { snapshots, broken } = await list();
  expect(broken).toEqual([]);
  expect(new Set(snapshots.map(({ id }: { id: string }) => id)).size).toBe(3);
  for (const { id } of snapshots) {
    const to = join(path, 'out', `${id}.db`);
    expect(await runHere('restore', 'fetch', id, ...inStore(), `--to=${to}`)).toMatchObject({ exitCode: 0 });
    expect(await readFile(to)).toEqual(saved);
  }
});

test('retention deletes an adopted one like its own, and no file beside it that is not its', async () => {
  const day = 86_400_000;
  for (let n = 0; n < 5; n++) await put(`orders/s${n}.db`, saved, new Date(modified.getTime() - n * day));
  await put('orders/s4.db.sha256', Buffer.from('x'));
  await put('orders/s4.db.gz', gzipSync(saved), new Date(modified.getTime() - 20 * day));
  await adopt();
  const pruned = await runHere('prune', ...inStore(), '--retention=last=4');
  expect(pruned.data.deleted).toHaveLength(2);
  expect(pruned.data.snapshots.flatMap(({ reasons }: { reasons: string[] }) => reasons).join()).not.toMatch(/foreign/);
  expect((await files()).filter((key) => key.includes('s4'))).toEqual(['orders/s4.db.sha256']);
});

test('what is no snapshot stays as it is, and the others are adopted', async () => {
  const flipped = Buffer.from(saved);
  flipped[flipped.length >> 1]! ^= 1;
  await put('orders/cut.db', saved.subarray(0, saved.length / 2));
  await put('orders/data-dir.db', saved.subarray(0, -32));
  await put('orders/empty.db', Buffer.alloc(0));
  await put('orders/flipped.db', flipped);
  await put('orders/good.db');
  await put('orders/hello.db', seal(Buffer.from('hello')));
  await put('orders/no-gzip.db.gz');
  await put('orders/notes.txt', Buffer.from('not asked for'));
  await put('orders/etcd-snapshot-20260101-000000-dead00.db', saved);
  const before = await files();
  const result = await adopt();
  expect(result).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { adopted: 1, failed: 6 } });
  expect(result.text).toMatch(/data-dir.db.*copy of a member’s db file/);
  expect(await files()).toEqual([...before, 'orders/good.json'].sort());
});

test('a dry run checks and writes nothing', async () => {
  await put('orders/a.db');
  expect(await adopt('--dry-run')).toMatchObject({
    exitCode: 0,
    data: { adopted: 1, snapshots: [{ outcome: 'would be adopted' }] },
  });
  expect(await files()).toEqual(['orders/a.db']);
});

test('a name in local time: the store orders it, and that is said', async () => {
  await put('orders/db_2026-11-20_03-38-07.db');
  const { data, log } = await adopt();
  expect(data.snapshots[0]).toMatchObject({
    createdAt: modified.toISOString(),
    warning: expect.stringMatching(/the store's time is taken/),
  });
  expect(log).toHaveLength(1);
});

test('a key elsewhere gets its manifest beside it, and `list` does not show it', async () => {
  await put('old/backups/x.db');
  await put('orders/sub/y');
  expect(await adopt('old/backups/x.db', '/orders/sub/y')).toMatchObject({ exitCode: 0, data: { adopted: 2 } });
  expect(await files()).toEqual(['old/backups/x.db', 'old/backups/x.db.json', 'orders/sub/y', 'orders/sub/y.json']);
  expect(await list()).toMatchObject({ snapshots: [], broken: [] });
  const fetch = ['restore', 'fetch', ...inStore(), '--object-key=old/backups/x.db', `--to=${path}/out.db`];
  expect(await runHere(...fetch)).toMatchObject({ exitCode: 0 });
  expect(await adopt('old/nothing.db')).toMatchObject({ exitCode: ExitCode.nothingThere });
});

test('restore adopts one file when told to', async () => {
  await put('orders/a.db.gz', gzipSync(saved));
  const fetch = (...more: string[]) =>
    runHere('restore', 'fetch', ...inStore(), '--object-key=orders/a.db.gz', `--etcdutl=${etcdutl()}`, ...more);
  expect(await fetch(`--to=${path}/1.db`)).toMatchObject({ exitCode: ExitCode.nothingThere });
  for (const name of ['2.db', '3.db']) {
    expect(await fetch('--adopt', `--to=${path}/${name}`)).toMatchObject({ exitCode: 0, data: { id: 'a' } });
    expect(await readFile(join(path, name))).toEqual(saved);
  }
  const dataDir = [
    'restore',
    'data-dir',
    ...inStore(),
    '--object-key=orders/a.db.gz',
    '--adopt',
    `--etcdutl=${etcdutl()}`,
  ];
  expect(await runHere(...dataDir, `--data-dir=${path}/data`)).toMatchObject({ exitCode: 0 });
  await put('orders/bad.db', Buffer.from('bad'));
  const bad = ['restore', 'fetch', ...inStore(), '--object-key=orders/bad.db', '--adopt', `--to=${path}/4.db`];
  expect(await runHere(...bad)).toMatchObject({ exitCode: ExitCode.verificationFailed });
  expect(await files()).not.toContain('4.db');
});

test.each([
  ['etcd-snapshot-20261121-023807-3f9c2a', '2026-11-21T02:38:07.000Z'],
  ['snapshot_2026-11-21T02:38:07Z', '2026-11-21T02:38:07.000Z'],
  ['2026.11.21_02.38', '2026-11-21T02:38:00.000Z'],
  ['db-202611210238', '2026-11-21T02:38:00.000Z'],
  ['etcd-snapshot-node1-1795228687', '2026-11-21T02:38:07.000Z'],
  ['backup-2026-11-21', undefined],
  ['20261321-023807', undefined],
  ['20260230-023807', undefined],
  ['v3.5.21-12', undefined],
])('the time in %s', (name, time) => {
  expect(timeInName(name)?.toISOString()).toBe(time);
});
