import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { availableMinors } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { beganAfter, dataRevision, hasJoined } from './data-revision.ts';

test('the data of a killed etcd never report less than it served, in every version', async () => {
  const found = availableMinors().map(async (minor) => {
    await using etcd = await EtcdCluster.start({ minor });
    const member = etcd.member(0);
    const revision = async () => JSON.parse(await etcd.etcdctl('get', 'a', '-w', 'json')).header.revision;
    const client = await etcd.connect();
    for (let n = 0; n < 30; n++) await client.put(`key-${n % 5}`).value('x'.repeat(20_000));
    await member.kill();
    // The database is written every 100 ms; later acknowledged writes are only in the log.
    const killed = await dataRevision(member);
    await member.spawn();
    await member.healthy();
    const served = await revision();
    expect({ minor, ok: killed!.revision >= served, near: killed!.revision < served + 20 }).toEqual({
      minor,
      ok: true,
      near: true,
    });

    // The newest key is deleted and compacted: only the compaction still shows the revision.
    await client.delete().key('key-1');
    const deleted = await revision();
    await etcd.etcdctl('compact', String(deleted), '--physical');
    client.close();
    await member.stop();
    const stopped = await dataRevision(member);
    expect({ minor, ok: stopped!.revision >= deleted, near: stopped!.revision < deleted + 20 }).toEqual({
      minor,
      ok: true,
      near: true,
    });
    expect(stopped!.clusterId).toMatch(/^[0-9a-f]+$/);
  });
  await Promise.all(found);
});

test('data that a running etcd has half written are read again', async () => {
  await using etcd = await EtcdCluster.start({});
  const member = etcd.member(0);
  await etcd.put(20);
  await member.kill();
  const file = join(member.dataDir, 'member/snap/db');
  const whole = await readFile(file);
  await truncate(file, whole.length / 2);
  const reading = dataRevision(member);
  await sleep(70);
  await writeFile(file, whole);
  expect((await reading)!.revision).toBeGreaterThan(20);
});

test('what cannot be read shows no revision', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'data-'));
  const [snap, wal] = ['snap', 'wal'].map((name) => join(dataDir, 'member', name)) as [string, string];
  const none = async () => expect(await dataRevision({ dataDir })).toBeUndefined();
  await none();
  await writeFile(join(dataDir, 'member'), 'none');
  await none();
  await rm(join(dataDir, 'member'));
  await mkdir(join(snap, 'db'), { recursive: true });
  await none();
  await rm(join(snap, 'db'), { recursive: true });
  await writeFile(join(snap, 'db'), 'damaged');
  await mkdir(wal);
  await writeFile(join(wal, '0000000000000000-0000000000000000.wal'), Buffer.alloc(100));
  await none();
  await rm(dataDir, { recursive: true });
});

test('data that etcd created after the snapshot in an empty directory are detected', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'data-'));
  const [past, future] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)];
  const log = join(dataDir, 'member', 'wal');
  await mkdir(log, { recursive: true });
  expect(await beganAfter({ dataDir }, past)).toBe(false);
  await writeFile(join(log, '0000000000000001-00000000000000a0.wal'), '');
  expect(await beganAfter({ dataDir }, past)).toBe(false);
  await writeFile(join(log, '0000000000000000-0000000000000000.wal'), '');
  expect(await beganAfter({ dataDir }, past)).toBe(true);
  expect(await beganAfter({ dataDir, walDir: log }, past)).toBe(true);
  expect(await beganAfter({ dataDir }, future)).toBe(false);
  await writeFile(join(dataDir, 'member', 'etcd-agent-restore.json'), '{"id":"x"}');
  expect(await beganAfter({ dataDir }, past)).toBe(false);
  await rm(dataDir, { recursive: true });
});

test('data of a member that joined after the snapshot are not those of an etcd that began anew', () => {
  const of = { clusterIds: ['c0', 'c-1'], revision: 1000, size: 3 };
  const seen = (revision: number, clusterId = 'c0') => ({ revision, clusterId, where: 'the data' });
  expect(hasJoined(seen(1500), [], of)).toBe(true);
  expect(hasJoined(seen(3), [seen(1500)], of)).toBe(true);
  expect(hasJoined(seen(1500, 'c9'), [seen(1500, 'c9')], of)).toBe(true);
  expect(hasJoined(seen(1500, 'c9'), [seen(1500)], of)).toBe(false);
  // The id follows from the flags.
  expect(hasJoined(seen(3), [], of)).toBe(false);
  expect(hasJoined(seen(1500), [], { ...of, size: 1 })).toBe(false);
  expect(hasJoined({ revision: 1500 }, [], of)).toBe(false);
});
