import { spawn, spawnSync } from 'node:child_process';
import { once as happened } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keysOf, once, read, storeContract } from '../../../test/support/store-contract.ts';
import { ExitCode } from '../../lib/errors.ts';
import { FilesystemStore, filesystemFault } from './filesystem-store.ts';

let root: string;
let store: FilesystemStore;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'store-'));
  store = new FilesystemStore({ path: root });
});
afterAll(() => rm(root, { recursive: true, force: true }));

const rests = async () => (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.part'));

storeContract(() => ({ store, rests }), 60);

const message = (error: unknown) => (error as Error).message;
const refused = (call: Promise<unknown>) => call.then(() => Promise.reject(new Error('it was not refused')), message);

test('only owner and group can read what is written', async () => {
  await store.put('mode/x', once('secret'));
  expect((await stat(join(root, 'mode'))).mode & 0o777).toBe(0o750);
  expect((await stat(join(root, 'mode/x'))).mode & 0o777).toBe(0o640);
});

test('a delete removes empty directories, and only those', async () => {
  await store.put('deep/a/b/c', once('c'));
  await store.put('deep/d', once('d'));
  await store.delete('deep/a/b/c');
  expect(await readdir(join(root, 'deep'))).toEqual(['d']);
});

test('puts and deletes in one directory at the same time', async () => {
  const turns = Array.from({ length: 40 }, async (_, turn) => {
    await store.put(`race/${turn}`, once('x'));
    await store.delete(`race/${turn}`);
  });
  await Promise.all(turns);
  expect(await keysOf(store, 'race/')).toEqual([]);
});

test('a missing directory is empty, has no clock, and is created by the first put', async () => {
  const fresh = new FilesystemStore({ path: join(root, 'fresh/store') });
  expect(await keysOf(fresh, '')).toEqual([]);
  expect(await fresh.sweep('', 0)).toBe(0);
  expect(await fresh.now()).toBeUndefined();
  await fresh.put('a/b', once('x'));
  expect(await keysOf(fresh, '')).toEqual(['a/b']);
  await rm(join(root, 'fresh'), { recursive: true });
});

test("a volume's own directories and other programs' .part files are neither objects nor swept", async () => {
  const volume = new FilesystemStore({ path: join(root, 'volume') });
  for (const key of ['lost+found/1', '.snapshot/a/2', 'kept']) await volume.put(key, once('x'));
  await writeFile(join(root, 'volume/foreign.part'), 'x');
  await utimes(join(root, 'volume/foreign.part'), 0, 0);
  expect(await keysOf(volume, '')).toEqual(['kept']);
  expect(await volume.stat('foreign.part')).toBeUndefined();
  expect(await volume.sweep('', 0)).toBe(0);
  expect(await readdir(join(root, 'volume'))).toContain('foreign.part');
  await rm(join(root, 'volume'), { recursive: true });
});

test('a file that is truncated while it is read makes the reader fail', async () => {
  await store.put('cut/x', once(Buffer.alloc(3 * 1024 * 1024)));
  const reading = (async () => {
    for await (const _ of await store.get('cut/x')) await truncate(join(root, 'cut/x'), 1000);
  })();
  await expect(reading).rejects.toMatchObject({
    exitCode: ExitCode.storeUnreachable,
    message: expect.stringContaining('of 3145728 bytes'),
  });
});

test('a file in place of a directory is refused', async () => {
  await writeFile(join(root, 'file'), 'x');
  const wrong = new FilesystemStore({ path: join(root, 'file') });
  await expect(wrong.put('x', once('x'))).rejects.toMatchObject({
    exitCode: ExitCode.storeRefused,
    message: expect.stringMatching(/EEXIST|ENOTDIR/),
  });
  await expect(wrong.put('a/x', once('x'))).rejects.toMatchObject({ exitCode: ExitCode.storeRefused });
  expect(await wrong.stat('a/x')).toBeUndefined();
});

test.each([
  ['ENOSPC', ExitCode.storeRefused, 'full'],
  ['EDQUOT', ExitCode.storeRefused, 'quota'],
  ['EROFS', ExitCode.storeRefused, 'writable'],
  ['EACCES', ExitCode.storeRefused, 'fsGroup'],
  ['ESTALE', ExitCode.storeUnreachable, 'try again'],
  ['EIO', ExitCode.storeUnreachable, 'try again'],
])('%s is reported in one line', (code, exitCode, remedy) => {
  const error = Object.assign(new Error(`${code}: something,\n write`), { code });
  const fault = filesystemFault('file:///x', 'write', '/x/a.db', error);
  expect(fault.exitCode).toBe(exitCode);
  expect(fault.message).toMatch(/^file:\/\/\/x: cannot write \/x\/a\.db: /);
  expect(fault.message).toContain(code);
  expect(fault.message).toContain(remedy);
  expect(fault.message).not.toContain('\n');
});

test.each([
  "EIO: i/o error, open '/x/a.db.0123abcd.part'",
  "EIO: i/o error, rename '/x/a.db.0123abcd.part' -> '/x/a.db'",
])('an unfinished file is not named: %s', (message) => {
  const fault = filesystemFault('file:///x', 'write', '/x/a.db', Object.assign(new Error(message), { code: 'EIO' }));
  expect(fault.message).toBe('file:///x: cannot write /x/a.db: EIO: i/o error; check the volume and try again');
});

test('a directory that cannot be listed is named itself, not the one that the list began with', async () => {
  const at = join(root, 'unreadable');
  await mkdir(join(at, 'ro/orders'), { recursive: true });
  await chmod(root, 0o755);
  await chmod(join(at, 'ro/orders'), 0);
  const user = process.geteuid!();
  // Root may read everything.
  if (user === 0) process.seteuid!(65534);
  try {
    await expect(keysOf(new FilesystemStore({ path: at }), '')).rejects.toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringContaining(`cannot list ${at}/ro/orders: EACCES`),
    });
  } finally {
    if (user === 0) process.seteuid!(user);
    await chmod(join(at, 'ro/orders'), 0o755);
  }
});

