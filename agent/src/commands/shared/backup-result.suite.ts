import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { runHere } from '../../../test/support/in-process.ts';

test('a backup with an export names it, and commands find the snapshot by it', async () => {
  const place = await mkdtemp(join(tmpdir(), 'backup-result-'));
  await using etcd = await EtcdCluster.start({ size: 1 });
  const common = ['--cluster=orders', '--namespace=shop', `--store=file://${place}/a store`];
  const backup = ['backup', ...common, `--endpoints=${etcd.endpoints}`];
  const { text, data } = await runHere(...backup, '--object-key=keep/it 1.db');
  expect(text).toMatch(/verified \(read\), exported to keep\/it 1\.db$/m);
  expect(data.stores).toMatchObject([{ key: 'keep/it 1.db' }]);
  const { id } = data.snapshot;
  expect((await runHere('show', ...common, '--object-key=keep/it 1.db')).data.manifest.id).toBe(id);
  expect((await runHere('show', ...common, 'keep/it 1.db')).data.manifest.id).toBe(id);
  expect((await runHere('verify', ...common, '--object-key=keep/it 1.db')).data.snapshots).toMatchObject([{ id }]);
  expect((await runHere('list', ...common)).data).toMatchObject({ snapshots: [{ id }], broken: [] });
  expect((await runHere(...backup)).text).not.toContain('exported');
  await rm(place, { recursive: true });
});
