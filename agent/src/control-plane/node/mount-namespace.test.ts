import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathsOf, sourcesOf } from './mount-namespace.ts';

let proc: string;
beforeEach(async () => {
  proc = await mkdtemp(join(tmpdir(), 'proc-'));
});
afterEach(() => rm(proc, { recursive: true }));

async function process(pid: string, namespace: string, mounts: readonly string[]): Promise<void> {
  await mkdir(join(proc, pid, 'ns'), { recursive: true });
  await symlink(`mnt:[${namespace}]`, join(proc, pid, 'ns', 'mnt'));
  const lines = mounts.map((mount, n) => `${n} 1 ${mount} rw,relatime - ext4 /dev/x rw\n`);
  await writeFile(join(proc, pid, 'mountinfo'), lines.join(''));
}

/** Device, folder of the device, and where it is mounted. */
const machine = ['8:1 / /', '8:2 / /srv', '0:5 / /proc', '8:3 / /hidden', '8:4 / /hidden'];
const container = ['0:40 / /', '8:2 /etcd /etcd-data', '8:1 /etc/pki /certs', '8:3 /x /x', '8:2 /with\\040space /s'];

test('paths of a container are found on the machine', async () => {
  await process('1', 'm', machine);
  await process('self', 'm', machine);
  await process('7', 'c', container);
  const hostPath = await pathsOf(7, proc);
  expect(hostPath('/etcd-data')).toBe('/srv/etcd');
  expect(hostPath('/etcd-data/member/wal')).toBe('/srv/etcd/member/wal');
  expect(hostPath('/certs/ca.crt')).toBe('/etc/pki/ca.crt');
  expect(hostPath('/s/a')).toBe('/srv/with space/a');
  expect((await sourcesOf(7, proc))('/etcd-data/member')).toBe('/etcd/member of /dev/x');
  // In the layers of the container, and below a mount that hides it.
  expect(hostPath('/var/lib/etcd')).toBeUndefined();
  expect(hostPath('/x')).toBeUndefined();
});

test('an etcd of the machine, seen by an agent in a container', async () => {
  await process('1', 'm', machine);
  await process('7', 'm', machine);
  await process('self', 'c', ['0:41 / /', '8:1 /var/lib/etcd /var/lib/etcd', '8:2 /wal /moved']);
  const hostPath = await pathsOf(7, proc);
  expect(hostPath('/var/lib/etcd')).toBe('/var/lib/etcd');
  expect(hostPath('/srv/wal')).toBe('/moved');
  // Not mounted: the caller names the path to mount.
  expect(hostPath('/opt/etcd')).toBe('/opt/etcd');
});

test('an etcd with the paths of this machine', async () => {
  for (const pid of ['1', 'self', '7']) await process(pid, 'm', machine);
  expect((await pathsOf(7, proc))('/srv/etcd')).toBe('/srv/etcd');
  expect((await pathsOf(9, proc))('/srv/etcd')).toBeUndefined();
});
