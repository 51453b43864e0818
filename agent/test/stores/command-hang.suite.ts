import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExitCode } from '../../src/lib/errors.ts';
import { type CommandTuning, openCommand } from '../../src/store/command/command-store.ts';
import type { Store } from '../../src/store/store.ts';
import { scriptDirectory } from '../support/command-scripts.ts';
import { keysOf, once } from '../support/store-contract.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'command-hang-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const sh = (...lines: string[]) => `#!/bin/sh\n${lines.join('\n')}\n`;
const stat = sh('[ -f "$FILE" ] || exit 104', `printf '%s\\t2026-11-21T02:38:07Z\\t%s\\n' "$(wc -c <"$FILE")" "$1"`);
const hang = sh('sleep 1000 & echo $! >"$FILE"; wait');

let files = 0;
async function open(
  scripts: Record<string, string>,
  tuning: Partial<CommandTuning>,
): Promise<Store & { file: string }> {
  const all = { put: hang, get: hang, list: hang, stat, delete: hang, ...scripts };
  const path = await scriptDirectory(root, all);
  const file = join(root, `file-${files++}`);
  return Object.assign(await openCommand({ path, env: { FILE: file } }, tuning), { file });
}

/** The processes that the script started have ended, even if they have not been reaped yet. */
async function expectGone(file: string): Promise<void> {
  const pid = (await readFile(file, 'utf8')).trim();
  const state = () => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => 'Z');
  for (let waited = 0; !(await state()).includes('Z') && waited < 100; waited++) await sleep(50);
  expect(await state()).toContain('Z');
}

const idle = {
  exitCode: ExitCode.storeUnreachable,
  message: expect.stringMatching(/ showed no sign of life for 2 s; .* raise idleTimeout$/),
};

test('a script that hangs is ended after the idle time-out, with all its processes', async () => {
  const store = await open({}, { idleTimeout: 2_000 });
  for (const call of [() => store.put('a/x', once('x')), () => keysOf(store, ''), () => store.delete('a/x')]) {
    await expect(call()).rejects.toMatchObject(idle);
    await expectGone(store.file);
  }
});

test('one that ignores SIGTERM is killed', async () => {
  const deaf = sh('trap "" TERM', 'sleep 1000 & echo $! >"$FILE"; wait; sleep 1000');
  const store = await open({ delete: deaf }, { idleTimeout: 2_000, grace: 300 });
  await expect(store.delete('a/x')).rejects.toMatchObject(idle);
  await expectGone(store.file);
});

test('an abort ends it, and gives its reason', async () => {
  const store = await open({}, {});
  const calls = [
    (signal: AbortSignal) => store.delete('a/x', { signal }),
    (signal: AbortSignal) => keysOf(store, '', { signal }),
  ];
  for (const call of calls) {
    const controller = new AbortController();
    const reason = new Error('told to stop');
    setTimeout(() => controller.abort(reason), 1_000);
    await expect(call(controller.signal)).rejects.toBe(reason);
    await expectGone(store.file);
  }
});

test('one that writes to stderr does not count as idle', async () => {
  const busy = sh('for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do sleep 0.2; echo . >&2; done');
  expect(await (await open({ delete: busy }, { idleTimeout: 2_000 })).delete('a/x')).toBe('deleted');
});

test('it does not count as idle while the agent is slow', async () => {
  const put = sh('cat >"$FILE"');
  const store = await open({ put, get: sh('cat "$FILE"') }, { idleTimeout: 2_000 });
  const slow = async function* () {
    yield Buffer.alloc(400_000);
    await sleep(3_000);
    yield Buffer.alloc(400_000);
  };
  await store.put('a/x', slow());
  let bytes = 0;
  for await (const chunk of await store.get('a/x')) {
    if (bytes === 0) await sleep(3_000);
    bytes += chunk.length;
  }
  expect(bytes).toBe(800_000);
});

test('a process that it left behind, and that holds its stderr, does not block it', async () => {
  const store = await open({ delete: sh('sleep 1000 >/dev/null &', 'echo $! >"$FILE"') }, {});
  expect(await store.delete('a/x')).toBe('deleted');
  process.kill(Number(await readFile(store.file, 'utf8')));
  await expectGone(store.file);
});

test('nothing keeps the agent from ending when the script has ended', async () => {
  const put = sh('cat >"$FILE"');
  const path = await scriptDirectory(root, { put, get: sh('cat "$FILE"'), list: hang, stat, delete: hang });
  const spec = { command: { path, env: { FILE: join(root, 'ends') }, idleTimeout: '1h' } };
  const args = [join(import.meta.dirname, '../support/put-once.ts'), JSON.stringify([spec])];
  const { stdout, signal } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000 });
  expect({ stdout, signal }).toEqual({ stdout: '[{}]', signal: null });
});
