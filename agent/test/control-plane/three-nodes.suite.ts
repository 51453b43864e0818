// A kubeadm control plane with three nodes, two of which have lost their data.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run, start, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { nameOf, pointsOf, runTo } from '../faults/steps.ts';
import { nextBump, restoreArgs, takeSnapshot } from './commands.ts';
import { FakeControlPlane, type FakeNode, manifestNames } from './node-fixture.ts';

/** In CI only some of the points. */
const EVERY = process.env.SMOKE ? 6 : 1;

let place: DirectoryPlace;
let plane: FakeControlPlane;
let id: string;
beforeAll(async () => {
  [place, plane] = await Promise.all([DirectoryPlace.make(), FakeControlPlane.start({ size: 3 })]);
  await plane.put('before', 'yes');
  id = await takeSnapshot(plane, place);
});
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await plane.put('after', 'yes');
});

const args = (node: FakeNode, ...more: string[]) => restoreArgs(node, place, id, ...more);
const all = <T>(work: (node: FakeNode) => Promise<T>) => Promise.all(plane.nodes.map(work));

async function expectOneCluster(): Promise<void> {
  await plane.healthy();
  expect([await plane.get('before'), await plane.get('after')]).toEqual(['yes', '']);
  const hashes = JSON.parse(await plane.client.etcdctl('endpoint', 'hashkv', '-w', 'json'));
  const parts = hashes.map(
    ({ HashKV: { header, hash } }: { HashKV: { header: { cluster_id: number }; hash: number } }) =>
      [header.cluster_id, hash].join(),
  );
  expect([parts.length, new Set(parts).size]).toEqual([3, 1]);
  const { members } = JSON.parse(await plane.client.etcdctl('member', 'list', '-w', 'json'));
  expect(members.map(({ name, isLearner }: { name: string; isLearner?: boolean }) => [name, isLearner]).sort()).toEqual(
    [
      ['cp1', undefined],
      ['cp2', undefined],
      ['cp3', undefined],
    ],
  );
  for (const node of plane.nodes) expect((await readdir(node.manifestsDir)).sort()).toEqual(manifestNames);
}

test('two of three have lost their data: the commands of the plan restore everything', async () => {
  await Promise.all(plane.nodes.slice(0, 2).map(({ dataDir }) => rm(join(dataDir, 'member'), { recursive: true })));
  const { steps } = await succeed(args(plane.nodes[2]!, '--plan'));
  const rounds = steps.map((step: { commands: string[] }) => step.commands.at(-1));
  expect(rounds.filter((command: string) => command.endsWith('--stop'))).toHaveLength(3);

  await all((node) => succeed(args(node, '--stop')));
  // Without a quorum, an API server does not end by itself, so the agent ends it before the kubelet does.
  for (const { kubelet, manifestsDir } of plane.nodes)
    expect([kubelet.killed, await readdir(manifestsDir)]).toEqual([[], []]);
  const results = await all((node) => succeed(args(node)));
  expect(new Set(results.map(({ clusterId }) => clusterId)).size).toBe(1);
  await expectOneCluster();
});

test('a node does not start while another one serves the old cluster', async () => {
  const anew = await nextBump(plane);
  const [first, ...others] = plane.nodes as [FakeNode, FakeNode, FakeNode];
  const { code, result } = await run(args(first, anew, '--wait=3s'));
  expect([code, result.error]).toEqual([50, expect.stringMatching(/^etcd on 127.0.0.1 still serves the old cluster/)]);
  expect(await readdir(first.manifestsDir)).toEqual([]);
  expect((await plane.client.etcdctl('get', 'after', `--endpoints=${others[0]!.clientUrl}`)).trim()).toMatch(/yes/);

  // The old data are put back, and with them the cluster.
  await succeed(restoreArgs(first, place, '--undo'));
  await plane.healthy();
  expect(await plane.get('after')).toBe('yes');
  await all((node) => succeed(args(node, anew)));
  await expectOneCluster();
});

test('the snapshot must be named', async () => {
  const before = await plane.node.files();
  const { code, result } = await run(restoreArgs(plane.node, place, '--initial-cluster-token=unnamed'));
  expect([code, result.error]).toEqual([2, expect.stringMatching(`restored from one snapshot: name it.*${id}`)]);
  expect(await plane.node.files()).toEqual(before);
});

test('two snapshots at once: they never mix, and the node with the wrong one is undone and joins the others', async () => {
  const other = await takeSnapshot(plane, place);
  await plane.put('after', 'the other');
  const number = await nextBump(plane);
  const [wrong, ...right] = plane.nodes as [FakeNode, FakeNode, FakeNode];
  const flags = (node: FakeNode) => [node === wrong ? id : other, number, '--wait=12s'];
  await all((node) => succeed(restoreArgs(node, place, ...flags(node), '--stop')));
  const ended = await all((node) => run(restoreArgs(node, place, ...flags(node))));
  // Timing decides whether the two others see the wrong one first, and wait, or begin without it.
  expect(ended[0]!.code).toBe(50);
  expect(ended[0]!.result.error).toMatch(
    /or the cluster of another restore|serves another cluster|does not answer yet|no quorum/,
  );
  await succeed(restoreArgs(wrong, place, '--undo'));
  const again = await all((node) => succeed(restoreArgs(node, place, other, number)));
  expect(new Set(again.map(({ clusterId }) => clusterId)).size).toBe(1);
  for (const node of right) expect(await readdir(node.dataDir)).toContain('member');
  await plane.healthy();
  const hashes = JSON.parse(await plane.client.etcdctl('endpoint', 'hashkv', '-w', 'json'));
  expect(new Set(hashes.map(({ HashKV: { hash } }: { HashKV: { hash: number } }) => hash)).size).toBe(1);
});

test('killed at each phase on one node, then run again', async () => {
  const steps = /^(phase|rename) /;
  let anew = await nextBump(plane);
  const [first, ...others] = plane.nodes as [FakeNode, FakeNode, FakeNode];
  const running = others.map((node) => start(args(node, anew)).finished);
  const points = (await pointsOf(args(first, anew)))
    .filter(({ next }) => steps.test(next))
    .filter((_, n) => n % EVERY === 0);
  expect((await Promise.all(running)).map(({ code }) => code)).toEqual([0, 0]);
  expect(points.length).toBeGreaterThan(3);
  for (const point of points) {
    await plane.put('after', 'yes');
    anew = await nextBump(plane);
    const begun = others.map((node) => start(args(node, anew)).finished);
    const { signal } = await runTo(point, 'SIGKILL', args(first, anew), steps);
    expect([nameOf(point), signal]).toEqual([nameOf(point), 'SIGKILL']);
    await succeed(args(first, anew));
    expect((await Promise.all(begun)).map(({ code, result }) => [code, result.error])).toEqual([
      [0, undefined],
      [0, undefined],
    ]);
    await expectOneCluster();
  }
});
