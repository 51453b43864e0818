// Refused restores: one line, the documented exit code, and an unchanged node.
import { execFileSync, spawn } from 'node:child_process';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { command, expectFailure, run, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { availableMinors } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
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

const etcdManifest = () => join(node.manifestsDir, 'etcd.yaml');
const changed = async (change: (text: string) => string, work: () => Promise<void>, file = 'etcd.yaml') => {
  const original = await readFile(join(node.manifestsDir, file), 'utf8');
  // Outside the folder that the kubelet watches: only the agent may see it.
  const copy = join(node.root, 'copy');
  await cp(node.manifestsDir, copy, { recursive: true });
  await writeFile(join(copy, file), change(original));
  try {
    await work();
  } finally {
    await rm(copy, { recursive: true });
  }
};

/** Expects this failure from an execution and from a plan, and that neither leaves a trace. */
async function expectRefused(exitCode: number, message: RegExp, args: readonly string[]): Promise<void> {
  const before = await node.files();
  const pids = ['etcd.yaml', 'kube-apiserver.yaml'].map((name) => node.kubelet.pid(name));
  for (const mode of [[], ['--plan']]) {
    expectFailure(await run([...args, ...mode]), exitCode, message);
    expect(await node.files()).toEqual(before);
  }
  expect(['etcd.yaml', 'kube-apiserver.yaml'].map((name) => node.kubelet.pid(name))).toEqual(pids);
  expect(await plane.get('before')).toBe('yes');
}

test("the wrong node's flags", () =>
  changed(
    (text) => text.replaceAll(plane.plans[0]!.peerUrl, 'https://198.51.100.7:2380'),
    () =>
      expectRefused(40, /flags belong to another node: cp1 listens on 198\.51\.100\.7/, [
        ...restoreArgs(node, place, id),
        `--manifests-dir=${join(node.root, 'copy')}`,
      ]),
  ));

test("another member's name", () =>
  changed(
    (text) => text.replace('--name=cp1', '--name=cp7'),
    () =>
      expectRefused(40, /this node's member is cp7, but the snapshot lists cp1=/, [
        ...restoreArgs(node, place, id),
        `--manifests-dir=${join(node.root, 'copy')}`,
      ]),
  ));

test('a snapshot of another cluster', async () => {
  await using stranger = await EtcdCluster.start();
  const { snapshot } = await succeed(command('backup', place.store, `--endpoints=${stranger.endpoints}`));
  await expectRefused(40, /is a snapshot of another cluster: .*--force-foreign/, restoreArgs(node, place, snapshot.id));
  // Even then the backup must be of this node.
  await expectRefused(
    40,
    /this node's member is cp1, but the snapshot lists etcd-0=/,
    restoreArgs(node, place, snapshot.id, '--force-foreign'),
  );
});

test.each([
  ['etcd.yaml', '--peer-key-file'],
  ['etcd.yaml', '--trusted-ca-file'],
  ['kube-apiserver.yaml', '--etcd-certfile'],
])('a file that %s names by %s is not there', async (file, flag) => {
  const missing = join(node.root, 'pki', 'gone.pem');
  await changed(
    (text) => text.replace(new RegExp(`${flag}=\\S+`), `${flag}=${missing}`),
    () =>
      expectRefused(
        2,
        new RegExp(
          `^${missing}: is missing, .* holds no copy of it; create certificates with the existing CAs: kubeadm init phase certs all`,
        ),
        [...restoreArgs(node, place, id), `--manifests-dir=${join(node.root, 'copy')}`],
      ),
    file,
  );
});

