import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { etcdOf } from '../agent/test/harness/etcd-binaries.ts';
import { LocalCluster } from '../agent/test/local/cluster.ts';
import { problems } from '../agent/test/members/checks.ts';
import { acknowledged, longestGap } from '../agent/test/members/history.ts';
import { VolumeAudit } from '../agent/test/members/volume-audit.ts';
import { Watcher } from '../agent/test/members/watcher.ts';
import { Writer } from '../agent/test/members/writer.ts';
import { runAgent } from './agent.mts';
import { ensure, quote, show, step } from './narrate.mts';
import { source, synthesizeCluster } from './orders.mts';

/**
 * The gates, the sidecars, the reconciler and etcd are the real ones. Only Kubernetes is not there: files stand for its
 * API, and processes for its pods.
 */
export async function tellOfACluster(dir: string): Promise<void> {
  mkdirSync(dir);
  step('A cluster in TypeScript, synthesized to plain manifests');
  quote(source);
  const { manifests, spec } = synthesizeCluster(etcdOf('3.6').version);
  show(manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(', '));

  step('Applied: the seed starts alone, the others join as learners and are promoted');
  await using cluster = await LocalCluster.start({ ...spec, dir, spec: { schedule: 'nightly' } });
  using audit = new VolumeAudit(() => directoriesIn(join(dir, 'volumes')));
  await using writer = Writer.start({ target: cluster });
  await using watcher = Watcher.start({ target: cluster, prefix: writer.prefix });
  await cluster.settled();
  ensure(voters(cluster) === 3, `three voters of etcd ${spec.version}; clients write from now on until the end`);
  const formed = writer.now;
  await writer.more(200);

  step('The volume of member 1 is destroyed');
  const before = memberId(cluster, 1);
  await cluster.loseVolume(1);
  await cluster.until(() => voters(cluster) === 3 && memberId(cluster, 1) !== before, 'another member took its place');
  await cluster.settled();
  ensure(true, `member ${before} was removed before ${memberId(cluster, 1)} joined in its place`);

  step(`version: '${etcdOf('3.7').version}', synthesized and applied again`);
  const upgrade = writer.now;
  await cluster.apply({ version: etcdOf('3.7').version });
  await cluster.until(() => cluster.record()?.versions.current === '3.7', 'the upgrade is finished');
  await cluster.settled();
  const store = ['--cluster=main', '--namespace=default', `--store=file://${join(dir, 'backups')}`, '--output=json'];
  const { snapshots } = JSON.parse(await runAgent('list', ...store));
  ensure(snapshots.length === 1, `a verified backup first (${snapshots[0].id}), then one by one, the leader last`);
  const refused = writer.history.writes.filter(({ start, outcome }) => start >= upgrade && outcome !== 'ok');
  const gap = seconds(longestGap(writer.history, formed, writer.now));
  ensure(refused.length === 0, `every write was taken within a second; the longest time without one was ${gap}`);

  step('A backup of 100 orders, and then somebody deletes them');
  const endpoints = cluster.endpoints.slice(0, 3).join();
  await cluster.client().put(100, { prefix: 'order-' });
  const { snapshot } = JSON.parse(await runAgent('backup', ...store, `--endpoints=${endpoints}`));
  await cluster.client().etcdctl('del', '--prefix', 'order-');
  ensure((await orders(cluster)) === 0, `100 orders are gone; the backup is ${snapshot.id}`);
  await writer.more(50);

  step('An EtcdRestore of that backup, in place');
  const clusterId = cluster.record()?.clusterId ?? '';
  await cluster.restore({ name: 'before-the-mistake', source: { snapshotId: snapshot.id } });
  await cluster.until(() => verified(cluster) !== undefined, 'the snapshot is verified');
  const revision = verified(cluster)?.revision ?? 0;
  ensure(true, `read, compared and restored on trial before anything is touched: revision ${revision}`);
  await cluster.until(() => cluster.restoreNamed('before-the-mistake')?.phase === 'Completed', 'it is restored');
  await cluster.settled();
  ensure(voters(cluster) === 3 && (await orders(cluster)) === 100, 'three voters, and every order is back');
  await writer.more(50);

  step('Every acknowledged write is looked for, on every member');
  const history = await writer.stop();
  const losses = [{ clusterId, revision }];
  const wrong = await problems({ cluster, history, prefix: writer.prefix, watcher, audit, losses });
  ensure(
    wrong.length === 0,
    wrong.join('; ') ||
      `all ${acknowledged(history.writes).length} are there, but for those between backup and restore`,
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
