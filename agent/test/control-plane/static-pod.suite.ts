// What else runs on a node, and what the kubelet may start at any time.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isInUse } from '../../src/etcd/offline/data-dir.ts';
import { expectFailure, run, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { nextBump, restoreArgs, takeSnapshot } from './commands.ts';
import { FakeControlPlane, type FakeNode } from './node-fixture.ts';

let place: DirectoryPlace;
let plane: FakeControlPlane;
let node: FakeNode;
let id: string;
beforeAll(async () => {
  [place, plane] = await Promise.all([DirectoryPlace.make(), FakeControlPlane.start()]);
  [node] = plane.nodes as [FakeNode];
  await plane.put('before', 'yes');
  id = await takeSnapshot(plane, place);
});
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});

let files = 0;
/** What the kubelet starts. */
async function pod(request: string): Promise<string[]> {
  const file = join(node.root, `restore-${++files}.yaml`);
  await writeFile(file, request);
  return restoreArgs(node, place, `--config=${file}`);
}
const nextNumber = async () => (await nextBump(plane)).replace('--bump-revision=', 'bumpRevision: ');
const put = async (value: string) => {
  await plane.healthy();
  await plane.put('since', value);
};

test('what was undone is not restored again when the kubelet starts the Pod again', async () => {
  const args = await pod(`snapshot: ${id}\n`);
  await succeed([...args, '--stop']);
  await succeed([...args, '--undo']);
  await put('the undo');
  const before = await node.files();
  for (const again of [args, [...args, '--stop'], await pod('{}')]) {
    expectFailure(await run(again), 40, /the restore of \S+ that began at \S+ was undone, .*once; .*bumpRevision/);
  }
  expect(await node.files()).toEqual(before);
  expect(await plane.get('since')).toBe('the undo');
  await succeed(await pod(`snapshot: ${id}\n${await nextNumber()}\n`));
  await plane.healthy();
  expect(await plane.get('since')).toBe('');
});

test('what was done is not done again on data that came later', async () => {
  const args = await pod(`snapshot: ${id}\n${await nextNumber()}\n`);
  await succeed(args);
  expect(await succeed(args)).toMatchObject({ alreadyRestored: true });
  await put('the restore');
  await takeSnapshot(plane, place);
  expect(await succeed(await pod('{}'))).toMatchObject({ alreadyRestored: true, id });
  expect(await plane.get('since')).toBe('the restore');
  // A person restores something else, and later the node is booted again.
  await succeed(restoreArgs(node, place, id, await nextBump(plane)));
  await put('a person');
  expectFailure(await run(args), 40, /the restore of \S+ that began at \S+ was done, .*once; .*bumpRevision/);
  expect(await plane.get('since')).toBe('a person');

  await rm(node.dataDir, { recursive: true });
  await mkdir(node.dataDir, { mode: 0o700 });
  expectFailure(await run(args), 40, /was done, /);
  await succeed(restoreArgs(node, place, id));
  await plane.healthy();
});

/** A process of a control plane that runs in pods of this one: in a mount and a network namespace of its own. */
async function nested(name: string, ...args: string[]): Promise<ChildProcess> {
  const other = join(node.root, 'other');
  await mkdir(other, { recursive: true });
  const script = 'mount --bind "$1" "$2"; name="$3"; shift 3; echo ready; exec -a "$name" "$@"';
  const program = [process.execPath, '-e', 'setInterval(() => {}, 1000)', '--', ...args];
  const words = ['bash', '-ec', script, 'bash', other, node.dataDir, name, ...program];
  const child = spawn('unshare', ['--mount', '--net', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout!, 'data');
  return child;
}

test('etcd and API server of a nested control plane are not those of this node', async () => {
  const flags = [`--data-dir=${node.dataDir}`, `--listen-client-urls=${node.clientUrl}`];
  const others = [await nested('etcd', ...flags), await nested('kube-apiserver', `--etcd-servers=${node.clientUrl}`)];
  try {
    await succeed(restoreArgs(node, place, id, await nextBump(plane), '--wait=8s'));
    expect(others.map(({ exitCode }) => exitCode)).toEqual([null, null]);
    await plane.healthy();
  } finally {
    for (const each of others) each.kill('SIGKILL');
  }
});

test('a lock on a file of another disk is not one on the data, though their inodes have the same number', async () => {
  const disks = ['one', 'two'].map((name) => join(node.root, name));
  for (const disk of disks) {
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', disk]);
    await mkdir(join(disk, 'member', 'snap'), { recursive: true });
    await writeFile(join(disk, 'member', 'snap', 'db'), '');
  }
  const [one, two] = disks as [string, string];
  const holder = spawn('flock', [join(one, 'member', 'snap', 'db'), 'sh', '-c', 'echo held; sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  try {
    await once(holder.stdout!, 'data');
    const inodes = await Promise.all(disks.map(async (disk) => (await stat(join(disk, 'member', 'snap', 'db'))).ino));
    expect(inodes[0]).toBe(inodes[1]);
    expect([await isInUse(one), await isInUse(two)]).toEqual([true, false]);
  } finally {
    process.kill(-holder.pid!, 'SIGKILL');
    await once(holder, 'close');
    for (const disk of disks) execFileSync('umount', [disk]);
  }
});
