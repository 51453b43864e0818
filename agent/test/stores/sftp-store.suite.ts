import { execFileSync, spawn } from 'node:child_process';
import { once as happened } from 'node:events';
import { mkdir, readdir, readFile, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExitCode } from '../../src/lib/errors.ts';
import type { SftpTuning } from '../../src/store/sftp/connection.ts';
import { openSftp } from '../../src/store/sftp/sftp-store.ts';
import type { SftpSpec } from '../../src/store/spec.ts';
import type { Store } from '../../src/store/store.ts';
import { TcpProxy } from '../harness/proxies/tcp-proxy.ts';
import { legacySshd, Sshd } from '../harness/sshd.ts';
import { keysOf, once, read, storeContract } from '../support/store-contract.ts';

const MIB = 1024 * 1024;
const opened: Store[] = [];
const servers: Sshd[] = [];

const serve = async (...options: Parameters<typeof Sshd.start>) => {
  const server = await Sshd.start(...options);
  servers.push(server);
  return server;
};

/** Opens a store in a directory of the server. */
async function open(
  server: Sshd,
  directory: string,
  spec: Partial<SftpSpec> = {},
  tuning: Partial<SftpTuning> = {},
): Promise<Store> {
  const { host, port, credentialsDirectory } = server;
  const path = join(server.directory, directory);
  const store = await openSftp({ host, port, path, credentialsDirectory, ...spec }, tuning);
  opened.push(store);
  return store;
}

const filesIn = async (server: Sshd, directory: string) =>
  (await readdir(join(server.directory, directory), { recursive: true }).catch(() => [])).sort();
const restsIn = async (server: Sshd, directory: string) =>
  (await filesIn(server, directory)).filter((name) => name.endsWith('.part'));

/** Returns the one-line error of a call. */
async function failure(call: Promise<unknown>): Promise<Error & { exitCode: number }> {
  const error = await call.then(
    () => new Error('it did not fail'),
    (thrown) => thrown,
  );
  expect(error.message).not.toContain('\n');
  return error;
}

const slowly = (chunks: number) =>
  (async function* () {
    for (let chunk = 0; chunk < chunks; chunk++) {
      yield Buffer.alloc(MIB, chunk);
      await sleep(20);
    }
  })();

let server: Sshd;
beforeAll(async () => {
  server = await serve({ hostKeys: ['ed25519', 'ecdsa', 'rsa'] });
});
afterAll(async () => {
  for (const store of opened) store.close();
  for (const each of servers) await each.stop();
});

