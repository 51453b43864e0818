// Snapshots with an alarm, which the restored etcd has too.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withChannel } from '../../src/control-plane/state/live-revisions.ts';
import { encodeInt } from '../../src/etcd/protobuf.ts';
import { expectFailure, run, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { availableMinors, etcdOf as etcdBinaries } from '../harness/etcd-binaries.ts';
import { restoreArgs, takeSnapshot } from './commands.ts';
import { FakeControlPlane, type FakeNode } from './node-fixture.ts';

let place: DirectoryPlace;
let plane: FakeControlPlane;
let node: FakeNode;
beforeEach(async () => {
  [place, plane] = await Promise.all([DirectoryPlace.make(), FakeControlPlane.start()]);
  [node] = plane.nodes as [FakeNode];
  await plane.put('before', 'yes');
});
afterEach(async () => {
  await plane?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});

const QUOTA = 2_000_000;

async function setQuota(bytes: number): Promise<void> {
  const file = join(node.manifestsDir, 'etcd.yaml');
  const text = (await readFile(file, 'utf8')).replace(/ +- --quota-backend-bytes=.*\n/, '');
  await writeFile(file, text.replace(/( +- )--logger=zap\n/, `$&$1--quota-backend-bytes=${bytes}\n`));
  process.kill(node.kubelet.pid('etcd.yaml')!, 'SIGTERM');
  while (
    await plane.client.etcdctl('endpoint', 'status').then(
      () => false,
      () => true,
    )
  )
    await sleep(100);
  await sleep(700);
}

/** Writes until etcd refuses it. */
async function fill(key: (n: number) => string): Promise<void> {
  for (let n = 0; n < 60; n++) {
    const failed = await plane.put(key(n), 'x'.repeat(100_000)).then(
      () => false,
      () => true,
    );
    if (failed) return;
  }
  throw new Error('etcd did not raise NOSPACE');
}

const alarms = async () => (await plane.client.etcdctl('alarm', 'list')).trim();

test('NOSPACE by old revisions: the plan names it, and the restore makes room and clears it', async () => {
  await setQuota(QUOTA);
  await fill(() => 'same');
  expect(await alarms()).toMatch('NOSPACE');
  const id = await takeSnapshot(plane, place);
  const { notes } = await succeed(restoreArgs(node, place, '--plan'));
  expect(notes.join('\n')).toMatch(/etcd has the alarm NOSPACE: it serves reads and refuses every write/);
  expect(notes.join('\n')).not.toMatch(/no quorum/);
  expect(notes).toContainEqual(expect.stringMatching(`^${id} has a NOSPACE alarm: this restore .*clears the alarm`));
  expect(await succeed(restoreArgs(node, place, id))).toMatchObject({ state: 'done' });
  expect(await alarms()).toBe('');
  await plane.healthy();
  await plane.put('after', 'the restore');
  expect([await plane.get('before'), await plane.get('after')]).toEqual(['yes', 'the restore']);
});

test('a quota that is raised after the restore began counts, also before etcd shows it', async () => {
  if (!availableMinors().includes('3.5')) return;
  await plane[Symbol.asyncDispose]();
  plane = await FakeControlPlane.start({ binaries: etcdBinaries('3.5') });
  [node] = plane.nodes as [FakeNode];
  await setQuota(QUOTA);
  await fill((n) => `key-${n}`);
  const id = await takeSnapshot(plane, place);
  await setQuota(QUOTA / 8);
  expectFailure(await run(restoreArgs(node, place, id, '--wait=6s')), 50, /--quota-backend-bytes allows/);
  await setQuota(10 * QUOTA);
  expect(await succeed(restoreArgs(node, place, id))).toMatchObject({ state: 'done' });
  expect(await alarms()).toBe('');
});

test('more data than the quota: the restore says so and ends with 50, and goes on once more is allowed', async () => {
  for (let n = 0; n < 40; n++) await plane.put(`key-${n}`, 'x'.repeat(100_000));
  const id = await takeSnapshot(plane, place);
  await setQuota(QUOTA);
  const quota = /the quota of this etcd \(--quota-backend-bytes\) is 1 MiB/;
  expect((await succeed(restoreArgs(node, place, '--plan'))).notes).toContainEqual(expect.stringMatching(quota));
  const refused = await run(restoreArgs(node, place, id, '--wait=10s'));
  expectFailure(refused, 50, /its data take \d+ of the 2000000 bytes that --quota-backend-bytes allows/);
  expect(await readdir(node.manifestsDir)).toEqual(['etcd.yaml']);
  await setQuota(20 * QUOTA);
  expect(await succeed(restoreArgs(node, place, id))).toMatchObject({ state: 'done' });
  await plane.put('after', 'the restore');
  expect([await alarms(), await plane.get('key-39')]).toEqual(['', 'x'.repeat(100_000)]);
});

const raise = (type: 1 | 2) =>
  withChannel(node.clientUrl, { cacert: plane.client.tls!.ca, ...plane.client.tls!.client }, async (channel) => {
    const fields = [encodeInt(1, 1), encodeInt(2, 7), encodeInt(3, type)];
    await channel.unary('Maintenance/Alarm', Buffer.concat(fields), { deadline: 5_000 });
  });

test('CORRUPT of the snapshot is named and cleared; one of the restored etcd is not', async () => {
  await raise(2);
  await mkdir(join(place.path, 'orders'), { recursive: true });
  await plane.client.etcdctl('snapshot', 'save', join(place.path, 'orders', 'etcd-by-script.db'));
  const args = restoreArgs(
    node,
    place,
    '--object-key=orders/etcd-by-script.db',
    '--adopt',
    '--force-foreign',
    '--force-failed',
  );
  const { notes } = await succeed([...args, '--plan']);
  expect(notes.join('\n')).toMatch(/etcd has the alarm CORRUPT: it refuses every read and write/);
  expect(notes.join('\n')).toMatch(/has a CORRUPT alarm: .*an older snapshot may be better; this restore clears/);
  const { journal } = await succeed(args);
  expect(await alarms()).toBe('');
  await plane.put('after', 'the restore');

  await raise(2);
  const file = join(journal, 'journal.json');
  const content = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...content, state: 'served', corruptAlarm: false }));
  expectFailure(await run([...args, '--wait=2s']), 50, /alarm CORRUPT: its members hold different data/);
  expect(await alarms()).toMatch('CORRUPT');
});
