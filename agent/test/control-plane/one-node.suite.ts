// A kubeadm control plane with one node: real etcd, a simulated kubelet and API server.
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectFailure, run, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { nameOf, type Point, pointsOf, runTo } from '../faults/steps.ts';
import { nextBump, restoreArgs, takeSnapshot } from './commands.ts';
import { FakeControlPlane, type FakeNode, manifestNames } from './node-fixture.ts';

/** In CI only some of the points. */
const EVERY = process.env.SMOKE ? 6 : 1;

let place: DirectoryPlace;
let plane: FakeControlPlane;
let node: FakeNode;
let id: string;
beforeAll(async () => {
  [place, plane] = await Promise.all([DirectoryPlace.make(), FakeControlPlane.start()]);
  [node] = plane.nodes as [FakeNode];
  await plane.put('before', 'yes');
  id = await takeSnapshot(plane, place);
  await plane.put('after', 'yes');
});
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});

const revision = async () => JSON.parse(await plane.client.etcdctl('get', 'before', '-w', 'json')).header.revision;
const manifests = async () => (await readdir(node.manifestsDir)).sort();
const asides = async () => (await readdir(node.dataDir)).filter((name) => name.startsWith('member.replaced-'));

async function expectRestored(): Promise<void> {
  await plane.healthy();
  expect([await plane.get('before'), await plane.get('after')]).toEqual(['yes', '']);
  expect(await revision()).toBeGreaterThan(1_000_000_000);
  expect(await manifests()).toEqual(manifestNames);
  expect((await readdir(node.dataDir)).filter((name) => name === 'member.partial')).toEqual([]);
}

test('the plan changes nothing and names the existing files', async () => {
  const before = await node.files();
  const pid = node.kubelet.pid('etcd.yaml');
  const { steps, initialCluster, notes } = await succeed(restoreArgs(node, place, '--plan'));
  expect(notes).toContainEqual(expect.stringMatching(/^etcd on this node is healthy and has a quorum/));
  expect(initialCluster).toBe(`cp1=${plane.plans[0]!.peerUrl}`);
  const commands = steps.flatMap((step: { commands: string[] }) => step.commands);
  expect(commands[2]).toMatch(`etcd-agent restore control-plane ${id} `);
  expect(await node.files()).toEqual(before);
  expect(node.kubelet.pid('etcd.yaml')).toBe(pid);
});

test('destroyed data are restored; a second run does nothing and says so', async () => {
  await rm(node.dataDir, { recursive: true });
  await mkdir(node.dataDir, { mode: 0o700 });
  const apiServer = node.kubelet.pid('kube-apiserver.yaml');
  const scheduler = node.kubelet.pid('kube-scheduler.yaml');
  const { state, clusterId, aside } = await succeed(restoreArgs(node, place));
  expect([state, aside]).toEqual(['done', undefined]);
  await expectRestored();
  expect(node.kubelet.pid('kube-apiserver.yaml')).not.toBe(apiServer);
  expect(node.kubelet.pid('kube-scheduler.yaml')).not.toBe(scheduler);

  await plane.put('later', 'yes');
  const before = await node.files();
  for (const again of [[], [id]]) {
    expect(await succeed(restoreArgs(node, place, ...again))).toMatchObject({ alreadyRestored: true, clusterId });
  }
  expect(await node.files()).toEqual(before);
  expect(await plane.get('later')).toBe('yes');
  expect((await place.keys()).filter((key) => key.endsWith(`.restored-${clusterId}.json`))).toHaveLength(1);

  const refused = await run(restoreArgs(node, place, '--undo'));
  expect(refused).toMatchObject({
    code: 40,
    result: { error: expect.stringMatching(/has served.*; there were no old data$/) },
  });
  expect(await plane.get('later')).toBe('yes');

  const { result } = await run(
    restoreArgs(node, place, '--check', '--wait=1s', '--kubeconfig=/nowhere', `--etcd-log=${join(node.root, 'log')}`),
  );
  // No scheduler or controller-manager answers here, unless it belongs to another control plane.
  const healthy = result.components.filter(({ trouble }: { trouble?: string }) => trouble === undefined);
  expect(healthy.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['etcd', 'kube-apiserver']));
  expect(result.logs).toEqual({ files: [join(node.root, 'log')], errors: [] });
});

test('owner and mode are as before', async () => {
  const { mode, uid } = await stat(join(node.dataDir, 'member'));
  await succeed(restoreArgs(node, place, id, await nextBump(plane)));
  const after = await stat(join(node.dataDir, 'member'));
  expect([after.mode, after.uid]).toEqual([mode, uid]);
  await expectRestored();
});

test('a second restore raises the revision further: clients know the revisions up to there', async () => {
  const again = restoreArgs(node, place, id, '--initial-cluster-token=again');
  const before = await revision();
  const { code, result } = await run([...again, '--bump-revision=2000000000']);
  expect([code, result.error]).toEqual([40, expect.stringMatching(/--bump-revision, for example \d{16}$/)]);
  await succeed(again);
  await expectRestored();
  expect(await revision()).toBeGreaterThan(before);
});

test('a disk that is lost after --stop', async () => {
  await succeed(restoreArgs(node, place, id, await nextBump(plane), '--stop'));
  await rm(node.dataDir, { recursive: true });
  await mkdir(node.dataDir, { mode: 0o700 });
  const unnamed = await run(restoreArgs(node, place));
  expect(unnamed).toMatchObject({ code: 2, result: { error: expect.stringMatching(/is lost; name that snapshot/) } });
  await succeed(restoreArgs(node, place, id));
  await expectRestored();
});

