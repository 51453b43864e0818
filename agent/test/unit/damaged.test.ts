// A payload that was damaged after its upload: the errors, and that their advice works.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { AgentError, ExitCode } from '../../src/lib/errors.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { seal } from '../mutations/mutate.ts';
import { runHere } from '../support/in-process.ts';
import { manifestOf } from '../support/manifest-of.ts';

const [older, damaged] = ['etcd-snapshot-20261120-020000-000001', 'etcd-snapshot-20261121-020000-000002'] as const;
const original = (({ put, stat, get }) => ({ put, stat, get }))(FilesystemStore.prototype);
/** Makes the store refuse this call for the key, or for every key. */
function refuse(method: keyof typeof original, refused?: string): void {
  const call = original[method] as (...args: unknown[]) => Promise<unknown>;
  Object.assign(FilesystemStore.prototype, {
    async [method](key: string, ...more: unknown[]) {
      if ((refused ?? key) === key) throw new AgentError(ExitCode.storeRefused, '403');
      return call.call(this, key, ...more);
    },
  });
}
let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'damaged-'));
  await mkdir(join(path, 'orders'));
  await put(older);
  await put(damaged);
  await writeFile(join(path, `orders/${damaged}.db`), Buffer.alloc(seal(Buffer.from(damaged)).length));
});
afterEach(async () => {
  Object.assign(FilesystemStore.prototype, original);
  await rm(path, { recursive: true });
});

async function put(id: string, pack = (plain: Buffer): Buffer => plain): Promise<void> {
  const snapshot = seal(Buffer.from(id));
  const createdAt = new Date(Date.now() - (id === older ? 2 : 1) * 3_600_000).toISOString();
  const stored = pack(snapshot);
  const compression = stored === snapshot ? 'none' : 'zstd';
  const manifest = manifestOf(snapshot, stored, { id, createdAt, object: { compression } });
  await writeFile(join(path, `orders/${id}.db`), stored);
  await writeFile(join(path, `orders/${id}.json`), JSON.stringify(manifest));
}
const inStore = () => ['--cluster=orders', `--store=file://${path}`];
const run = (command: string) => runHere(...command.split(' '), ...inStore());
const fetch = (...more: string[]) => runHere('restore', 'fetch', ...more, ...inStore(), `--to=${path}/x.db`);
/** Runs the command that the message names. */
const asTyped = (text: string) => runHere(.../`etcd-agent (verify [^`]*)`/.exec(text)![1]!.split(' '));

test.each([
  ['fetch', () => ['restore', 'fetch', `--to=${path}/x.db`]],
  ['data-dir', () => ['restore', 'data-dir', `--data-dir=${path}-data`]],
  [
    'serve',
    () => ['restore', 'serve', '--listen=127.0.0.1:0', `--token-sha256=${'0'.repeat(64)}`, `--scratch=${path}`],
  ],
])('the default restore names an older snapshot, and the command after which it is used: %s', async (_, command) => {
  const { exitCode, text } = await runHere(...command(), ...inStore());
  expect({ exitCode, text }).toEqual({
    exitCode: ExitCode.verificationFailed,
    text: expect.stringMatching(
      new RegExp(
        `^${damaged}: .*\\(sha256 differs\\); this snapshot is damaged: name another .*, for example ${older},`,
      ),
    ),
  });
  expect(await asTyped(text)).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { failed: 1 } });
  expect(await fetch()).toMatchObject({ exitCode: 0, data: { id: older } });
});

test('where `verify` cannot write, the default restore still selects the damaged snapshot, and `verify` warns of this', async () => {
  refuse('put');
  const { text } = await fetch();
  expect(text).toMatch(/that must be allowed to write to the store: if it is not, always name the snapshot$/);
  const { exitCode, log } = await asTyped(text);
  expect({ exitCode, log }).toEqual({
    exitCode: ExitCode.verificationFailed,
    log: [expect.stringMatching(/could not be stored.*403; commands without an id may still use it, so name an/)],
  });
  expect((await fetch()).exitCode).toBe(ExitCode.verificationFailed);
  expect(await fetch(older)).toMatchObject({ exitCode: 0 });
});

test('a damaged snapshot that is named, or that is the only one, gets no advice that cannot help', async () => {
  const { text } = await fetch(damaged);
  expect(text).toMatch(new RegExp(`this snapshot is damaged: name another snapshot, for example ${older}, [^;]*$`));
  for (const name of await readdir(join(path, 'orders'))) {
    if (name.startsWith(older)) await rm(join(path, 'orders', name));
  }
  expect((await fetch(damaged)).text).toMatch(
    /is damaged: name another snapshot; see `etcd-agent list --store=\S+ --cluster=orders --namespace=`$/,
  );
});

test.each([
  ['before its payload is read', () => true],
  ['at its end', ({ done }: { done?: boolean | undefined }) => done],
])(
  'a snapshot that another cluster deletes while it is restored, %s: the error says so, and how to keep one',
  async (_, now) => {
    await put(damaged);
    const { get } = original;
    const deleteIt = async () => {
      for (const name of await readdir(join(path, 'orders')))
        if (name.startsWith(damaged)) await rm(join(path, 'orders', name));
    };
    Object.assign(FilesystemStore.prototype, {
      async get(this: FilesystemStore, key: string, ...more: []) {
        if (key.endsWith('.db') && now({})) await deleteIt();
        const bytes = await get.call(this, key, ...more);
        if (!key.endsWith('.db')) return bytes;
        return (async function* () {
          yield* bytes;
          await deleteIt();
          if (now({ done: true })) throw new AgentError(ExitCode.verificationFailed, 'ended early');
        })();
      },
    });
    const { exitCode, text } = await fetch(damaged);
    expect({ exitCode, text }).toEqual({
      exitCode: ExitCode.nothingThere,
      text: expect.stringMatching(
        new RegExp(
          `^${damaged}: was deleted from file://\\S+ while it was read, by the retention of its cluster or by hand, so it cannot be restored: name another snapshot, for example ${older}, [^;]*; pin a snapshot that retention may delete before you restore it$`,
        ),
      ),
    });
    expect(await readdir(path)).toEqual(['orders']);
  },
);

