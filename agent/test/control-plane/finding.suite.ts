// What a plan finds before it advises a restore, and what it leaves out of account.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { restoreArgs, takeSnapshot } from './commands.ts';
import { FakeControlPlane, type FakeNode } from './node-fixture.ts';

let place: DirectoryPlace;
beforeEach(async () => {
  place = await DirectoryPlace.make();
});
afterEach(() => place[Symbol.asyncDispose]());

const findingOn = async (node: FakeNode, ...more: string[]): Promise<string> => {
  const { stdout } = await run(restoreArgs(node, place, ...more, '--plan', '--output=text'));
  return stdout.split('\n')[0]!;
};

test('an empty etcd in the place of the lost one is not called healthy', async () => {
  await using plane = await FakeControlPlane.start();
  const [node] = plane.nodes as [FakeNode];
  for (let n = 0; n < 30; n++) await plane.put('key', String(n));
  const id = await takeSnapshot(plane, place);
  expect(await findingOn(node, id)).toMatch(
    /^FINDING: etcd on this node is healthy and has a quorum \(cp1, revision \d+\): restore only if its data is wrong/,
  );
  await rm(node.dataDir, { recursive: true });
  await mkdir(node.dataDir, { mode: 0o700 });
  process.kill(node.kubelet.pid('etcd.yaml')!, 'SIGKILL');
  await sleep(700);
  await plane.healthy();
  expect(await findingOn(node, id)).toMatch(
    /^FINDING: etcd on this node does not have the data of the snapshot: it began later in an empty directory, and has revision 1 and 1 member, where the snapshot has revision \d+ and 1 member/,
  );
});

describe('three nodes', () => {
  let plane: FakeControlPlane;
  let first: FakeNode;
  let id: string;
  beforeAll(async () => {
    plane = await FakeControlPlane.start({ size: 3 });
    [first] = plane.nodes as [FakeNode, FakeNode, FakeNode];
  });
  beforeEach(async () => {
    await plane.put('before', 'yes');
    id = await takeSnapshot(plane, place);
  });
  afterAll(() => plane[Symbol.asyncDispose]());

  test('a restore that was undone before etcd started does not make its node disagree with the others', async () => {
    await succeed(restoreArgs(first, place, id, '--bump-revision=3000000000', '--stop'));
    await succeed(restoreArgs(first, place, '--undo'));
    await plane.healthy();
    const results = await Promise.all(plane.nodes.map((node) => succeed(restoreArgs(node, place, id))));
    expect(new Set(results.map(({ clusterId }) => clusterId)).size).toBe(1);
    await plane.healthy();
  });

  test('one disk is lost and two members serve: no restore is needed', async () => {
    await plane.put('after', 'yes');
    // A torn log, as of a broken disk.
    await rm(first.dataDir, { recursive: true });
    await mkdir(join(first.dataDir, 'member', 'wal'), { recursive: true, mode: 0o700 });
    await writeFile(join(first.dataDir, 'member', 'wal', '0000000000000000-0000000000000000.wal'), 'torn');
    process.kill(first.kubelet.pid('etcd.yaml')!, 'SIGKILL');
    await sleep(700);
    // Its log does not say of which cluster it is.
    expect(await findingOn(first, id, '--force-foreign')).toMatch(
      /^FINDING: No restore is needed to serve again: other members have a quorum without this node \(cp2, cp3, revision \d+\)\. Remove its member .*The steps below discard everything since the snapshot of \S+ \(revision \d+\), on all nodes/,
    );
    const { result } = await run(
      restoreArgs(first, place, id, '--wait=12s', '--force-foreign', '--bump-revision=1000000000000000'),
    );
    expect(result).toMatchObject({
      exitCode: 50,
      error: expect.stringMatching(
        /if it has a quorum without this node, go back with --undo and replace only this member/,
      ),
    });
  });
});
