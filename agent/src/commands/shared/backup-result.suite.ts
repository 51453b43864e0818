import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { runHere } from '../../../test/support/in-process.ts';

test('a backup at a key shows the command that finds it', async () => {
  const place = await mkdtemp(join(tmpdir(), 'backup-result-'));
  await using etcd = await EtcdCluster.start();
  const common = ['--cluster=orders', '--namespace=shop', `--store=file://${place}/a store`];
  const backup = ['backup', ...common, `--endpoints=${etcd.endpoints}`];
  const { text, data } = await runHere(...backup, '--object-key=keep/it 1.db');
  const [, line] = /^ {2}find it only by its key: etcd-agent (.*)$/m.exec(text) ?? [];
  expect(line).toBe(
    `show --store=file://${place}/a%20store --cluster=orders --namespace=shop '--object-key=keep/it 1.db'`,
  );
  const flags = line!.split(/ (?=')| (?=--)/).map((word) => word.replaceAll("'", ''));
  expect((await runHere(...flags)).data.manifest.id).toBe(data.snapshot.id);
  expect((await runHere(...backup)).text).not.toContain('by its key');
  await rm(place, { recursive: true });
});

test('the command names the empty namespace, because a namespace may have a cluster of the same name', async () => {
  const place = await mkdtemp(join(tmpdir(), 'backup-result-'));
  await using etcd = await EtcdCluster.start({ size: 1 });
  const backup = ['backup', '--cluster=orders', `--store=file://${place}`, `--endpoints=${etcd.endpoints}`];
  for (const namespace of ['', 'shop']) await runHere(...backup, `--namespace=${namespace}`);
  const { text, data } = await runHere(...backup, '--namespace=', '--object-key=key.db');
  const [, line] = /etcd-agent (show .*)$/m.exec(text) ?? [];
  expect((await runHere(...line!.split(' '))).data.manifest.id).toBe(data.snapshot.id);
  await rm(place, { recursive: true });
});
