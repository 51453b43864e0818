import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';

let etcd: EtcdCluster;
let path: string;
beforeAll(async () => {
  etcd = await EtcdCluster.start();
});
afterAll(() => etcd?.stop());
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'hangs-'));
  await mkdir(join(path, 'orders'));
});
const original = { ...pick(FilesystemStore.prototype) };
afterEach(async () => {
  Object.assign(FilesystemStore.prototype, original);
  await rm(path, { recursive: true });
});

function pick({ delete: remove, sweep }: FilesystemStore) {
  return { delete: remove, sweep };
}

const hanging = ['aaaaaa', 'bbbbbb'].map((random) => `etcd-snapshot-20260101-000000-${random}.taking`);

test.each<[string, (self: FilesystemStore, call: () => Promise<unknown>, key: string) => Promise<unknown>]>([
  ['the deletion of one leftover', (_, call, key) => (key.includes(hanging[0]!) ? new Promise(() => {}) : call())],
  ['the removal of unfinished uploads', (_, call, key) => (key === 'orders/' ? new Promise(() => {}) : call())],
])('a backup is taken, and the other leftovers are removed, although %s hangs', async (_, answer) => {
  const old = new Date(Date.now() - 72 * 3_600_000);
  for (const name of hanging) {
    await writeFile(join(path, 'orders', name), '{}');
    await utimes(join(path, 'orders', name), old, old);
  }
  Object.assign(FilesystemStore.prototype, {
    delete(this: FilesystemStore, key: string, options: object) {
      return answer(this, () => original.delete.call(this, key, options), key);
    },
    sweep(this: FilesystemStore, prefix: string, age: number, options: object) {
      return answer(this, () => original.sweep.call(this, prefix, age, options), prefix);
    },
  });
  const flags = [`--store=file://${path}`, '--cluster=orders', `--endpoints=${etcd.endpoints}`, '--timeout=12s'];
  const { exitCode, log } = await runHere('backup', ...flags);
  expect([exitCode, log]).toEqual([0, [expect.stringMatching(/^leftovers of dead runs could not be removed: /)]]);
  expect(await readdir(join(path, 'orders'))).not.toContain(hanging[1]);
});