describe('a right that is missing', () => {
  const at = () => join(root, 'rights');
  /** Runs as a user who owns nothing: root may do everything. */
  async function asNobody(work: () => Promise<void>): Promise<void> {
    const user = process.geteuid!();
    if (user === 0) process.seteuid!(65534);
    try {
      await work();
    } finally {
      if (user === 0) process.seteuid!(user);
    }
  }
  const owner = (path: string, mode: string) =>
    `EACCES: ${path} belongs to user ${process.getuid!()}, group ${process.getgid!()} and has mode ${mode}, which refuses user `;
  beforeEach(async () => {
    await mkdir(join(at(), 'orders'), { recursive: true });
    await chmod(root, 0o755);
    await writeFile(join(at(), 'orders/a.db'), 'x');
  });
  afterEach(async () => {
    for (const path of [at(), join(at(), 'orders')]) await chmod(path, 0o755);
    await rm(at(), { recursive: true });
  });

  test.each<[string, string, number, string, (store: FilesystemStore) => Promise<unknown>]>([
    ['a new file', 'orders', 0o555, 'create orders/b.db', (store) => store.put('orders/b.db', once('x'))],
    ['a new folder', '', 0o555, 'create new/b.db', (store) => store.put('new/b.db', once('x'))],
    ['a deletion', 'orders', 0o555, 'delete orders/a.db', (store) => store.delete('orders/a.db')],
    ['a folder that may not be entered', 'orders', 0o600, 'open orders/a.db', (store) => store.get('orders/a.db')],
    ['a store that may not be entered', '', 0o600, 'read orders/a.db', (store) => store.stat('orders/a.db')],
  ])('%s: the error names the directory that refuses, its owner and mode', async (_, folder, mode, doing, call) => {
    const path = join(at(), folder);
    await chmod(path, mode);
    const [what, key] = doing.split(' ');
    await asNobody(async () => {
      const message = await refused(call(new FilesystemStore({ path: at() })));
      expect(message).toContain(`cannot ${what} ${join(at(), key!)}: ${owner(path, `0${mode.toString(8)}`)}`);
      expect(message).toMatch(/; change its owner or mode; in a pod with a claim, set fsGroup$/);
    });
  });

  test('a file that may not be read is named itself', async () => {
    const file = join(at(), 'orders/a.db');
    await chmod(file, 0);
    await asNobody(async () => {
      expect(await refused(new FilesystemStore({ path: at() }).get('orders/a.db'))).toContain(owner(file, '0000'));
    });
  });
});

test('kill -9 in the middle of a put leaves only a temporary file, which a sweep removes', async () => {
  const killed = new FilesystemStore({ path: join(root, 'killed') });
  const child = spawn(process.execPath, [
    join(import.meta.dirname, '../../../test/support/put-forever.ts'),
    killed.url,
  ]);
  await happened(child.stdout, 'data');
  child.kill('SIGKILL');
  await happened(child, 'exit');
  expect(await keysOf(killed, '')).toEqual([]);
  const [directory, part] = await readdir(join(root, 'killed'), { recursive: true });
  expect([directory, part]).toEqual(['cluster', expect.stringMatching(/^cluster\/x\.db\..*\.part$/)]);
  expect(await killed.sweep('cluster/', 3_600_000)).toBe(0);
  await utimes(join(root, 'killed', part!), 0, 0);
  expect(await killed.sweep('cluster/', 3_600_000)).toBe(1);
  expect(await readdir(join(root, 'killed'), { recursive: true })).toEqual([]);
});

