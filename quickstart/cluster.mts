import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { etcdOf } from '../agent/test/harness/etcd-binaries.ts';
import { LocalCluster } from '../agent/test/local/cluster.ts';
import { problems } from '../agent/test/members/checks/checks.ts';
import { acknowledged, longestGap } from '../agent/test/members/checks/history.ts';
import { VolumeAudit } from '../agent/test/members/checks/volume-audit.ts';
import { Watcher } from '../agent/test/members/support/watcher.ts';
import { Writer } from '../agent/test/members/support/writer.ts';
import { runAgent } from './agent.mts';
import { ensure, quote, show, step } from './narrate.mts';
import { source, synthesizeCluster } from './orders.mts';

/**
 * Forms, heals, upgrades and restores a cluster while clients write. The gates, the sidecars, the reconciler and etcd are
 * real. Only Kubernetes is simulated: files replace its API, and processes replace its pods.
 */
export async function demonstrateCluster(dir: string): Promise<void> {
  mkdirSync(dir);
  step('Write a cluster in TypeScript, and synthesize plain manifests');
  quote(source);
  const { manifests, spec } = synthesizeCluster(etcdOf('3.6').version);
  show(manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(', '));

  step('Apply them: the seed starts alone, the other members join as learners and are promoted');
  await using cluster = await LocalCluster.start({ ...spec, dir, spec: { schedule: 'nightly' } });
  using audit = new VolumeAudit(() => directoriesIn(join(dir, 'volumes')));
  await using writer = Writer.start({ target: cluster });
  await using watcher = Watcher.start({ target: cluster, prefix: writer.prefix });
  await cluster.settled();
  ensure(voters(cluster) === 3, `three voters of etcd ${spec.version} serve; clients write from now until the end`);
  const formed = writer.now;
  await writer.more(200);

  step('Destroy the volume of member 1');
  const before = memberId(cluster, 1);
  await cluster.loseVolume(1);
  await cluster.until(() => voters(cluster) === 3 && memberId(cluster, 1) !== before, 'another member replaces it');
  await cluster.settled();
  ensure(true, `member ${before} was removed before member ${memberId(cluster, 1)} joined`);

  step(`Set version: '${etcdOf('3.7').version}', synthesize and apply again`);
  const upgrade = writer.now;
  await cluster.apply({ version: etcdOf('3.7').version });
  await cluster.until(() => cluster.record()?.versions.current === '3.7', 'the upgrade is finished');
  await cluster.settled();
  const store = ['--cluster=main', '--namespace=default', `--store=file://${join(dir, 'backups')}`, '--output=json'];
  const { snapshots } = JSON.parse(await runAgent('list', ...store));
  ensure(
    snapshots.length === 1,
    `a verified backup came first (${snapshots[0].id}), then the members restarted one by one, the leader last`,
  );
  const refused = writer.history.writes.filter(({ start, outcome }) => start >= upgrade && outcome !== 'ok');
  const gap = seconds(longestGap(writer.history, formed, writer.now));
  ensure(
    refused.length === 0,
    `every write succeeded within a second; the longest time without a successful write was ${gap}`,
    `${refused.length} writes failed or took longer than a second; the longest time without a successful write was ${gap}`,
  );

  step('Back up 100 orders, then delete them by mistake');
  const endpoints = cluster.endpoints.slice(0, 3).join();
  await cluster.client().put(100, { prefix: 'order-' });
  const { snapshot } = JSON.parse(await runAgent('backup', ...store, `--endpoints=${endpoints}`));
  await cluster.client().etcdctl('del', '--prefix', 'order-');
  ensure((await orders(cluster)) === 0, `100 orders are gone; the backup is ${snapshot.id}`);
  await writer.more(50);

  step('Restore that backup in place with an EtcdRestore');
  const clusterId = cluster.record()?.clusterId ?? '';
  await cluster.restore({ name: 'before-the-mistake', source: { snapshotId: snapshot.id } });
  await cluster.until(() => verified(cluster) !== undefined, 'the snapshot is verified');
  const revision = verified(cluster)?.revision ?? 0;
  ensure(
    true,
    `the snapshot was read, compared and test-restored before the restore touches the cluster: revision ${revision}`,
  );
  await cluster.until(
    () => cluster.restoreNamed('before-the-mistake')?.phase === 'Completed',
    'the restore is complete',
  );
  await cluster.settled();
  ensure(voters(cluster) === 3 && (await orders(cluster)) === 100, 'three voters serve, and every order is back');
  await writer.more(50);

  step('Search for every acknowledged write on every member');
  const history = await writer.stop();
  const losses = [{ clusterId, revision }];
  const wrong = await problems({ cluster, history, prefix: writer.prefix, watcher, audit, losses });
  ensure(
    wrong.length === 0,
    wrong.join('; ') ||
      `all ${acknowledged(history.writes).length} acknowledged writes are there, except those between backup and restore`,
  );
}

const voters = (cluster: LocalCluster): number | undefined => cluster.status().voters;

const verified = (cluster: LocalCluster) => {
  const op = cluster.record()?.op;
  return op?.kind === 'Restore' ? op.args.verified : undefined;
};

async function orders(cluster: LocalCluster): Promise<number> {
  const answer = await cluster.client().etcdctl('get', '--prefix', 'order-', '--keys-only');
  return answer.split('\n').filter((line) => line !== '').length;
}

const memberId = (cluster: LocalCluster, ordinal: number): string | undefined =>
  cluster.record()?.members[ordinal]?.memberId;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const directoriesIn = (parent: string): string[] =>
  existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : [];
