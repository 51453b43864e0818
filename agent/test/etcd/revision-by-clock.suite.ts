// Restores each etcd three times, with one and three members: it begins at the time in microseconds, and lives on there.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgent } from '../harness/agent.ts';
import { availableMinors, type Minor, missingMinors } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { initialCluster, planMembers } from '../harness/member-plan.ts';

let root: string;
beforeAll(() => {
  for (const minor of missingMinors()) console.warn(`etcd ${minor} is not at hand: untested`);
});
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'clock-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function agent(...args: string[]) {
  const inStore = ['--cluster=orders', `--store=file://${join(root, 'store')}`];
  const { code, stderr, stdout, result } = await runAgent([...args, ...inStore, '--output=json']);
  expect({ code, log: code === 0 ? '' : stderr + stdout }).toEqual({ code: 0, log: '' });
  return result;
}

const backup = async (etcd: EtcdCluster): Promise<string> =>
  (await agent('backup', `--endpoints=${etcd.endpoints.join().replaceAll('http://', '')}`)).snapshot.id;

const revisionOf = async (etcd: EtcdCluster): Promise<number> =>
  JSON.parse(await etcd.etcdctl('get', 'key', '-w', 'json')).header.revision;

const keyOf = async (etcd: EtcdCluster): Promise<string> =>
  (await etcd.etcdctl('get', 'key', '--print-value-only')).trim();

/** Restores all members at the same time: none of them knows the number of another one before. */
async function restored(id: string, size: 1 | 3, minor: Minor, token: string): Promise<EtcdCluster> {
  const plans = await planMembers(size);
  const members = plans.map((plan) => ({ ...plan, dataDir: join(root, `${token}-${plan.name}`) }));
  const ends = await Promise.all(
    members.map(({ name, peerUrl, dataDir }) =>
      agent(
        ...['restore', 'data-dir', id, `--data-dir=${dataDir}`, `--name=${name}`, `--server-version=${minor}`],
        ...[`--initial-cluster=${initialCluster(plans)}`, `--initial-advertise-peer-urls=${peerUrl}`],
        `--initial-cluster-token=${token}`,
      ),
    ),
  );
  expect(new Set(ends.map(({ clusterId, revision }) => `${clusterId} ${revision}`)).size).toBe(1);
  return EtcdCluster.fromDataDirs(members, { minor });
}

/** What etcd does all day. */
async function expectLife(etcd: EtcdCluster, lease: string): Promise<void> {
  await etcd.put(200, { prefix: 'life-' });
  const revision = await revisionOf(etcd);
  const client = await etcd.connect();
  const watcher = await client.watch().key('key').startRevision(String(revision)).create();
  const event = new Promise<number>((resolve) => watcher.on('put', (kv) => resolve(Number(kv.mod_revision))));
  await etcd.etcdctl('put', 'key', 'written');
  expect(await event).toBe(revision + 1);
  client.close();
  await etcd.etcdctl('compact', String(revision), '--physical');
  await etcd.etcdctl('defrag');
  expect(await keyOf(etcd)).toBe('written');
  // The lease of the snapshot goes on, and its key goes with it.
  expect(await etcd.etcdctl('lease', 'timetolive', lease)).toMatch(/remaining\(\d+s\)/);
  expect((await etcd.etcdctl('get', 'leased', '--print-value-only')).trim()).toBe('yes');
  await etcd.etcdctl('lease', 'revoke', lease);
  expect((await etcd.etcdctl('get', 'leased', '--print-value-only')).trim()).toBe('');
  const hashes = JSON.parse(await etcd.etcdctl('endpoint', 'hashkv', '-w', 'json'));
  expect(new Set(hashes.map(({ HashKV: { hash } }: { HashKV: { hash: number } }) => hash)).size).toBe(1);
}

/** A client that saw a revision before gets an error, and lists again. */
async function expectCompacted(etcd: EtcdCluster, revision: number): Promise<void> {
  await expect(etcd.etcdctl('get', 'key', `--rev=${revision}`)).rejects.toThrow(/compacted/);
  await expect(etcd.etcdctl('watch', 'key', `--rev=${revision}`)).rejects.toThrow(/compacted/);
}

describe.each(availableMinors())('etcd %s', (minor) => {
  test.each([1, 3] as const)('restored three times, with %d members', async (size) => {
    const leaseIn = async (etcd: EtcdCluster) => {
      const lease = /lease (\w+) granted/.exec(await etcd.etcdctl('lease', 'grant', '3600'))?.[1];
      await etcd.etcdctl('put', '--lease', lease!, 'leased', 'yes');
      return lease!;
    };
    await using first = await EtcdCluster.start({ minor, size });
    await first.etcdctl('put', 'key', 'first');
    const lease = await leaseIn(first);
    const before = await revisionOf(first);
    const id = await backup(first);
    await first.stop();

    const began = Date.now() * 1000;
    await using second = await restored(id, size, minor, 'second');
    const start = await revisionOf(second);
    expect([start >= began, start <= Date.now() * 1000]).toEqual([true, true]);
    expect(await keyOf(second)).toBe('first');
    await expectCompacted(second, before + 1);
    await expectLife(second, lease);
    const other = await leaseIn(second);
    const later = await backup(second);
    const served = await revisionOf(second);
    await second.stop();

    // The newer snapshot, and after that the older one: the revision rises.
    await using third = await restored(later, size, minor, 'third');
    expect(await revisionOf(third)).toBeGreaterThan(served);
    await expectCompacted(third, served);
    await expectLife(third, other);
    const last = await revisionOf(third);
    await third.stop();
    await using fourth = await restored(id, size, minor, 'fourth');
    expect(await revisionOf(fourth)).toBeGreaterThan(last);
    expect(await keyOf(fourth)).toBe('first');
    await expectCompacted(fourth, last);
    await expectLife(fourth, lease);
  });
});