test('a payload that cannot be decompressed is named', async () => {
  await put(damaged, zstdCompressSync);
  const manifestOnly = zstdCompressSync(seal(Buffer.from(damaged)));
  await writeFile(join(path, `orders/${damaged}.db`), Buffer.alloc(manifestOnly.length, 7));
  expect((await fetch()).text).toMatch(new RegExp(`${damaged}.* is damaged: name another`));
});

test('what `verify` found names the snapshot once', async () => {
  await run('verify');
  const twice = new RegExp(`${damaged}: [^;]*${damaged}: `);
  for (const command of ['show', `show ${damaged}`, 'list', 'status', `copy ${damaged} --to=file://${path}/copies`]) {
    const { text, log } = await run(command);
    for (const line of [...text.split('\n'), ...log]) expect(line).not.toMatch(twice);
  }
  expect((await fetch(damaged)).text).not.toMatch(twice);
  expect((await fetch(damaged)).text).toMatch(`${damaged}: \`verify\` found it FAILED: the bytes`);
});

test('--force-failed is offered only where it helps', async () => {
  await run('verify');
  const refused = await fetch(damaged);
  expect(refused).toMatchObject({
    exitCode: ExitCode.verificationFailed,
    text: expect.stringMatching(
      new RegExp(
        `found it FAILED: .*; name another snapshot, for example ${older}, [^;]*; if it was repaired since, run .etcd-agent verify ${damaged} [^;]* again$`,
      ),
    ),
  });
  expect(refused.text).not.toContain('--force-failed');
  // It is not offered because it would not help.
  expect((await fetch(damaged, '--force-failed')).exitCode).toBe(ExitCode.verificationFailed);
});

test('--force-failed is not offered for a payload that the store does not return', async () => {
  const snapshot = seal(Buffer.from('mine'));
  const manifest = manifestOf(snapshot, snapshot, { id: 'mine', object: { key: 'orders/own.snap' } });
  await writeFile(join(path, 'orders/own.snap'), snapshot);
  await writeFile(join(path, 'orders/mine.json'), JSON.stringify(manifest));
  refuse('stat', 'orders/own.snap');
  refuse('get', 'orders/own.snap');
  const { text } = await fetch('mine');
  expect(text).toMatch(/its payload cannot be read: 403; name another/);
  expect(text).not.toContain('--force-failed');
  expect((await fetch('mine', '--force-failed')).exitCode).toBe(ExitCode.storeRefused);
});

test('the command that is printed finds a cluster without a namespace beside one of the same name, with the same tools', async () => {
  await mkdir(join(path, 'prod/orders'), { recursive: true });
  await writeFile(join(path, `prod/orders/${older}.json`), '{}');
  await mkdir(join(path, 'a b'));
  const { text } = await fetch('--namespace=', `--scratch=${path}/a b`, '--etcdutl=/no/etcdutl');
  expect(text).toMatch(new RegExp(` --namespace= --etcdutl=/no/etcdutl '--scratch=${path}/a b'\`, after which`));
  const tools = text.replace(/ --etcdutl.*/, '`');
  expect(await asTyped(tools)).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { failed: 1 } });
});
