import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';

let etcd: EtcdCluster;
let path: string;
const flags = () => [`--store=file://${path}`, '--cluster=orders'];
const backup = (...more: string[]) => runHere('backup', ...flags(), `--endpoints=${etcd.endpoints}`, ...more);
const { get } = FilesystemStore.prototype;

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'fell-'));
  etcd = await EtcdCluster.start();
});
afterEach(async () => {
  Object.assign(FilesystemStore.prototype, { get });
  await etcd.stop();
  await rm(path, { recursive: true });
});

/** Takes a backup after so many writes. */
async function backupAfter(writes: number): Promise<{ id: string; clusterId: string; revision: number }> {
  for (let n = 0; n < writes; n++) await etcd.etcdctl('put', 'key', String(n));
  const { exitCode, data } = await backup();
  expect(exitCode).toBe(0);
  return data.snapshot;
}

/** Etcd starts again with the same peers and token, and so with the same cluster id. */
async function empty(): Promise<void> {
  const [member] = etcd.members;
  await member!.kill();
  await rm(member!.dataDir, { recursive: true });
  await member!.start();
}

/** Says that a snapshot was taken so many minutes earlier. */
async function backdate(id: string, minutes: number): Promise<void> {
  const file = join(path, `orders/${id}.json`);
  const manifest = JSON.parse(await readFile(file, 'utf8'));
  const createdAt = new Date(Date.parse(manifest.createdAt) - minutes * 60_000).toISOString();
  await writeFile(file, JSON.stringify({ ...manifest, createdAt }));
}

test('an etcd that was emptied, with backups that are never read back: backup and prune say so', async () => {
  const stream = () => backup('--verify=stream');
  for (let n = 0; n < 20; n++) await etcd.etcdctl('put', 'key', String(n));
  const { data } = await stream();
  await backdate(data.snapshot.id, 120);
  await empty();
  expect((await stream()).log).toEqual([expect.stringMatching(/^the revision fell from 21/)]);
  const pruned = await runHere('prune', ...flags(), '--retention=last=1,minKeep=1');
  expect(pruned.log).toEqual([expect.stringMatching(/^the revision fell from 21/)]);
  expect(pruned.data).toMatchObject({ deleted: [] });
});

test('an etcd that was emptied under its cluster id: backup, status and a restore of the newest say so', async () => {
  const before = await backupAfter(20);
  await backdate(before.id, 120);
  const last = await backup();
  expect(last).toMatchObject({ exitCode: 0, log: [] });
  const newest = last.data.snapshot.id;
  await empty();

  const { data, log } = await backup();
  const { id, clusterId } = data.snapshot;
  expect(clusterId).toBe(before.clusterId);
  expect(log).toEqual([
    expect.stringMatching(
      new RegExp(
        `^the revision fell from 21 in ${newest} to 1 now, of the same cluster ${clusterId}: was etcd emptied, .* Retention keeps ${newest}; pin others`,
      ),
    ),
  ]);
  // Also one without a folder to compare, and each later one; and retention does not say it twice.
  expect((await backup('--object-key=x.db')).log).toEqual([expect.stringMatching(/^the revision fell/)]);
  expect((await backup('--retention=last=9')).log).toEqual([expect.stringMatching(/^the revision fell/)]);
  expect((await runHere('prune', ...flags(), '--retention=last=9')).log).toEqual([
    expect.stringMatching(/^the revision fell/),
  ]);

  await backdate(newest, 60);
  const text = new RegExp(
    `passed over: ${newest}, 1h( \\ds)? older: it has revision 21 of the same etcd \\(cluster id ${clusterId}\\), and .* only 1, so etcd was emptied`,
  );
  const status = await runHere('status', ...flags());
  expect(status).toMatchObject({ exitCode: 0, text: expect.stringMatching(text) });
  expect(status.data.stores[0].passedOver).toEqual([expect.objectContaining({ id: newest })]);

  const fetched = await runHere('restore', 'fetch', ...flags(), `--to=${path}/latest.db`);
  expect(fetched).toMatchObject({ exitCode: 0, text: expect.stringMatching(text) });
  expect(fetched.log).toEqual([
    expect.stringMatching(
      new RegExp(`^${newest} is passed over: .*it is 1h( \\ds)? older than .*; name it to restore it$`),
    ),
  ]);
  // Whoever names it has confirmed it.
  expect(await runHere('restore', 'fetch', id, ...flags(), `--to=${path}/named.db`)).toMatchObject({
    exitCode: 0,
    log: [],
  });
});

test('no warning while the revision rises, or after a restore, which has another cluster id', async () => {
  await backupAfter(20);
  await using other = await EtcdCluster.start();
  const { clusterId } = (await runHere('list', ...flags())).data.snapshots[0];
  const ofRestored = [`--endpoints=${other.endpoints}`, `--restored-from=${clusterId}`];
  expect(await runHere('backup', ...flags(), ...ofRestored)).toMatchObject({ exitCode: 0, log: [] });
  expect((await runHere('status', ...flags())).text).not.toContain('passed over');
});

test('the warning costs no read of a manifest', async () => {
  for (let n = 0; n < 3; n++) await backupAfter(n);
  await empty();
  const read: string[] = [];
  Object.assign(FilesystemStore.prototype, {
    get(this: FilesystemStore, key: string, ...more: []) {
      if (key.endsWith('.json')) read.push(key);
      return get.call(this, key, ...more);
    },
  });
  const { log, data } = await backup();
  expect(log).toEqual([expect.stringMatching(/^the revision fell/)]);
  // Its own is read back.
  const own = `orders/${data.snapshot.id}.json`;
  expect(read.filter((key) => key !== own)).toHaveLength(3);
  expect(read.filter((key) => key === own)).toHaveLength(1);
});

test('an older one that is higher is only a note: the age still decides', async () => {
  await backdate((await backupAfter(20)).id, 120);
  await empty();
  await backdate((await backupAfter(0)).id, 60);
  expect(await runHere('status', ...flags(), '--max-age=30m')).toMatchObject({
    exitCode: ExitCode.nothingThere,
    text: expect.stringMatching(/too old: .*passed over: .*; take a backup, and find out/),
  });
});
