import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { etcdOf, etcdStartedBy, processesOf } from './processes.ts';

test('what a manifest has started is known by its whole command', async () => {
  const [program = '', ...args] = (await readFile('/proc/self/cmdline', 'utf8')).replace(/\0$/, '').split('\0');
  const isFound = async (command: { program: string; args: readonly string[] }) =>
    (await processesOf(command)).some(({ pid }) => pid === process.pid);
  const last = args.at(-1) ?? '';
  expect(await isFound({ program, args })).toBe(true);
  // By way of another program, as of a wrapper in the image.
  expect(await isFound({ program, args: [last] })).toBe(true);
  expect(await isFound({ program, args: [...args.slice(0, -1), `${last.slice(0, 2)}$(NODE_IP)`] })).toBe(true);
  expect(await isFound({ program, args: [...args, '--more'] })).toBe(false);
  expect(await isFound({ program, args: ['--other', last] })).toBe(false);
  expect(await isFound({ program: 'another', args })).toBe(false);
  // Without arguments it may be any process of this name.
  expect(await isFound({ program, args: [] })).toBe(false);
});

describe('while the directory of the node is lost', () => {
  let root: string;
  let proc: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'proc-'));
    proc = join(root, 'proc');
    await mounted('self', '8:1', '/', '/');
  });
  afterEach(() => rm(root, { recursive: true }));
  const mounted = async (pid: string, device: string, from: string, to: string) => {
    await mkdir(join(proc, pid), { recursive: true });
    await writeFile(join(proc, pid, 'mountinfo'), `36 25 ${device} ${from} ${to} rw - ext4 /dev/sda1 rw\n`);
  };
  const start = async (pid: string) => {
    await mkdir(join(proc, pid, 'root/var/lib/etcd'), { recursive: true });
    await writeFile(join(proc, pid, 'cmdline'), 'etcd\0--data-dir=/var/lib/etcd\0');
  };
  const lost = () => join(root, 'lost/etcd');
  const find = () => etcdOf({ member: { dataDir: lost() }, dataDir: '/var/lib/etcd' }, proc);

  test('an etcd of another place under the same name is not its own', async () => {
    await start('21');
    await mounted('21', '8:1', '/volumes/nested/etcd', '/var/lib/etcd');
    await start('22');
    await mounted('22', '8:2', lost(), '/var/lib/etcd');
    expect(await find()).toBeUndefined();
    await start('23');
    await mounted('23', '8:1', `${lost()}//deleted`, '/var/lib/etcd');
    expect((await find())?.pid).toBe(23);
  });

  test('of one whose place cannot be read, nothing is guessed', async () => {
    await start('24');
    await expect(find()).rejects.toThrow(
      `etcd (pid 24) runs, and whether it uses ${lost()} of this node or a directory of the same name elsewhere cannot be read`,
    );
    // It has ended meanwhile.
    await rm(join(proc, '24'), { recursive: true });
    expect(await find()).toBeUndefined();
  });

  test('one that ends while it is looked at is none: Linux then refuses to read its mounts', async () => {
    await start('25');
    execFileSync('mkfifo', [join(proc, '25/mountinfo')]);
    const found = find();
    // Opened once it is read, and until then it had its arguments.
    const pipe = await open(join(proc, '25/mountinfo'), 'w');
    await writeFile(join(proc, '25/cmdline'), '');
    await pipe.close();
    expect(await found).toBeUndefined();
  });
});

test('of two etcds with the same arguments, only the one that uses the directory of the node is its own', async () => {
  const root = await mkdtemp(join(tmpdir(), 'proc-'));
  const proc = join(root, 'proc');
  const command = { program: 'etcd', args: ['--config-file=/etc/etcd/etcd.yaml'] };
  const start = async (pid: string, network: string | undefined) => {
    const place = join(root, `root-${pid}`);
    for (const folder of ['etc/etcd', 'var/lib/etcd']) await mkdir(join(place, folder), { recursive: true });
    await writeFile(join(place, 'etc/etcd/etcd.yaml'), 'data-dir: /var/lib/etcd');
    await mkdir(join(proc, pid, 'ns'), { recursive: true });
    await writeFile(join(proc, pid, 'cmdline'), ['etcd', ...command.args, ''].join('\0'));
    await symlink(place, join(proc, pid, 'root'));
    if (network) await symlink(network, join(proc, pid, 'ns/net'));
    return join(place, 'var/lib/etcd');
  };
  const network = join(root, 'network');
  await writeFile(network, '');
  await mkdir(join(proc, 'self/ns'), { recursive: true });
  await symlink(network, join(proc, 'self/ns/net'));
  await start('11', network);
  const dataDir = await start('12', network);
  const node = { member: { dataDir }, dataDir: '/var/lib/etcd' };
  expect((await etcdStartedBy(command, node, proc)).map(({ pid }) => pid)).toEqual([12]);
  // A process whose network is unknown may be of another Pod.
  await start('13', undefined);
  expect((await processesOf(command, proc)).map(({ pid }) => pid)).toEqual([11, 12]);
  await rm(root, { recursive: true });
});