describe('OpenSSH', () => {
  let store: Store;
  beforeAll(async () => {
    store = await open(server, 'contract/some/folder');
  });
  storeContract(() => ({ store, rests: () => restsIn(server, 'contract') }), 300);

  test('a link to a file beside it is not an object of its own; one to elsewhere is', async () => {
    const links = await open(server, 'links');
    await links.put('orders/a.db', once('a'));
    await links.put('elsewhere/b.db', once('b'));
    await symlink('a.db', join(server.directory, 'links/orders/latest.db'));
    await symlink('../elsewhere/b.db', join(server.directory, 'links/orders/b.db'));
    await symlink('nowhere', join(server.directory, 'links/orders/broken.db'));
    expect(await keysOf(links, 'orders/')).toEqual(['orders/a.db', 'orders/b.db']);
    expect(await links.stat('orders/latest.db')).toMatchObject({ linkTo: 'orders/a.db', size: 1 });
    expect((await links.stat('orders/b.db'))?.linkTo).toBeUndefined();
    const found = [];
    for await (const link of links.links!('orders/')) found.push(link);
    expect(found).toEqual([expect.objectContaining({ key: 'orders/latest.db', linkTo: 'orders/a.db' })]);
    expect((await read(links, 'orders/latest.db')).toString()).toBe('a');
    await links.delete('orders/latest.db');
    expect(await keysOf(links, 'orders/')).toEqual(['orders/a.db', 'orders/b.db']);
  });

  test('a folder that is a link to elsewhere is listed, once, and one that leads back is not', async () => {
    const linked = await open(server, 'linked');
    const away = await open(server, 'away');
    await linked.put('own/a.db', once('a'));
    await away.put('prod/orders/b.db', once('b'));
    const at = (name: string) => join(server.directory, name);
    await symlink('../away/prod', at('linked/prod'));
    await symlink('../away/prod', at('linked/same'));
    await symlink('own', at('linked/own-too'));
    await symlink('..', at('linked/around'));
    await symlink('..', at('away/prod/orders/back'));
    const keys = await keysOf(linked, '');
    expect(keys).toEqual(['own/a.db', expect.stringMatching(/^(prod|same)\/orders\/b\.db$/)]);
    expect(await keysOf(linked, 'prod/orders/')).toEqual(['prod/orders/b.db']);
    expect((await read(linked, 'prod/orders/b.db')).toString()).toBe('b');
  });

  test('a directory below that of the login', async () => {
    const { host, port, credentialsDirectory, username } = server;
    const path = `sftp-store-${process.pid}`;
    const below = await openSftp({ host, port, credentialsDirectory, username, path });
    opened.push(below);
    expect(below.url).toBe(`sftp://${username}@${host}:${port}/~/${path}`);
    await below.put('a/b', once('x'));
    expect(await keysOf(below, '')).toEqual(['a/b']);
    await below.delete('a/b');
    const home = await openSftp({ host, port, credentialsDirectory });
    opened.push(home);
    await home.put(`${path}/c`, once('x'));
    await home.delete(`${path}/c`);
    expect(await keysOf(home, `${path}/`)).toEqual([]);
  });

  test('only owner and group can read written files', async () => {
    const modes = await open(server, 'modes');
    await modes.put('a/x', once('secret'));
    const mode = (path: string) =>
      execFileSync('stat', ['-c', '%a', join(server.directory, path)], { encoding: 'utf8' });
    expect([mode('modes/a').trim(), mode('modes/a/x').trim()]).toEqual(['750', '640']);
  });

  test('a delete leaves no empty directories; directories of the file system and foreign .part files stay', async () => {
    const tree = await open(server, 'tree');
    for (const key of ['a/b/c', 'a/d', 'lost+found/1']) await tree.put(key, once(key));
    await writeFile(join(server.directory, 'tree/foreign.part'), 'x');
    await utimes(join(server.directory, 'tree/foreign.part'), 0, 0);
    await tree.delete('a/b/c');
    expect(await tree.sweep('', 0)).toBe(0);
    expect(await filesIn(server, 'tree')).toEqual(['a', 'a/d', 'foreign.part', 'lost+found', 'lost+found/1']);
    expect(await keysOf(tree, '')).toEqual(['a/d']);
  });

  test('a missing directory is empty and has no clock; a file in its place is refused', async () => {
    const fresh = await open(server, 'fresh/store');
    expect(await keysOf(fresh, '')).toEqual([]);
    expect(await fresh.now()).toBeUndefined();
    expect(await fresh.sweep('', 0)).toBe(0);
    await writeFile(join(server.directory, 'fresh'), 'a file');
    expect(await failure(fresh.put('x', once('x')))).toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringContaining('is not a directory'),
    });
  });

  test('a file that is cut while it is read makes the reader fail', async () => {
    const cut = await open(server, 'cut');
    await cut.put('x', once(Buffer.alloc(8 * MIB)));
    const reading = (async () => {
      for await (const _ of await cut.get('x')) await truncate(join(server.directory, 'cut/x'), 1000);
    })();
    expect(await failure(reading)).toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      message: expect.stringContaining('of 8388608 bytes'),
    });
  });

  test('kill -9 in the middle of a put leaves only a temporary file, which a sweep removes', async () => {
    const { endpoint, credentialsDirectory, directory } = server;
    const url = `${endpoint}${directory}/killed?${new URLSearchParams({ credentialsDirectory })}`;
    const child = spawn(process.execPath, [join(import.meta.dirname, '../support/put-forever.ts'), url]);
    await happened(child.stdout, 'data');
    child.kill('SIGKILL');
    await happened(child, 'exit');
    const killed = await open(server, 'killed');
    expect(await keysOf(killed, '')).toEqual([]);
    const [part] = await restsIn(server, 'killed');
    expect(part).toMatch(/^cluster\/x\.db\.[0-9a-f]{8}\.part$/);
    expect(await killed.sweep('cluster/', 3_600_000)).toBe(0);
    await utimes(join(directory, 'killed', part!), 0, 0);
    expect(await killed.sweep('cluster/', 3_600_000)).toBe(1);
    expect(await filesIn(server, 'killed')).toEqual([]);
  });
});

