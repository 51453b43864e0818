// Backs up, verifies, restores and compares every available etcd, through every way to connect and both stores.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgent } from '../harness/agent.ts';
import { rootUser } from '../harness/etcd-auth.ts';
import { availableMinors, type Minor, missingMinors } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { initialCluster, planMembers } from '../harness/member-plan.ts';
import { Versitygw } from '../harness/versitygw.ts';

const accesses = ['plain', 'TLS client certificates', 'password auth', 'both'] as const;
type Access = (typeof accesses)[number];
const stores = ['filesystem', 's3'] as const;

let s3: Versitygw;
let root: string;

beforeAll(async () => {
  for (const minor of missingMinors()) console.warn(`etcd ${minor} is not at hand: untested`);
  s3 = await Versitygw.start({ buckets: ['backup'] });
});
afterAll(() => s3?.stop());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'matrix-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function start(minor: Minor, access: Access): Promise<EtcdCluster> {
  const cluster = await EtcdCluster.start({
    minor,
    size: 3,
    tls: access === 'TLS client certificates' || access === 'both',
    auth: access === 'password auth' || access === 'both',
  });
  await cluster.put(500, { prefix: 'first-' });
  const { header } = JSON.parse(await cluster.etcdctl('get', 'first-000000', '-w', 'json'));
  await cluster.etcdctl('compact', String(header.revision - 100));
  await cluster.etcdctl('del', 'first-0001', '--prefix');
  const lease = /lease (\w+) granted/.exec(await cluster.etcdctl('lease', 'grant', '3600'))?.[1];
  await cluster.etcdctl('put', '--lease', lease!, 'leased', 'value');
  await cluster.put(500, { prefix: 'second-', valueSize: 2_000 });
  return cluster;
}

async function accessFlags({ endpoints, tls, user }: EtcdCluster): Promise<string[]> {
  const password = join(root, 'password');
  await writeFile(password, `${rootUser.password}\n`);
  return [
    // One endpoint is enough: the agent finds the others.
    `--endpoints=${endpoints[0]!.replace(/^https?:\/\//, '')}`,
    ...(tls ? [`--cacert=${tls.ca}`, `--cert=${tls.client.cert}`, `--key=${tls.client.key}`] : []),
    ...(user ? [`--user=${user.name}`, `--password-file=${password}`] : []),
  ];
}

function storeFlag(store: (typeof stores)[number]): string {
  if (store === 'filesystem') return `--store=file://${join(root, 'store')}`;
  const { endpoint, credentialsDirectory } = s3;
  return `--store=${JSON.stringify({ s3: { bucket: 'backup', prefix: root.slice(1), endpoint, credentialsDirectory } })}`;
}

async function agent(...args: string[]) {
  const { code, stderr, stdout, result } = await runAgent([...args, '--output=json']);
  expect({ code, log: code === 0 ? '' : stderr + stdout }).toEqual({ code: 0, log: '' });
  return result;
}

async function contents(cluster: EtcdCluster) {
  const { kvs } = JSON.parse(await cluster.etcdctl('get', '', '--prefix', '-w', 'json'));
  return kvs.map(({ key, value, lease }: Record<string, unknown>) => ({ key, value, leased: Boolean(lease) }));
}

async function hashKV(cluster: EtcdCluster, revision: number) {
  const [own] = JSON.parse(
    await cluster.etcdctl(
      'endpoint',
      'hashkv',
      `--rev=${revision}`,
      `--endpoints=${cluster.endpoints[0]}`,
      '-w',
      'json',
    ),
  );
  return { hash: own.HashKV.hash, compactRevision: own.HashKV.compact_revision };
}

describe.each(availableMinors())('etcd %s', (minor) => {
  describe.each(accesses)('with %s', (access) => {
    test('is backed up, verified and restored, and has the same data', async () => {
      await using cluster = await start(minor, access);
      const before = await contents(cluster);

      for (const store of stores) {
        const inStore = ['--cluster=orders', storeFlag(store)];
        const compression = `--compression=${store === 's3' ? 'zstd' : access === 'plain' ? 'none' : 'gzip'}`;
        const backup = await agent('backup', ...inStore, ...(await accessFlags(cluster)), compression);
        expect(backup.snapshot.role).toBe('follower');
        expect(backup.comparison).toMatch(/^2 other members agree/);
        expect(backup.stores[0].verified).toBe('read');

        const verified = await agent('verify', ...inStore, '--level=open');
        expect(verified.snapshots[0].detail).toMatch(/HashKV equals that of the cluster/);
        expect((await agent('list', ...inStore)).snapshots).toMatchObject([{ id: backup.snapshot.id, verified: true }]);

        const { manifest } = await agent('show', backup.snapshot.id, ...inStore);
        await expectSameAfterRestore(inStore, cluster, manifest.content.hashKV, before);
      }
    });
  });
});

async function expectSameAfterRestore(
  inStore: string[],
  cluster: EtcdCluster,
  expected: { revision: number; compactRevision: number; hash: number },
  before: unknown,
): Promise<void> {
  const { minor } = cluster.binaries;
  const auth = cluster.user !== undefined;
  // Without raising the revision, so that HashKV at the recorded revision can be requested.
  const [same] = await restore(inStore, 1, ['--bump-revision=0']);
  await using restored = await EtcdCluster.fromDataDirs([same!], { minor, auth });
  const { revision, membersAgreeing: _, ...recorded } = { membersAgreeing: 0, ...expected };
  if (recorded.compactRevision > 0) await restored.etcdctl('compact', String(recorded.compactRevision)).catch(() => '');
  expect(await hashKV(restored, revision)).toEqual(recorded);
  expect(await contents(restored)).toEqual(before);

  const [{ id }] = (await agent('list', ...inStore)).snapshots;
  const jumped = await restore(inStore, 3, [id, '--initial-cluster-token=new-token', `--server-version=${minor}`]);
  await using three = await EtcdCluster.fromDataDirs(jumped, { minor, auth });
  expect(await contents(three)).toEqual(before);
  const { header } = JSON.parse(await three.etcdctl('get', 'leased', '-w', 'json'));
  expect(header.revision).toBeGreaterThan(1_000_000_000);
  await expect(three.etcdctl('get', 'leased', `--rev=${revision}`)).rejects.toThrow(/compacted/);
  await three.etcdctl('put', 'after', 'restore');
}

async function restore(inStore: string[], size: number, flags: string[]) {
  const plans = (await planMembers(size)).map((plan) => ({
    ...plan,
    dataDir: join(root, `restored-${plan.peerUrl.split(':').at(-1)}`),
  }));
  for (const { name, peerUrl, dataDir } of plans) {
    await agent(
      ...['restore', 'data-dir', ...inStore, ...flags, `--data-dir=${dataDir}`, `--name=${name}`],
      ...[`--initial-cluster=${initialCluster(plans)}`, `--initial-advertise-peer-urls=${peerUrl}`],
    );
  }
  return plans;
}
