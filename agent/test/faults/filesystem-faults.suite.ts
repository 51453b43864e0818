import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { backup, command, expectFailure, expectOnly, run, succeed, wholeSnapshots } from './commands.ts';
import { DirectoryPlace } from './directory-place.ts';
import { copyAll } from './place.ts';

const MIB = 1024 * 1024;

let etcd: EtcdCluster;
/** One snapshot of a small database, and its id. */
let past: DirectoryPlace;
let old: string;
beforeAll(async () => {
  [etcd, past] = await Promise.all([EtcdCluster.start(), DirectoryPlace.make()]);
  await etcd.put(50);
  old = (await succeed(backup(etcd, past.store))).snapshot.id;
});
afterAll(async () => {
  await Promise.all([etcd?.stop(), past?.[Symbol.asyncDispose]()]);
});

/** Mounts a separate file system on the place's directory. */
function mount(place: DirectoryPlace, options: string): Disposable {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', place.path], { stdio: 'ignore' });
  return { [Symbol.dispose]: () => execFileSync('umount', [place.path]) };
}

async function mayMount(): Promise<boolean> {
  await using place = await DirectoryPlace.make();
  try {
    using _ = mount(place, 'size=1m');
    return true;
  } catch {
    return false;
  }
}
const testMounted = (await mayMount()) ? test : test.skip;

async function expectUntouched(place: DirectoryPlace): Promise<void> {
  await expectOnly(place, [old]);
  expect(await wholeSnapshots(place)).toEqual([old]);
}

testMounted('a disk that is full in the middle of the payload', async () => {
  await using large = await EtcdCluster.start();
  await large.put(8, { valueSize: MIB });
  await using place = await DirectoryPlace.make();
  using _ = mount(place, 'size=4m');
  await copyAll(past, place);
  expectFailure(await run(backup(large, place.store)), 21, /ENOSPC: the volume is full; enlarge it/);
  await expectUntouched(place);
});

testMounted('a disk that has no room for the manifest', async () => {
  await using place = await DirectoryPlace.make();
  // The root, the cluster's directory, the old snapshot's two files and one more.
  using _ = mount(place, 'size=4m,nr_inodes=5');
  await copyAll(past, place);
  expectFailure(await run(backup(etcd, place.store)), 21, /ENOSPC: the volume is full; enlarge it/);
  await expectOnly(place, [old]);
});

testMounted('a disk that is mounted read-only: what is there can be read and restored', async () => {
  await using place = await DirectoryPlace.make();
  using _ = mount(place, 'size=4m');
  await copyAll(past, place);
  execFileSync('mount', ['-o', 'remount,ro', place.path]);
  expectFailure(await run(backup(etcd, place.store)), 21, /EROFS: the volume is mounted read-only/);
  await expectUntouched(place);
  const into = await mkdtemp(join(tmpdir(), 'into-'));
  await succeed(command('restore fetch', place.store, '--to', join(into, 'x.db')));
  await succeed(command('restore data-dir', place.store, '--data-dir', join(into, 'etcd')));
  await rm(into, { recursive: true });
});

testMounted('no room for the restored file', async () => {
  await using full = await DirectoryPlace.make();
  using _ = mount(full, 'size=32k');
  for (const args of [
    command('restore fetch', past.store, '--to', join(full.path, 'x.db')),
    command('restore data-dir', past.store, '--data-dir', join(full.path, 'etcd')),
  ]) {
    expectFailure(await run(args), 2, /no room for/);
    expect(await full.keys()).toEqual([]);
  }
});