describe('an old server without extensions', () => {
  let old: Sshd;
  let store: Store;
  beforeAll(async () => {
    old = await serve(legacySshd);
    store = await open(old, 'contract', { legacyAlgorithms: true });
  });
  storeContract(() => ({ store, rests: () => restsIn(old, 'contract') }), 100);

  test('is refused without legacyAlgorithms', async () => {
    const error = await failure((await open(old, 'x')).put('x', once('x')));
    expect(error).toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringMatching(/key exchange.*needs legacyAlgorithms: true/),
    });
  });

  test.each([
    ['HostKeyAlgorithms ssh-rsa', /no host key of the type .*\(ssh-rsa\).*needs legacyAlgorithms: true/],
    [
      'PubkeyAcceptedAlgorithms ssh-rsa',
      /login was refused \(tried private key \(ssh-rsa\)\).*needs legacyAlgorithms: true/,
    ],
  ])('is refused without legacyAlgorithms when it is old by %s alone', async (line, message) => {
    const partly = await serve({ ...legacySshd, config: [line] });
    const error = await failure((await open(partly, 'x')).put('x', once('x')));
    expect(error).toMatchObject({ exitCode: ExitCode.storeRefused, message: expect.stringMatching(message) });
    const allowed = await open(partly, 'x', { legacyAlgorithms: true });
    await allowed.put('x', once('x'));
  });
});

describe('host keys', () => {
  const line = (type: 'ed25519' | 'ecdsa' | 'rsa', names: string, marker = '') =>
    `${marker}${names} ${server.hostKey(type)}\n`;
  const withKnownHosts = async (knownHosts: string | undefined) => ({
    credentialsDirectory: await server.credentials({ knownHosts }),
  });
  const put = async (spec: Partial<SftpSpec>) => (await open(server, 'keys', spec)).put('x', once('x'));

  test('none given: refused before anything is sent, with the command to get one', async () => {
    expect(await failure(open(server, 'keys', await withKnownHosts(undefined)))).toMatchObject({
      exitCode: ExitCode.usage,
      message: expect.stringContaining(`no host key is given; run ssh-keyscan -p ${server.port} 127.0.0.1`),
    });
  });

  test('given for other hosts only', async () => {
    const others = line('ed25519', 'elsewhere') + line('ed25519', '[127.0.0.1]:1') + line('ed25519', '!*127.0.0.1*,*');
    expect(await failure(open(server, 'keys', await withKnownHosts(others)))).toMatchObject({
      exitCode: ExitCode.usage,
      message: expect.stringContaining('knownHosts has no key of 127.0.0.1'),
    });
  });

  test('changed: reports the expected and the received key', async () => {
    const other = await serve();
    const spec = await withKnownHosts(`127.0.0.1 ${other.hostKey()}\n`);
    const error = await failure(put(spec));
    expect(error).toMatchObject({ exitCode: ExitCode.storeRefused });
    expect(error.message).toContain(`expected ${other.fingerprint()} as in knownHosts, got ${server.fingerprint()}`);
    expect((await failure(put({ hostKey: other.fingerprint() }))).message).toContain(
      `expected ${other.fingerprint()} as in hostKey, got ${server.fingerprint()}`,
    );
  });

  test('revoked', async () => {
    const spec = await withKnownHosts(line('ed25519', '127.0.0.1') + line('ed25519', '*', '@revoked '));
    expect(await failure(put(spec))).toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringContaining('is revoked in knownHosts'),
    });
  });

  test('hashed, by port, by wildcard, among others, and of any type', async () => {
    const known = join(server.credentialsDirectory, '../hashed');
    await writeFile(known, line('ed25519', `[127.0.0.1]:${server.port}`));
    execFileSync('ssh-keygen', ['-H', '-f', known], { stdio: 'ignore' });
    const hashed = await readFile(known, 'utf8');
    expect(hashed).toMatch(/^\|1\|/);
    for (const text of [
      hashed,
      `# comment\n\n${line('rsa', 'other')}${line('ed25519', `[127.0.0.1]:${server.port}`)}`,
      line('ed25519', '10.0.0.1,127.0.*'),
      line('ecdsa', '127.0.0.1'),
      line('rsa', '127.0.0.1'),
      line('rsa', '127.0.0.1').replace('\n', '\r\n'),
    ]) {
      await put(await withKnownHosts(text));
    }
    await put({ ...(await withKnownHosts(undefined)), knownHostsFile: known });
  });

  test.each(['ed25519', 'ecdsa', 'rsa'] as const)('pinned: %s', async (type) => {
    const nothing = await withKnownHosts(undefined);
    await put({ ...nothing, hostKey: server.fingerprint(type) });
    await put({ ...nothing, hostKey: server.hostKey(type) });
  });
});