test('missing files that the backup holds: the command that brings them back', async () => {
  const pki = join(node.root, 'pki');
  await mkdir(pki);
  await writeFile(join(pki, 'ca.crt'), 'kept');
  const recipient = await identityToRecipient(await generateX25519Identity());
  const kept = await takeSnapshot(plane, place, `--extra-path=${pki}`, `--extra-age-recipient=${recipient}`);
  await rm(pki, { recursive: true });
  await changed(
    (text) => text.replace(/--trusted-ca-file=\S+/, `--trusted-ca-file=${join(pki, 'ca.crt')}`),
    () =>
      expectRefused(2, new RegExp(`ca\\.crt: is missing, .*etcd-agent restore extra ${kept} --to=.*then tar -xpf `), [
        ...restoreArgs(node, place, kept),
        `--manifests-dir=${join(node.root, 'copy')}`,
      ]),
  );
});

test('data of a newer minor than the etcd on the node', () =>
  expectRefused(
    40,
    /holds data of etcd 3\.\d.*which etcd 3\.4 cannot read/,
    restoreArgs(node, place, id, '--server-version=3.4'),
  ));

test('data of a newer minor than the image in the manifest', async () => {
  if (availableMinors().length < 2) return;
  await changed(
    (text) => text.replace(/etcd:[\d.]+-0/, 'etcd:3.4.23-0'),
    () =>
      expectRefused(40, /which etcd 3\.4\.23 cannot read/, [
        ...restoreArgs(node, place, id),
        `--manifests-dir=${join(node.root, 'copy')}`,
      ]),
  );
});

test('an image tag without a version', () =>
  changed(
    (text) =>
      text
        .replace(/etcd:[\d.]+-0/, 'etcd@sha256:00')
        .replaceAll(/--listen-client-urls=\S+/g, '--listen-client-urls=https://127.0.0.1:1'),
    () =>
      expectRefused(2, /version of etcd is unknown.*--server-version/, [
        ...restoreArgs(node, place, id),
        `--manifests-dir=${join(node.root, 'copy')}`,
      ]),
  ));

test("a manifests folder that is not kubeadm's", async () => {
  const folder = join(node.root, 'other');
  await mkdir(folder);
  await writeFile(join(folder, 'nginx.yaml'), 'kind: Pod\n');
  await expectRefused(2, /does not contain kubeadm's etcd\.yaml/, [
    ...restoreArgs(node, place, id),
    `--manifests-dir=${folder}`,
    '--data-dir=/nowhere',
  ]);
  await writeFile(join(folder, 'etcd.yaml'), 'kind: Deployment\n');
  await expectRefused(2, /not a kubeadm manifest: it does not define a Pod/, [
    ...restoreArgs(node, place, id),
    `--manifests-dir=${folder}`,
  ]);
  await rm(folder, { recursive: true });
});

test('an API server that is not moved out', async () => {
  const server = spawn(
    process.execPath,
    ['-e', 'setInterval(() => {}, 1000)', '--', `--etcd-servers=${node.clientUrl}`],
    {
      argv0: 'kube-apiserver',
      stdio: 'ignore',
    },
  );
  try {
    const folder = join(node.root, 'alone');
    await mkdir(folder);
    await writeFile(join(folder, 'etcd.yaml'), await readFile(etcdManifest()));
    await expectRefused(40, /kube-apiserver \(pid \d+\) uses this etcd/, [
      ...restoreArgs(node, place, id),
      `--manifests-dir=${folder}`,
    ]);
    await rm(folder, { recursive: true });

    const before = await node.files();
    expectFailure(
      await run(restoreArgs(node, place, id, '--wait=2s')),
      40,
      /kube-apiserver \(pid \d+\) still runs; everything was put back/,
    );
    expect(await node.files()).toEqual(before);
  } finally {
    server.kill('SIGKILL');
  }
  await plane.healthy();
});

test('a copy of a manifest, which the kubelet would start in its place', async () => {
  for (const [name, copy] of [
    ['etcd.yaml', 'etcd.yaml.bak'],
    ['kube-apiserver.yaml', 'kube-apiserver.yaml~'],
  ] as const) {
    const file = join(node.manifestsDir, copy);
    await cp(join(node.manifestsDir, name), file);
    await expectRefused(2, new RegExp(`^${file}: the kubelet starts this file too`), restoreArgs(node, place, id));
    await rm(file);
  }
});

