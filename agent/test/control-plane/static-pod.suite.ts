// The static Pod that restores, which the kubelet may start at any time.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expectFailure, run, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { restoreArgs, takeSnapshot } from './commands.ts';
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
  await succeed(await pod(`snapshot: ${id}\nbumpRevision: 2000000000\n`));
  await plane.healthy();
  expect(await plane.get('since')).toBe('');
});

test('what was done is not done again on data that came later', async () => {
  const args = await pod(`snapshot: ${id}\nbumpRevision: 3000000000\n`);
  await succeed(args);
  expect(await succeed(args)).toMatchObject({ alreadyRestored: true });
  await put('the restore');
  await takeSnapshot(plane, place);
  expect(await succeed(await pod('{}'))).toMatchObject({ alreadyRestored: true, id });
  expect(await plane.get('since')).toBe('the restore');
  // A person restores something else, and later the node is booted again.
  await succeed(restoreArgs(node, place, id, '--bump-revision=5000000000'));
  await put('a person');
  expectFailure(await run(args), 40, /the restore of \S+ that began at \S+ was done, .*once; .*bumpRevision/);
  expect(await plane.get('since')).toBe('a person');

  await rm(node.dataDir, { recursive: true });
  await mkdir(node.dataDir, { mode: 0o700 });
  expectFailure(await run(args), 40, /was done, /);
  await succeed(restoreArgs(node, place, id));
  await plane.healthy();
});