describe('credentials', () => {
  const put = async (files: Record<string, string | undefined>, spec: Partial<SftpSpec> = {}) => {
    const credentialsDirectory = await server.credentials(files);
    return (await open(server, 'credentials', { credentialsDirectory, ...spec })).put('x', once('x'));
  };

  test('an encrypted key with its passphrase, and under the name of an ssh-auth Secret', async () => {
    const privateKey = await server.encryptedKey('open sesame');
    await put({ privateKey, passphrase: 'open sesame\n' });
    await put({ privateKey: undefined, 'ssh-privatekey': privateKey.trim(), passphrase: 'open sesame' });
    await put({ username: undefined }, { username: server.username });
  });

  test.each([
    [
      'an encrypted key and no passphrase',
      async () => ({ privateKey: await server.encryptedKey('hunter2') }),
      'privateKey is encrypted; add the file passphrase',
    ],
    [
      'a wrong passphrase',
      async () => ({ privateKey: await server.encryptedKey('hunter2'), passphrase: 'hunter3' }),
      'cannot be decrypted; correct the file passphrase',
    ],
    ['no key at all', async () => ({ privateKey: 'hunter2' }), 'privateKey is not'],
    ['a public key', async () => ({ privateKey: server.hostKey() }), 'privateKey is a public key'],
    ['no way to log in', async () => ({ privateKey: undefined }), 'has neither privateKey nor password'],
    ['no user', async () => ({ username: undefined }), 'has no username'],
    ['an empty user', async () => ({ username: '\n' }), 'username is empty'],
  ])('%s', async (_name, files, message) => {
    const error = await failure(put(await files()));
    expect(error).toMatchObject({ exitCode: ExitCode.usage, message: expect.stringContaining(message) });
    expect(error.message).not.toContain('hunter');
  });

  test('a missing directory, or none', async () => {
    expect((await failure(open(server, 'x', { credentialsDirectory: '/nowhere' }))).message).toContain('ENOENT');
    expect(await failure(open(server, 'x', { credentialsDirectory: undefined }))).toMatchObject({
      exitCode: ExitCode.usage,
      message: expect.stringContaining('set credentialsDirectory'),
    });
  });

  test('a key that the server does not accept', async () => {
    const other = await serve();
    const privateKey = await readFile(join(other.credentialsDirectory, 'privateKey'), 'utf8');
    expect(await failure(put({ privateKey, password: 'hunter2' }))).toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringMatching(/login was refused \(tried private key \(ssh-ed25519\) and password\)/),
    });
  });

  test('that are rotated are read again by the next connection', async () => {
    const rotated = await serve();
    const credentialsDirectory = await rotated.credentials({
      privateKey: await server.encryptedKey('x'),
      passphrase: 'x',
    });
    const store = await open(rotated, 'x', { credentialsDirectory });
    expect(await failure(store.put('x', once('x')))).toMatchObject({ exitCode: ExitCode.storeRefused });
    const key = await readFile(join(rotated.credentialsDirectory, 'privateKey'));
    await writeFile(join(credentialsDirectory, 'privateKey'), key);
    await store.put('x', once('x'));
  });
});

