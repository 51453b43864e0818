import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
const backup = (...flags: string[]) =>
  runHere('backup', `--store=file://${path}`, `--endpoints=${etcd.endpoints}`, ...flags);

test('the first backup into a folder warns if another folder has snapshots of the same etcd', async () => {
  for (let n = 0; n < 3; n++) {
    expect(await backup('--cluster=orders', '--namespace=prod')).toMatchObject({ exitCode: 0, log: [] });
  }
  const read: string[] = [];
  Object.assign(FilesystemStore.prototype, {
    get(this: FilesystemStore, key: string, ...more: []) {
      read.push(key);
      return get.call(this, key, ...more);
    },
  });
  const { exitCode, log } = await backup('--cluster=orders', '--namespace=prd');
  expect({ exitCode, log }).toEqual({
    exitCode: 0,
    log: [
      expect.stringMatching(
        /^prd\/orders has no snapshots yet, but prod\/orders has some of this etcd \(cluster id [0-9a-f]+\); if that is its folder, give --cluster=orders --namespace=prod$/,
      ),
    ],
  });
  expect(read.filter((key) => key.startsWith('prod/'))).toEqual([expect.stringMatching(/\.json$/)]);
  expect(await backup('--cluster=orders', '--namespace=prd')).toMatchObject({ exitCode: 0, log: [] });
});

test('the folder of another etcd, and a store that lists only its own folder, cause no warning', async () => {
  await using other = await EtcdCluster.start({ size: 1 });
  await backup('--cluster=other', `--endpoints=${other.endpoints}`);
  expect(await backup('--cluster=orders')).toMatchObject({ exitCode: 0, log: [] });
  Object.assign(FilesystemStore.prototype, {
    list(this: FilesystemStore, prefix: string, ...more: []) {
      if (prefix === '') throw new AgentError(ExitCode.storeRefused, '403');
      return list.call(this, prefix, ...more);
    },
  });
  expect(await backup('--cluster=third')).toMatchObject({ exitCode: 0, log: [] });
});
