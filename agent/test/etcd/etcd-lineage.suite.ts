// A cluster that is lost and restored twice: its old snapshots belong to its history, and age with its new ones.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgent } from '../harness/agent.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { planMembers } from '../harness/member-plan.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'lineage-'));
});
afterEach(() => rm(root, { recursive: true }));

async function agent(command: string, ...flags: string[]) {
  const args = [...command.split(' '), `--store=file://${root}/store`, '--cluster=orders', '--output=json', ...flags];
  const { code, result, stderr } = await runAgent(args);
  expect({ code, log: code === 0 ? '' : stderr }).toEqual({ code: 0, log: '' });
  return result;
}

async function backup(cluster: EtcdCluster, ...flags: string[]) {
  const { snapshot, stores } = await agent('backup', `--endpoints=${cluster.endpoints}`, ...flags);
  const { cluster: described } = JSON.parse(await readFile(join(root, `store/orders/${snapshot.id}.json`), 'utf8'));
  return { id: snapshot.id, clusterId: snapshot.clusterId, lineage: described.lineage, deleted: stores[0].deleted };
}

async function restored(id: string): Promise<EtcdCluster> {
  const [plan] = await planMembers(1);
  const dataDir = join(root, `data-${plan!.peerUrl.split(':').at(-1)}`);
  const { name, peerUrl } = plan!;
  await agent(
    `restore data-dir ${id}`,
    `--data-dir=${dataDir}`,
    `--name=${name}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
  );
  return EtcdCluster.fromDataDirs([{ ...plan!, dataDir }]);
}

const ids = async () => (await agent('list')).snapshots.map(({ id }: { id: string }) => id);
const onlyTheLast = '--retention=last=1,minKeep=1';

test('retention counts the snapshots from before a restore as its own, and keeps the newest of each history', async () => {
  await using stranger = await EtcdCluster.start();
  await using first = await EtcdCluster.start();
  await first.etcdctl('put', 'key', 'value');
  const foreign = await backup(stranger);
  const a1 = await backup(first);
  const a2 = await backup(first);
  expect([a1.lineage, a2.lineage]).toEqual([undefined, undefined]);

  await using second = await restored(a2.id);
  expect(await second.etcdctl('get', 'key', '--print-value-only')).toBe('value\n');
  const b1 = await backup(second, onlyTheLast);
  expect(b1.clusterId).not.toBe(a2.clusterId);
  expect(b1.lineage).toEqual([a2.clusterId]);
  expect(b1.deleted).toEqual([a1.id]);
  // The newest snapshot of the previous id stays, and foreign snapshots are left alone.
  expect(await ids()).toEqual([b1.id, a2.id, foreign.id]);

  const b2 = await backup(second, onlyTheLast);
  expect(b2).toMatchObject({ lineage: [a2.clusterId], deleted: [b1.id] });

  await using third = await restored(b2.id);
  const c1 = await backup(third, onlyTheLast);
  expect(c1.lineage).toEqual([b2.clusterId, a2.clusterId]);
  expect(c1.deleted).toEqual([a2.id]);
  // The note of the first restore was deleted with the first cluster's snapshots, but the history is still known.
  const c2 = await backup(third, onlyTheLast);
  expect(c2).toMatchObject({ lineage: c1.lineage, deleted: [c1.id] });
  expect(await ids()).toEqual([c2.id, b2.id, foreign.id]);
});

test('a cluster that another tool restored from a snapshot reports this once', async () => {
  await using first = await EtcdCluster.start();
  await using second = await EtcdCluster.start();
  const a1 = await backup(first);
  const b1 = await backup(second, onlyTheLast);
  expect(b1.lineage).toBeUndefined();
  expect(b1.deleted).toEqual([]);

  const b2 = await backup(second, onlyTheLast, `--restored-from=${a1.clusterId}`);
  expect(b2.lineage).toEqual([a1.clusterId]);
  const b3 = await backup(second, onlyTheLast);
  expect(b3).toMatchObject({ lineage: [a1.clusterId], deleted: [b2.id] });
  expect(await ids()).toEqual([b3.id, a1.id]);
});
