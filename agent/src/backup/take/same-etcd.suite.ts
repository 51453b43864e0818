import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';

let etcd: EtcdCluster;
let path: string;
const { get, list } = FilesystemStore.prototype;
beforeAll(async () => {
  etcd = await EtcdCluster.start();
});
afterAll(() => etcd[Symbol.asyncDispose]());
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'same-etcd-'));
});
afterEach(async () => {
  Object.assign(FilesystemStore.prototype, { get, list });
  await rm(path, { recursive: true });
});
const backupOf = ({ endpoints }: EtcdCluster, ...flags: string[]) =>
  runHere('backup', `--store=file://${path}`, `--endpoints=${endpoints}`, ...flags);
const backup = (...flags: string[]) => backupOf(etcd, ...flags);

test('a backup reads and lists nothing but its own folder', async () => {
  await backup('--cluster=orders', '--namespace=prod');
  const used: string[] = [];
  Object.assign(FilesystemStore.prototype, {
    get(this: FilesystemStore, key: string, ...more: []) {
      used.push(key);
      return get.call(this, key, ...more);
    },
    list(this: FilesystemStore, prefix: string, ...more: []) {
      used.push(prefix);
      return list.call(this, prefix, ...more);
    },
  });
  expect(await backup('--cluster=orders', '--namespace=prd')).toMatchObject({ exitCode: 0, log: [] });
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter((key) => !key.startsWith('prd/orders/'))).toEqual([]);
});

test.each([
  ['', ''],
  ['prod', 'prod'],
])(
  'after a backup whose store begins inside the folder of its cluster (namespace %j), the error of the next command says so',
  async (namespace, folder) => {
    const named = ['--cluster=orders', `--namespace=${namespace}`];
    const deep = `--store=file://${join(path, folder || 'orders')}`;
    const backupDeep = () => runHere('backup', deep, `--endpoints=${etcd.endpoints}`, ...named);
    await backup(...named);
    expect(await backupDeep()).toMatchObject({ exitCode: 0, log: [] });
    if (namespace) return;
    const { text } = await runHere('status', `--store=file://${path}`, '--cluster=orders');
    expect(text).toMatch(
      /: orders \(1\), orders\/orders \(1\); if orders is no namespace, a backup with a --store one folder too deep has made orders\/orders; pass --namespace= or --namespace=orders$/,
    );
  },
);

test('a backup warns if its store begins in a namespace, so that its folder is that of another cluster', async () => {
  await backup('--cluster=orders', '--namespace=prod');
  const pass = `pass --store=file://${path} --cluster=orders --namespace=prod`;
  for (let n = 0; n < 2; n++) {
    const deep = [`--store=file://${path}/prod`, `--endpoints=${etcd.endpoints}`, '--cluster=orders'];
    const { exitCode, log } = await runHere('backup', ...deep);
    expect({ exitCode, log }).toEqual({
      exitCode: 0,
      log: [
        expect.stringMatching(
          n === 0
            ? `^the store begins inside the folder of a cluster; it has snapshots of prod/orders in the folder orders, so its path is too deep: ${pass}$`
            : // By then the folder also has a snapshot of its own cluster.
              `^the store may begin inside the folder of a cluster; it has the snapshot etcd-\\S+ of prod/orders in the folder orders; if its path is too deep, ${pass}$`,
        ),
      ],
    });
  }
});

test('snapshots that were copied into the root of the store by hand say nothing of its path', async () => {
  await backup('--cluster=orders');
  for (const name of await readdir(join(path, 'orders'))) await copyFile(join(path, 'orders', name), join(path, name));
  expect((await backup('--cluster=order')).log).toEqual([]);
});

test('the folder of another etcd, and a store that lists only its own folder, cause no warning', async () => {
  await using other = await EtcdCluster.start({ size: 1 });
  await backupOf(other, '--cluster=other');
  expect(await backup('--cluster=orders')).toMatchObject({ exitCode: 0, log: [] });
  Object.assign(FilesystemStore.prototype, {
    list(this: FilesystemStore, prefix: string, ...more: []) {
      if (prefix === '') throw new AgentError(ExitCode.storeRefused, '403');
      return list.call(this, prefix, ...more);
    },
  });
  expect(await backup('--cluster=third')).toMatchObject({ exitCode: 0, log: [] });
});

test('every backup of another etcd into a folder warns, with both cluster ids and the ways out, and so does check', async () => {
  await using other = await EtcdCluster.start({ size: 1 });
  const mine = (await backup('--cluster=orders')).data.snapshot;
  const second = (...flags: string[]) => backupOf(other, '--cluster=orders', ...flags);
  const { exitCode, data, log } = await second('--object-key=x.db');
  const { clusterId } = data.snapshot;
  expect({ exitCode, log }).toEqual({
    exitCode: 0,
    log: [
      expect.stringMatching(
        new RegExp(
          `^orders has snapshots of another etcd \\(cluster id ${mine.clusterId}, newest ${mine.id}\\), and this one has the cluster id ${clusterId}; .* pass a --cluster or --namespace of its own; .* this store has no note of it \\(the restore used another store, or another tool\\), pass --restored-from=${mine.clusterId}$`,
        ),
      ),
    ],
  });
  expect(await second()).toMatchObject({ exitCode: 0, log });
  expect((await backup('--cluster=orders')).log).toEqual([
    expect.stringContaining(`(cluster id ${clusterId}, newest `),
  ]);
  const { text } = await runHere('check', `--store=file://${path}`, '--cluster=orders');
  const both = `(${mine.clusterId}, ${clusterId}|${clusterId}, ${mine.clusterId})`;
  expect(text).toMatch(
    new RegExp(
      `the snapshots of orders are of 2 etcds that no restore connects, ${both}; .* --restored-from to its next backup`,
    ),
  );
});

test('an etcd that was abandoned by another restore causes no such warning', async () => {
  await using other = await EtcdCluster.start({ size: 1 });
  await backup('--cluster=orders', '--restored-from=a1');
  expect(await backupOf(other, '--cluster=orders', '--restored-from=a1')).toMatchObject({ exitCode: 0, log: [] });
  expect((await runHere('check', `--store=file://${path}`, '--cluster=orders')).text).not.toContain('no restore');
});

test('a backup without recipients into a folder with encrypted snapshots warns, and list shows which are encrypted', async () => {
  const recipient = await identityToRecipient(await generateX25519Identity());
  const encrypted = (await backup('--cluster=orders', `--age-recipient=${recipient}`)).data.snapshot.id;
  const { exitCode, log, data } = await backup('--cluster=orders');
  expect({ exitCode, log }).toEqual({
    exitCode: 0,
    log: [
      `this backup is not encrypted, but orders has encrypted snapshots, such as ${encrypted}; pass --age-recipient to encrypt it too`,
    ],
  });
  const listed = await runHere('list', `--store=file://${path}`, '--cluster=orders');
  expect(listed.data.snapshots.map((one: { id: string; encrypted: boolean }) => [one.id, one.encrypted])).toEqual([
    [data.snapshot.id, false],
    [encrypted, true],
  ]);
  expect(listed.text).toMatch(new RegExp(`^${data.snapshot.id} .* no +read\n${encrypted} .* age +read$`, 'm'));
});

test('a cluster that was restored from the other causes no such warning', async () => {
  await using other = await EtcdCluster.start({ size: 1 });
  const { clusterId } = (await backup('--cluster=orders')).data.snapshot;
  expect(await backupOf(other, '--cluster=orders', `--restored-from=${clusterId}`)).toMatchObject({
    exitCode: 0,
    log: [],
  });
});
