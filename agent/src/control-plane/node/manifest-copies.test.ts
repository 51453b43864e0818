import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { refuseCopies } from './manifest-copies.ts';
import { fromStaticPod } from './node.ts';

const pod = (name: string, ...flags: string[]) =>
  stringify({ kind: 'Pod', spec: { containers: [{ name, command: [name, ...flags] }] } });
const shell = (line: string) =>
  stringify({ kind: 'Pod', spec: { containers: [{ name: 'etcd', command: ['/bin/sh', '-c', line] }] } });
const urls = ['--listen-client-urls=https://127.0.0.1:2379', '--listen-peer-urls=https://10.0.0.1:2380'];
const etcd = pod('etcd', '--data-dir=/var/lib/etcd', ...urls);

let folder: string;
const write = (name: string, text: string) => writeFile(join(folder, name), text);
const refusal = async () => refuseCopies(await fromStaticPod(join(folder, 'etcd.yaml')), folder);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'manifests-'));
  await write('etcd.yaml', etcd);
  await write('kube-apiserver.yaml', pod('kube-apiserver'));
});
afterEach(() => rm(folder, { recursive: true }));

test.each([
  ['etcd.yaml.bak', etcd, 'etcd'],
  ['etcd.yaml~', etcd, 'etcd'],
  ['old.yml', pod('etcd', '--data-dir=/var/lib/etcd'), 'etcd'],
  ['moved.json', pod('etcd', '--data-dir=/elsewhere', ...urls), 'etcd'],
  ['anywhere.yaml', pod('etcd', '--data-dir=/elsewhere', '--listen-client-urls=https://0.0.0.0:2379'), 'etcd'],
  ['slash.yaml', pod('etcd', '--data-dir=/var/lib/etcd/', '--listen-client-urls=https://127.0.0.1:4001'), 'etcd'],
  ['shell.yaml', shell('exec etcd --data-dir=/var/lib/etcd'), 'etcd'],
  ['shell-port.yaml', shell('exec etcd --data-dir=/elsewhere --listen-peer-urls=https://[::]:2380'), 'etcd'],
  ['broken-name.yaml', pod('etcd', '--data-dir=$(WHERE)'), 'etcd'],
  ['kube-apiserver.yaml.orig', pod('kube-apiserver', '--secure-port=1'), 'the API server'],
])('the kubelet starts %s too', async (name, text, what) => {
  await write(name, text);
  await expect(refusal()).rejects.toMatchObject({
    exitCode: 2,
    message: `${join(folder, name)}: the kubelet starts this file too, and it is another manifest of ${what}; move it out of ${folder}`,
  });
});

test('a copy behind a link counts, one in a folder or behind a dot does not', async () => {
  await mkdir(join(folder, 'backup'));
  for (const name of ['backup/etcd.yaml', '.etcd.yaml.swp']) await write(name, etcd);
  await refusal();
  await symlink(join(folder, 'backup', 'etcd.yaml'), join(folder, 'link'));
  await expect(refusal()).rejects.toThrow('link: the kubelet starts');
});

test('other Pods stay, also an etcd of its own', async () => {
  const own = ['--listen-client-urls=https://127.0.0.1:4001', '--listen-peer-urls=https://10.0.0.1:4002'];
  await write('etcd-events.yaml', pod('etcd', '--data-dir=/var/lib/etcd-events', ...own));
  await write('etcd-shell.yaml', shell(`exec etcd --data-dir=/var/lib/etcd-events ${own.join(' ')}`));
  await write('kube-vip.yaml', pod('kube-vip'));
  await write('notes.txt', 'kind: [');
  await refusal();
});