describe('a connection', () => {
  const unreachable = (message: string | RegExp) => ({
    exitCode: ExitCode.storeUnreachable,
    message: expect.stringMatching(message),
  });
  const through = (proxy: TcpProxy, directory: string, tuning: Partial<SftpTuning> = {}) =>
    open(server, directory, { port: Number(new URL(proxy.url).port) }, tuning);

  test('to a closed port, and to a server without SSH', async () => {
    expect(await failure((await open(server, 'x', { port: 1 })).put('x', once('x')))).toMatchObject(
      unreachable(/cannot reach 127.0.0.1:1: .*ECONNREFUSED/),
    );
  });

  test.each([10_000, 200_000])(
    'that is cut after %i bytes came down it: nothing is left, and the next call has a new one',
    async (bytes) => {
      await using proxy = await TcpProxy.start(server.endpoint);
      const directory = `cut-${bytes}`;
      const store = await through(proxy, directory);
      await store.put('old', once(Buffer.alloc(4 * MIB)));
      proxy.cutAfter(0);
      await expect(store.stat('old')).rejects.toMatchObject(unreachable(/lost|closed/));
      proxy.cutAfter(bytes);
      const reading = (async () => {
        for await (const _ of await store.get('old')) await sleep(1);
      })();
      expect(await failure(reading)).toMatchObject(unreachable(/lost the connection to 127.0.0.1:\d+: .*try again/));
      proxy.mend();
      expect(await read(store, 'old')).toHaveLength(4 * MIB);
    },
  );

  test('that is cut in the middle of an upload', async () => {
    await using proxy = await TcpProxy.start(server.endpoint);
    const store = await through(proxy, 'upload');
    const putting = failure(store.put('x', slowly(400)));
    for (let waited = 0; (await restsIn(server, 'upload')).length === 0 && waited < 100; waited++) await sleep(20);
    proxy.cutAfter(0);
    setTimeout(() => proxy.mend(), 500);
    expect(await putting).toMatchObject(unreachable(/cannot (create|write) .*lost/));
    expect(await filesIn(server, 'upload')).toEqual([]);
  });

  test.each(['an upload', 'a download', 'a login'])('that stalls in %s', async (what) => {
    await using proxy = await TcpProxy.start(server.endpoint);
    const store = await through(proxy, 'stalled', { idleTimeout: 700, loginTimeout: 700 });
    const large = await open(server, 'stalled');
    await large.put('large', once(Buffer.alloc(8 * MIB)));
    proxy.stallAfter(what === 'a login' ? 1_000 : what === 'a download' ? 500_000 : 6_000);
    const call = what === 'a download' ? read(store, 'large') : store.put('x', slowly(200));
    expect(await failure(call)).toMatchObject(unreachable(/no answer for 0.7 s/));
    expect(await keysOf(large, '')).toEqual(['large']);
  });

  test('that stalls ends at once with an abort', async () => {
    await using proxy = await TcpProxy.start(server.endpoint);
    const store = await through(proxy, 'aborted');
    proxy.stallAfter(6_000);
    const controller = new AbortController();
    const reason = new Error('told to stop');
    setTimeout(() => controller.abort(reason), 300);
    await expect(store.put('x', slowly(200), { signal: controller.signal })).rejects.toBe(reason);
  });

  test('to a server that is killed in the middle of an upload, and comes back', async () => {
    const killed = await serve();
    const store = await open(killed, 'x');
    await store.put('old', once('old'));
    const putting = failure(store.put('x', slowly(400)));
    for (let waited = 0; (await restsIn(killed, 'x')).length === 0 && waited < 100; waited++) await sleep(20);
    await killed.kill();
    expect(await putting).toMatchObject(unreachable(/lost/));
    await killed.restart();
    expect(await keysOf(store, '')).toEqual(['old']);
    const [part] = await restsIn(killed, 'x');
    await utimes(join(killed.directory, 'x', part!), 0, 0);
    expect(await store.sweep('', 1_000)).toBe(1);
  });
});

describe('a disk', () => {
  const mounted = async (name: string, options: string) => {
    const directory = join(server.directory, name);
    await mkdir(directory);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', directory], { stdio: 'ignore' });
    } catch {
      console.warn('skipped: only root may mount a tmpfs');
      return undefined;
    }
    return { directory, [Symbol.dispose]: () => execFileSync('umount', [directory]) };
  };

  test('that is full refuses, and keeps no part of the object', async () => {
    using disk = await mounted('full', 'size=8m');
    if (!disk) return;
    const store = await open(server, 'full');
    await store.put('small', once('x'));
    expect(await failure(store.put('large', slowly(20)))).toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringContaining('its disk is full; give it more room'),
    });
    expect(await filesIn(server, 'full')).toEqual(['small']);
    store.close();
  });

  test('that is mounted read-only can be read, refuses writes, and has no clock', async () => {
    using disk = await mounted('read-only', 'size=8m');
    if (!disk) return;
    const store = await open(server, 'read-only');
    await store.put('a/x', once('x'));
    execFileSync('mount', ['-o', 'remount,ro', disk.directory]);
    expect((await read(store, 'a/x')).toString()).toBe('x');
    const calls = [() => store.put('a/y', once('y')), () => store.put('b/y', once('y')), () => store.delete('a/x')];
    for (const call of calls) {
      expect(await failure(call())).toMatchObject({
        exitCode: ExitCode.storeRefused,
        message: expect.stringContaining('mounted read-only'),
      });
    }
    expect(await store.now()).toBeUndefined();
    expect(await store.sweep('', 0)).toBe(0);
    expect(await keysOf(store, '')).toEqual(['a/x']);
    store.close();
  });

  test('that the user may not write to', async () => {
    const readOnly = await serve({ sftp: ['-R'] });
    expect(await failure((await open(readOnly, '')).put('x', once('x')))).toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringContaining('change the owner or mode'),
    });
  });
});