test('certificates that have expired', () =>
  changed(
    (text) => text.replaceAll('/server.crt', '/expired-server.crt').replaceAll('/server.key', '/expired-server.key'),
    () =>
      expectRefused(2, /expired-server\.crt: expired on \S+, .*; on every node: kubeadm certs renew all$/, [
        ...restoreArgs(node, place, id),
        `--manifests-dir=${join(node.root, 'copy')}`,
      ]),
  ));

test('a left-over --force-new-cluster', () =>
  changed(
    (text) => text.replace('- --logger=zap', '- --logger=zap\n        - --force-new-cluster=true'),
    () =>
      expectRefused(2, /--force-new-cluster, .*remove it, on every node/, [
        ...restoreArgs(node, place, id),
        `--manifests-dir=${join(node.root, 'copy')}`,
      ]),
  ));

test('a kubelet that stops nothing', async () => {
  const before = await node.files();
  node.kubelet.deaf = true;
  try {
    expectFailure(await run(restoreArgs(node, place, id, '--wait=2s')), 40, /still runs; everything was put back/);
  } finally {
    node.kubelet.deaf = false;
  }
  expect(await node.files()).toEqual(before);
  expect(await plane.get('before')).toBe('yes');
});

test('no room for a second data directory', async () => {
  const small = join(node.root, 'small');
  await mkdir(small);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', small]);
  try {
    await changed(
      (text) => text.replace(`--data-dir=${node.dataDir}`, `--data-dir=${join(small, 'etcd')}`),
      () =>
        expectRefused(2, /no room for a second data directory: it needs \d+ MiB, and \d+ MiB are free/, [
          ...restoreArgs(node, place, id),
          `--manifests-dir=${join(node.root, 'copy')}`,
        ]),
    );
  } finally {
    execFileSync('umount', [small]);
  }
});

test("a recipient's key that is missing", async () => {
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const encrypted = await takeSnapshot(plane, place, `--age-recipient=${recipient}`);
  await expectRefused(2, /age/, restoreArgs(node, place, encrypted));
  const other = join(node.root, 'other.key');
  await writeFile(other, await generateX25519Identity());
  await expectRefused(2, /age|identit/, restoreArgs(node, place, encrypted, `--age-identity-file=${other}`));
});

test('a damaged snapshot', async () => {
  const key = (await place.keys()).find((name) => name.includes(id) && name.includes('.db'))!;
  const file = join(place.path, key);
  const bytes = await readFile(file);
  const kept = `${place.path}.kept`;
  await rename(file, kept);
  bytes[Math.floor(bytes.length / 2)]! ^= 1;
  await writeFile(file, bytes);
  try {
    await expectRefused(30, /; restore another snapshot; see /, restoreArgs(node, place, id));
  } finally {
    await rename(kept, file);
  }
});

test('two modes at once, and an unknown snapshot', async () => {
  expectFailure(await run(restoreArgs(node, place, '--plan', '--undo')), 2, /--plan and --undo: choose one/);
  await expectRefused(41, /holds no snapshot nothing/, restoreArgs(node, place, 'nothing'));
});

test('a restore that is not ended is not mixed with another one', async () => {
  await succeed(restoreArgs(node, place, id, '--stop', '--bump-revision=2000000000', '--initial-cluster-token=one'));
  expectFailure(
    await run(restoreArgs(node, place, id, '--initial-cluster-token=two')),
    40,
    /a restore of .* with the token one has not ended/,
  );
  for (const other of ['--initial-cluster=cp1=https://198.51.100.1:2380', `--sha256=${'0'.repeat(64)}`]) {
    expectFailure(await run(restoreArgs(node, place, id, other)), 40, /has not ended; finish it with the same flags/);
  }
  await succeed(restoreArgs(node, place, '--undo'));
  await plane.healthy();
  expect(await plane.get('before')).toBe('yes');
});