describe('on a file system of its own', () => {
  const run = (program: string, ...args: string[]) => spawnSync(program, args).status;
  const mounted = (options: string) => {
    const directory = mkdtempSync(join(tmpdir(), 'mount-'));
    if (run('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', directory) === 0) return directory;
    rmSync(directory, { recursive: true });
    console.warn('skipped: only root may mount a tmpfs');
    return undefined;
  };
  const unmount = (directory: string) => {
    run('umount', directory);
    rmSync(directory, { recursive: true });
  };

  test('a full disk refuses the put, and nothing of it remains', async () => {
    const directory = mounted('size=2m');
    if (!directory) return;
    try {
      const full = new FilesystemStore({ path: directory });
      await full.put('small', once('x'));
      expect(await refused(full.put('large', once(Buffer.alloc(4 * 1024 * 1024))))).toContain(
        'ENOSPC: the volume is full',
      );
      expect(await readdir(directory)).toEqual(['small']);
      await full.delete('small');
    } finally {
      unmount(directory);
    }
  });

  test('a read-only directory can be read, refuses writes, and has no clock', async () => {
    const directory = mounted('size=2m');
    if (!directory) return;
    try {
      const readOnly = new FilesystemStore({ path: directory });
      await readOnly.put('a/x', once('x'));
      run('mount', '-o', 'remount,ro', directory);
      expect((await read(readOnly, 'a/x')).toString()).toBe('x');
      expect(await refused(readOnly.put('a/y', once('y')))).toContain('EROFS: the volume is mounted read-only');
      expect(await refused(readOnly.put('b/y', once('y')))).toContain('EROFS');
      expect(await refused(readOnly.delete('a/x'))).toContain('EROFS');
      expect(await readOnly.now()).toBeUndefined();
      expect(await readOnly.sweep('', 0)).toBe(0);
      expect(await keysOf(readOnly, '')).toEqual(['a/x']);
    } finally {
      unmount(directory);
    }
  });
});

test.each(['named pipe', 'socket'])('a %s is not an object, and holds nothing up', async (kind) => {
  const at = join(root, 'foreign', 'x');
  await mkdir(join(root, 'foreign'));
  const server = createServer();
  if (kind === 'socket') await new Promise<void>((resolve) => server.listen(at, resolve));
  else spawnSync('mkfifo', [at]);
  await expect(store.get('foreign/x')).rejects.toMatchObject({ exitCode: ExitCode.nothingThere });
  expect(await keysOf(store, 'foreign/')).toEqual([]);
  server.close();
  await rm(join(root, 'foreign'), { recursive: true });
});

test('a link to a file beside it is not an object of its own; one to elsewhere is', async () => {
  await store.put('links/a.db', once('a'));
  await store.put('elsewhere/b.db', once('b'));
  await symlink('a.db', join(root, 'links/latest.db'));
  await symlink('../elsewhere/b.db', join(root, 'links/b.db'));
  expect(await keysOf(store, 'links/')).toEqual(['links/a.db', 'links/b.db']);
  expect(await store.stat('links/latest.db')).toMatchObject({ linkTo: 'links/a.db', size: 1 });
  expect((await store.stat('links/b.db'))?.linkTo).toBeUndefined();
  for await (const link of store.links('links/')) {
    expect(link).toMatchObject({ key: 'links/latest.db', linkTo: 'links/a.db' });
  }
  expect((await read(store, 'links/latest.db')).toString()).toBe('a');
});

test('a folder that is a link to elsewhere is listed, once, and one that leads back is not', async () => {
  const linked = new FilesystemStore({ path: join(root, 'linked') });
  const away = new FilesystemStore({ path: join(root, 'away') });
  await linked.put('own/a.db', once('a'));
  await away.put('prod/orders/b.db', once('b'));
  await symlink('../away/prod', join(root, 'linked/prod'));
  await symlink('../away/prod', join(root, 'linked/same'));
  await symlink('own', join(root, 'linked/own-too'));
  await symlink('..', join(root, 'linked/around'));
  await symlink('..', join(root, 'away/prod/orders/back'));
  await symlink('missing', join(root, 'linked/broken'));
  const keys = await keysOf(linked, '');
  expect(keys).toHaveLength(2);
  expect(keys).toEqual(['own/a.db', expect.stringMatching(/^(prod|same)\/orders\/b\.db$/)]);
  expect(await keysOf(linked, 'prod/orders/')).toEqual(['prod/orders/b.db']);
  expect((await read(linked, 'prod/orders/b.db')).toString()).toBe('b');
});
