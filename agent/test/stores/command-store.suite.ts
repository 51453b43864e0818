import { spawn } from 'node:child_process';
import { once as happened } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCommand } from '../../src/store/command/command-store.ts';
import type { Store } from '../../src/store/store.ts';
import { Sshd } from '../harness/sshd.ts';
import { LocalScripts } from '../support/command-scripts.ts';
import { keysOf, once, read, storeContract, sweepUntil } from '../support/store-contract.ts';

const partsIn = async (directory: string) =>
  (await readdir(directory, { recursive: true }).catch(() => [])).filter((name) => name.endsWith('.part'));

describe('the example, on a directory', () => {
  let scripts: LocalScripts;
  let store: Store;
  beforeAll(async () => {
    scripts = await LocalScripts.make();
    store = await openCommand(scripts.spec);
  });
  afterAll(() => scripts[Symbol.asyncDispose]());

  storeContract(() => ({ store, refusesAtOnce: 0, rests: () => partsIn(scripts.directory) }), 50);

  test('kill -9 in the middle of a put: the script notices that the object is incomplete, and leaves nothing', async () => {
    const spec = {
      command: { ...scripts.spec, env: { ...scripts.spec.env, SSH_DIRECTORY: `${scripts.directory}-2` } },
    };
    const child = spawn(process.execPath, [
      join(import.meta.dirname, '../support/put-forever.ts'),
      JSON.stringify(spec),
    ]);
    await happened(child.stdout, 'data');
    expect(await partsIn(`${scripts.directory}-2`)).toHaveLength(1);
    child.kill('SIGKILL');
    await happened(child, 'exit');
    for (let waited = 0; (await partsIn(`${scripts.directory}-2`)).length > 0 && waited < 100; waited++)
      await sleep(100);
    expect(await readdir(`${scripts.directory}-2`, { recursive: true })).toEqual(['cluster']);
  });
});

describe('the example, on a real sshd', () => {
  let server: Sshd;
  let store: Store;
  const open = (env: Record<string, string> = {}, credentialsDirectory = server.credentialsDirectory) =>
    openCommand({
      path: scriptsPath,
      env: {
        SSH_TARGET: `${server.username}@${server.host}`,
        SSH_PORT: String(server.port),
        SSH_DIRECTORY: join(server.directory, "o'dd name"),
        ...env,
      },
      credentialsDirectory,
    });
  const scriptsPath = join(import.meta.dirname, '../../../examples/command-store');
  beforeAll(async () => {
    server = await Sshd.start();
    store = await open();
  });
  afterAll(() => server?.stop());

  test('objects are written and deleted', async () => {
    const bytes = Buffer.alloc(20 * 1024 * 1024, 'etcd');
    await store.put('a/large.db', once(bytes));
    await store.put("a/it's $(odd)", once('small'));
    expect((await read(store, 'a/large.db')).equals(bytes)).toBe(true);
    expect(await keysOf(store, 'a/')).toEqual(["a/it's $(odd)", 'a/large.db']);
    expect(await store.stat('a/none')).toBeUndefined();
    expect(await store.delete('a/large.db')).toBe('deleted');
    expect(await keysOf(store, '')).toEqual(["a/it's $(odd)"]);
    expect(Math.abs((await store.now())!.getTime() - Date.now())).toBeLessThan(60_000);
  });

  test('an abort leaves nothing on the server', async () => {
    const controller = new AbortController();
    const body = (async function* () {
      yield Buffer.alloc(4 * 1024 * 1024);
      controller.abort(new Error('told to stop'));
      await new Promise(() => {});
    })();
    await expect(store.put('b/x', body, { signal: controller.signal })).rejects.toThrow('told to stop');
    expect(await keysOf(store, 'b/')).toEqual([]);
    expect(await partsIn(server.directory)).toEqual([]);
  });

  test('leftovers of a killed session are swept', async () => {
    const directory = join(server.directory, 'dead');
    const dead = await open({ SSH_DIRECTORY: directory });
    const body = (async function* () {
      yield Buffer.alloc(4 * 1024 * 1024);
      await server.kill();
      yield Buffer.alloc(4 * 1024 * 1024);
    })();
    await expect(dead.put('a/x', body)).rejects.toMatchObject({ exitCode: 20 });
    await server.restart();
    expect(await keysOf(dead, '')).toEqual([]);
    expect(await partsIn(directory)).toHaveLength(1);
    expect(await dead.sweep('a/', 3_600_000)).toBe(0);
    expect(await sweepUntil(dead, 'a/', 1)).toBe(1);
  });

  test('a server with an unknown host key', async () => {
    const known = await server.credentials({ knownHosts: `other.example.com ${server.hostKey()}\n` });
    await expect((await open({}, known)).stat('x')).rejects.toMatchObject({
      exitCode: 20,
      message: expect.stringContaining('Host key verification failed'),
    });
  });

  test('a directory that cannot be written to is refused', async () => {
    const denied = await open({ SSH_DIRECTORY: '/proc/backups' });
    await expect(denied.put('a/x', once('x'))).rejects.toMatchObject({
      exitCode: 21,
      message: expect.stringMatching(/put a\/x was refused: .*\/proc\/backups/),
    });
  });
});
