// A control plane that does not stop or start by itself: a kubelet or an API server that waits for something.
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { expectFailure, run, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { restoreArgs, takeSnapshot } from './commands.ts';
import { FakeControlPlane, type FakeNode, manifestNames } from './node-fixture.ts';

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
beforeEach(async () => {
  await plane.put('after', 'yes');
});
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});

const manifests = async () => (await readdir(node.manifestsDir)).sort();

async function expectRestored(): Promise<void> {
  await plane.healthy();
  expect([await plane.get('before'), await plane.get('after')]).toEqual(['yes', '']);
  expect(await manifests()).toEqual(manifestNames);
}

test.each([[[]], [['--anonymous-auth=false']]])(
  'an API server that refuses everybody while it starts is not ready (%j)',
  async (flags: string[]) => {
    const file = join(node.manifestsDir, 'kube-apiserver.yaml');
    const before = await readFile(file, 'utf8');
    const starting = join(node.root, 'starting');
    const args = (name: string, ...more: string[]) =>
      restoreArgs(node, place, id, `--initial-cluster-token=${name}${flags.length}`, ...more);
    const replace = async (text: string) => {
      await rename(file, join(node.root, 'kube-apiserver.yaml'));
      while (node.kubelet.pid('kube-apiserver.yaml') !== undefined) await sleep(50);
      await writeFile(file, text);
    };
    await writeFile(starting, '');
    const change = parse(before);
    change.spec.containers[0].command.push(`--starting-while=${starting}`, ...flags);
    change.spec.containers[0].command.push('--service-cluster-ip-range=10.96.0.0/12');
    await replace(stringify(change));
    try {
      expectFailure(await run(args('starting', '--wait=5s')), 50, /the API server is not ready \(500 at/);
      const { result } = await run(restoreArgs(node, place, '--check', '--wait=1s', '--kubeconfig=/nowhere'));
      expect(result.problems).toContainEqual(expect.stringMatching(/^kube-apiserver: the API server is not ready/));
      await rm(starting);
      await succeed(args('starting'));
      const checked = await run(restoreArgs(node, place, '--check', '--wait=1s', '--kubeconfig=/nowhere'));
      expect(checked.result.problems).toContainEqual(
        expect.stringMatching(
          /^kube-apiserver: its certificate is not valid for 10\.96\.0\.1 and kubernetes\.default\.svc; .*kubeadm init phase certs apiserver .*--service-cidr=10\.96\.0\.0\/12/,
        ),
      );
    } finally {
      await rm(starting, { force: true });
      await replace(before);
    }
  },
);

test('an API server without its etcd has nothing left to serve: it is ended before the kubelet kills it', async () => {
  node.kubelet.unstartable.add('etcd.yaml');
  process.kill(node.kubelet.pid('etcd.yaml')!, 'SIGKILL');
  await rm(join(node.dataDir, 'member'), { recursive: true });
  const args = (...more: string[]) => restoreArgs(node, place, id, '--initial-cluster-token=quick', ...more);
  await succeed(args('--stop'));
  expect(node.kubelet.killed).toEqual([]);
  node.kubelet.unstartable.clear();
  await succeed(args());
  await expectRestored();
});

describe('a kubelet that has heard from no API server since its start stops nothing', () => {
  beforeEach(() => {
    node.kubelet.deaf = true;
  });
  afterEach(() => {
    node.kubelet.deaf = false;
  });

  test('the agent ends what the manifests have started', async () => {
    await succeed(restoreArgs(node, place, id, '--initial-cluster-token=deaf'));
    await expectRestored();
  });

  test('also before it puts the old data back', async () => {
    const ended = await run(restoreArgs(node, place, id, '--initial-cluster-token=deaf-undone', '--stop'));
    expect([ended.code, ended.result.error]).toEqual([0, undefined]);
    const [journal] = (await readdir(join(node.root, 'kubernetes')))
      .filter((name) => name.startsWith('etcd-restore-'))
      .sort()
      .reverse();
    await rename(
      join(node.root, 'kubernetes', journal!, 'manifests', 'etcd.yaml'),
      join(node.manifestsDir, 'etcd.yaml'),
    );
    await plane.healthy();
    await succeed(restoreArgs(node, place, '--undo'));
    await plane.healthy();
    expect([await plane.get('after'), await manifests()]).toEqual(['yes', manifestNames]);
  });
});
