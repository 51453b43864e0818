import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readerUser } from './etcd-auth.ts';
import { availableMinors, etcdutl, missingMinors } from './etcd-binaries.ts';
import { EtcdCluster } from './etcd-cluster.ts';
import { initialCluster, planMembers } from './member-plan.ts';

describe.each(availableMinors())('etcd %s', (minor) => {
  test('three members with TLS and auth store writes, and require credentials', async () => {
    await using cluster = await EtcdCluster.start({ minor, size: 3, tls: true, auth: true });
    await cluster.put(300);
    expect((await cluster.etcdctl('get', '', '--prefix', '--keys-only')).match(/key-\d+/g)).toHaveLength(300);
    const status: { Status: { version: string } }[] = JSON.parse(
      await cluster.etcdctl('endpoint', 'status', '-w', 'json'),
    );
    expect(status.map((member) => member.Status.version)).toEqual(Array(3).fill(cluster.binaries.version));
    cluster.user = readerUser;
    expect(await cluster.etcdctl('get', 'key-000299', '--keys-only')).toContain('key-000299');
    await expect(cluster.etcdctl('put', 'a', 'b')).rejects.toThrow('permission denied');
    cluster.user = { name: 'root', password: 'wrong' };
    await expect(cluster.etcdctl('get', 'a')).rejects.toThrow('authentication failed');
  });

  test('a member that is killed and started again has kept its data', async () => {
    await using cluster = await EtcdCluster.start({ minor });
    await cluster.etcdctl('put', 'a', 'b');
    const before = cluster.member(0).pid;
    await cluster.member(0).kill();
    expect(cluster.member(0).pid).toBeUndefined();
    await cluster.member(0).start();
    expect(cluster.member(0).pid).not.toBe(before);
    expect(await cluster.etcdctl('get', 'a', '--print-value-only')).toBe('b\n');
  });
});

if (missingMinors().length > 0)
  test.skip(`not available, so untested: etcd ${missingMinors().join(', ')}`, () => undefined);

test('a cluster starts on restored data directories', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'restored-'));
  const snapshot = join(directory, 'snapshot.db');
  {
    await using source = await EtcdCluster.start();
    await source.etcdctl('put', 'a', 'b');
    await source.etcdctl('snapshot', 'save', snapshot);
  }
  const plans = await planMembers(3);
  const members = plans.map((plan) => ({ ...plan, dataDir: join(directory, plan.name) }));
  for (const { name, peerUrl, dataDir } of members) {
    await promisify(execFile)(etcdutl(), [
      ...['snapshot', 'restore', snapshot, '--name', name, '--data-dir', dataDir],
      ...['--initial-cluster', initialCluster(plans), '--initial-advertise-peer-urls', peerUrl],
    ]);
  }
  await using cluster = await EtcdCluster.fromDataDirs(members);
  expect(cluster.endpoints).toHaveLength(3);
  expect(await cluster.etcdctl('get', 'a', '--print-value-only')).toBe('b\n');
  await cluster.stop();
  await rm(directory, { recursive: true });
});

test('an etcd that cannot start is an error with the end of its log', async () => {
  const extraArgs = ['--heartbeat-interval=1000', '--election-timeout=1000'];
  await expect(EtcdCluster.start({ extraArgs })).rejects.toThrow(/has ended.*should be at least as 5 times/s);
});

test('etcd dies with a process that is killed', async () => {
  const harness = JSON.stringify(join(import.meta.dirname, 'etcd-cluster.ts'));
  const script = `const { EtcdCluster } = await import(${harness});
    const cluster = await EtcdCluster.start();
    console.log(cluster.member(0).pid, cluster.member(0).dataDir);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env: { PATH: process.env.PATH } });
  const [line] = await once(createInterface(child.stdout), 'line');
  const [pid, dataDir] = line.split(' ');
  expect(isAlive(Number(pid))).toBe(true);
  child.kill('SIGKILL');
  for (let i = 0; i < 50 && isAlive(Number(pid)); i++) await sleep(100);
  expect(isAlive(Number(pid))).toBe(false);
  await rm(dirname(dataDir), { recursive: true });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
