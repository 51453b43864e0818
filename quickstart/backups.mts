import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EtcdCluster } from '../agent/test/harness/etcd-cluster.ts';
import { initialCluster, planMembers } from '../agent/test/harness/member-plan.ts';
import { runAgent } from './agent.mts';
import { ensure, quote, show, step } from './narrate.mts';
import { agentArguments, source, synthesize } from './schedule.mts';

const KEYS = 1_000;

/** One number for all keys and values, by etcdctl and not by us. */
async function digestOfAllKeys(etcd: EtcdCluster): Promise<{ keys: number; digest: string }> {
  const { kvs } = JSON.parse(await etcd.etcdctl('get', '', '--prefix', '-w', 'json'));
  const pairs = kvs.map(({ key, value }: Record<string, string>) => [key, value]);
  return { keys: pairs.length, digest: createHash('sha256').update(JSON.stringify(pairs)).digest('hex').slice(0, 16) };
}

/** Backups of an etcd that somebody else runs: taken, verified, pruned, restored after all was lost. */
export async function tellOfBackups(directory: string): Promise<void> {
  const backups = join(directory, 'backups');
  const inStore = ['--cluster=orders', `--store=file://${backups}`];

  step('Somebody else’s etcd');
  await using etcd = await EtcdCluster.start({ size: 3, dataRoot: directory });
  await etcd.put(KEYS, { prefix: 'order-' });
  ensure((await digestOfAllKeys(etcd)).keys === KEYS, `three members of etcd ${etcd.binaries.version}, ${KEYS} keys`);

  step('A backup schedule for it in TypeScript, synthesized to plain manifests');
  quote(source);
  const manifests = synthesize(etcd.endpoints);
  ensure(
    manifests.some(({ kind }) => kind === 'CronJob'),
    manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(', '),
  );

  step('A backup, with the arguments of the CronJob’s pod (only the volume is a directory here)');
  const args = agentArguments(manifests)
    .map((arg) => arg.replaceAll('/backup/0', backups))
    .filter((arg) => !arg.startsWith('--output'));
  quote(`etcd-agent ${args.join(' \\\n  ')}`);
  show(await runAgent(...args));

  step('It is verified: every byte is read back, the database opened, its HashKV compared with the cluster’s');
  show(await runAgent('verify', ...inStore, '--level=open'));

  step('More orders, more backups: retention keeps the last three');
  for (const batch of ['a', 'b', 'c']) {
    await etcd.put(100, { prefix: `order-${batch}-` });
    await runAgent(...args);
  }
  show(await runAgent('list', ...inStore, '--retention=last=3'));
  const { snapshots } = JSON.parse(await runAgent('list', ...inStore, '--output=json'));
  ensure(snapshots.length === 3, 'four were taken, three are left, the newest of them with every order');
  const before = await digestOfAllKeys(etcd);

  step('Disaster: all its members are killed, and their volumes are gone');
  for (const member of etcd.members) {
    await member.kill('SIGKILL');
    await rm(member.dataDir, { recursive: true });
  }
  ensure(!etcd.members.some((member) => existsSync(member.dataDir)), 'no etcd, no data');

  step('Restore: a data directory for each member of a new cluster');
  const plans = (await planMembers(3)).map((plan) => ({ ...plan, dataDir: join(directory, `restored-${plan.name}`) }));
  for (const { name, peerUrl, dataDir } of plans) {
    show(
      await runAgent(
        ...['restore', 'data-dir', snapshots[0].id, ...inStore, `--data-dir=${dataDir}`, `--name=${name}`],
        ...[`--initial-cluster=${initialCluster(plans)}`, `--initial-advertise-peer-urls=${peerUrl}`],
        '--initial-cluster-token=after-the-disaster',
      ),
    );
  }
  await using restored = await EtcdCluster.fromDataDirs(plans, { dataRoot: directory });
  const after = await digestOfAllKeys(restored);
  show(`before: ${before.keys} keys, sha256 ${before.digest}\nafter:  ${after.keys} keys, sha256 ${after.digest}`);
  ensure(after.digest === before.digest && after.keys === KEYS + 300, 'every key and value is back');
  await restored.etcdctl('put', 'order-next', 'works');
  ensure((await digestOfAllKeys(restored)).keys === after.keys + 1, 'and it takes new orders');
}
