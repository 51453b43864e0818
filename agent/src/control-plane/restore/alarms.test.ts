import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quotaNow } from './alarms.ts';

test('the quota is that with which etcd runs now', async () => {
  const root = await mkdtemp(join(tmpdir(), 'quota-'));
  const [proc, dataDir] = [join(root, 'proc'), join(root, 'data')];
  const node = { member: { dataDir, quota: 1_000 }, dataDir } as unknown as Parameters<typeof quotaNow>[0];
  expect(await quotaNow(node, proc)).toBeUndefined();
  await mkdir(dataDir);
  await mkdir(join(proc, '11'), { recursive: true });
  await symlink('/', join(proc, '11', 'root'));
  const start = (...flags: string[]) =>
    writeFile(join(proc, '11', 'cmdline'), ['etcd', `--data-dir=${dataDir}`, ...flags, ''].join('\0'));
  await start('--quota-backend-bytes=64000');
  expect(await quotaNow(node, proc)).toBe(64_000);
  await start();
  expect(await quotaNow(node, proc)).toBe(2 * 1024 ** 3);
  await start('--quota-backend-bytes=-1');
  expect(await quotaNow(node, proc)).toBeUndefined();
  await start('--config-file=/nowhere/etcd.yaml');
  expect(await quotaNow(node, proc)).toBeUndefined();
  await rm(root, { recursive: true });
});
