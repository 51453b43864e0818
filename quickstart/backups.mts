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

/** Digest of all keys and values, read with etcdctl so that it does not depend on our code. */
async function digestOfAllKeys(etcd: EtcdCluster): Promise<{ keys: number; digest: string }> {
  const { kvs } = JSON.parse(await etcd.etcdctl('get', '', '--prefix', '-w', 'json'));
  const pairs = kvs.map(({ key, value }: Record<string, string>) => [key, value]);
  return { keys: pairs.length, digest: createHash('sha256').update(JSON.stringify(pairs)).digest('hex').slice(0, 16) };
}

/** Backs up an existing etcd cluster, verifies and prunes the backups, destroys the cluster and restores it. */
export async function demonstrateBackups(directory: string): Promise<void> {
  const backups = join(directory, 'backups');
  const inStore = ['--cluster=orders', `--store=file://${backups}`];

  step('An existing etcd cluster');
  await using etcd = await EtcdCluster.start({ size: 3, dataRoot: directory });
  await etcd.put(KEYS, { prefix: 'order-' });
  ensure((await digestOfAllKeys(etcd)).keys === KEYS, `three members of etcd ${etcd.binaries.version}, ${KEYS} keys`);

  step('Write a backup schedule for it in TypeScript, and synthesize plain manifests');
  quote(source);
  const manifests = synthesize(etcd.endpoints);
  ensure(
    manifests.some(({ kind }) => kind === 'CronJob'),
    manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(', '),
  );

  step('Take a backup with the arguments of the CronJob’s pod (a directory replaces the volume)');
  const args = agentArguments(manifests)
    .map((arg) => arg.replaceAll('/backup/0', backups))
    .filter((arg) => !arg.startsWith('--output'));
  quote(`etcd-agent ${args.join(' \\\n  ')}`);
  show(await runAgent(...args));

  step('Verify the backup: read back every byte, open the database, compare its HashKV with that of the cluster');
  show(await runAgent('verify', ...inStore, '--level=open'));

  step('Add orders and take more backups: retention keeps the last three');
  for (const batch of ['a', 'b', 'c']) {
    await etcd.put(100, { prefix: `order-${batch}-` });
    await runAgent(...args);
  }
  show(await runAgent('list', ...inStore, '--retention=last=3'));
  const { snapshots } = JSON.parse(await runAgent('list', ...inStore, '--output=json'));
  ensure(snapshots.length === 3, 'three of four backups are left, and the newest contains every order');
  const before = await digestOfAllKeys(etcd);

  step('Disaster: kill all members and delete their volumes');
  for (const member of etcd.members) {
    await member.kill('SIGKILL');
    await rm(member.dataDir, { recursive: true });
  }
  ensure(!etcd.members.some((member) => existsSync(member.dataDir)), 'etcd and its data are gone');

  step('Restore a data directory for each member of a new cluster');
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
  ensure(after.digest === before.digest && after.keys === KEYS + 300, 'every key and every value is restored');
  await restored.etcdctl('put', 'order-next', 'works');
  ensure((await digestOfAllKeys(restored)).keys === after.keys + 1, 'the restored cluster accepts new orders');
}