test('the whole request counts: other content under the same id is a restore that was not done yet', async () => {
  expect(await succeed(restoreArgs(node, place, id))).toMatchObject({ id });
  const other = await run(restoreArgs(node, place, id, `--sha256=${'0'.repeat(64)}`));
  expectFailure(other, 30, /its sha256 is \w+, not the expected 0+/);
  const marker = join(node.dataDir, 'member', 'etcd-agent-restore.json');
  expect(JSON.parse(await readFile(marker, 'utf8'))).toMatchObject({
    name: 'cp1',
    sha256: expect.stringMatching(/^\w{64}$/),
  });
});

test('a file of `etcdctl snapshot save` is restored by its key', async () => {
  await plane.client.etcdctl('snapshot', 'save', join(place.path, 'orders', 'etcd-by-script.db'));
  await plane.put('after', 'the script');
  const args = ['--object-key=orders/etcd-by-script.db', '--adopt'];
  // Its cluster id is not known.
  expectFailure(
    await run(restoreArgs(node, place, ...args)),
    40,
    /may be a snapshot of another cluster: .*--force-foreign/,
  );
  const { clusterId } = await succeed(restoreArgs(node, place, ...args, '--force-foreign'));
  await expectRestored();
  const again = await succeed(restoreArgs(node, place, ...args));
  expect(again).toMatchObject({ alreadyRestored: true, clusterId });
  expectFailure(
    await run(restoreArgs(node, place, id)),
    40,
    /restored from a snapshot of an unknown cluster; .*--force-f/,
  );
  await succeed(restoreArgs(node, place, id, '--force-foreign'));
  await expectRestored();
});

/** State that a kill may affect. */
const matters = ({ next }: Point) => /^(phase|rename|mkdir|rm|writeFile|unlink|rmdir) /.test(next);

describe('killed at each step', () => {
  let points: Point[];
  let turn = 0;
  beforeAll(async () => {
    const all = (await pointsOf(restoreArgs(node, place, id, await nextBump(plane)))).filter(matters);
    points = all.filter((_, n) => n % EVERY === 0);
    expect(all.length).toBeGreaterThan(25);
  });

  test('when it runs again, it ends the same', async () => {
    const failures: string[] = [];
    for (const point of points) {
      await plane.put('after', 'yes');
      const had = (await asides()).length;
      try {
        const anew = await nextBump(plane);
        const { signal } = await runTo(point, 'SIGKILL', restoreArgs(node, place, id, anew));
        expect(signal).toBe('SIGKILL');
        await succeed(restoreArgs(node, place, id, anew));
        await expectRestored();
        expect((await asides()).length).toBe(had + 1);
      } catch (error) {
        failures.push(`${nameOf(point)}: ${error}`);
        break;
      }
    }
    expect(failures).toEqual([]);
  });

  test('when it is undone, the node is as before, or it has served', async () => {
    const failures: string[] = [];
    const ends = { undone: 0, refused: 0, nothing: 0 };
    for (const point of points) {
      turn++;
      await plane.put('after', `turn ${turn}`);
      const had = (await asides()).length;
      try {
        const anew = await nextBump(plane);
        await runTo(point, 'SIGKILL', restoreArgs(node, place, id, anew));
        const { code, result } = await run(restoreArgs(node, place, '--undo'));
        if (code === 0 || /nothing done/.test(result.error ?? '')) {
          ends[result.undone ? 'undone' : 'nothing']++;
          await plane.healthy();
          expect(await plane.get('after')).toBe(`turn ${turn}`);
          expect(await manifests()).toEqual(manifestNames);
          expect((await asides()).length).toBe(had);
        } else {
          ends.refused++;
          expect(result).toMatchObject({ exitCode: 40, error: expect.stringMatching(/has served/) });
          // No restore remains half-way.
          await succeed(restoreArgs(node, place, id, anew));
          await expectRestored();
        }
      } catch (error) {
        failures.push(`${nameOf(point)}: ${error}`);
        break;
      }
    }
    expect(failures).toEqual([]);
    expect(ends.undone).toBeGreaterThan(0);
    expect(ends.refused).toBeGreaterThan(0);
  });
});

test('an etcd on the old data does not count as healthy, and no run ends with it', async () => {
  const flags = [id, '--initial-cluster-token=twice'];
  const { aside, journal } = await succeed(restoreArgs(node, place, ...flags));
  await plane.healthy();
  const manifest = join(node.manifestsDir, 'etcd.yaml');
  await rename(manifest, join(node.root, 'etcd.yaml'));
  while (node.kubelet.pid('etcd.yaml') !== undefined) await sleep(50);
  await rename(join(node.dataDir, 'member'), join(node.dataDir, 'mine'));
  await rename(aside, join(node.dataDir, 'member'));
  await rename(join(node.root, 'etcd.yaml'), manifest);
  await plane.healthy();
  const other = /etcd serves the cluster \w+, not the restored cluster \w+/;
  const { result } = await run(restoreArgs(node, place, '--check', '--wait=1s', '--kubeconfig=/nowhere'));
  expect(result.problems).toContainEqual(expect.stringMatching(other));

  const file = join(journal, 'journal.json');
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), state: 'served' }));
  expectFailure(await run(restoreArgs(node, place, ...flags, '--wait=2s')), 50, other);
});
