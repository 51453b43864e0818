import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { scriptDirectory } from '../../../test/support/command-scripts.ts';
import { keysOf, once, read } from '../../../test/support/store-contract.ts';
import { ExitCode } from '../../lib/errors.ts';
import type { CommandSpec } from '../spec.ts';
import type { Store } from '../store.ts';
import { type CommandTuning, openCommand, parseListed } from './command-store.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'command-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const sh = (...lines: string[]) => `#!/bin/sh\n${lines.join('\n')}\n`;
const TIME = '2026-11-21T02:38:07Z';
/** Scripts of a store with one object, in the file $FILE. */
const working = {
  put: sh('cat >"$FILE"', 'read -r end <&3 && [ "$end" = whole ] || { rm "$FILE"; exit 1; }'),
  get: sh('cat "$FILE"'),
  list: sh(`printf '1\\t${TIME}\\ta/x\\nend\\n'`),
  stat: sh('[ -f "$FILE" ] || exit 104', `printf '%s\\t${TIME}\\t%s\\n' "$(wc -c <"$FILE")" "$1"`),
  delete: sh('rm -f "$FILE"'),
};

let files = 0;
async function open(
  scripts: Partial<Record<string, string>> = {},
  spec: Partial<CommandSpec> = {},
  tuning: Partial<CommandTuning> = {},
): Promise<Store & { file: string }> {
  const path = await scriptDirectory(root, { ...working, ...scripts } as Record<string, string>);
  const file = join(root, `file-${files++}`);
  const store = await openCommand({ path, ...spec, env: { FILE: file, ...spec.env } }, { grace: 2_000, ...tuning });
  return Object.assign(store, { file });
}

const failure = async (call: Promise<unknown>): Promise<Error & { exitCode: number }> => {
  const error = await call.then(
    () => new Error('it did not fail'),
    (thrown) => thrown,
  );
  expect(error.message).not.toContain('\n');
  return error;
};
const everything = (store: Store): (() => Promise<unknown>)[] => [
  () => store.put('a/x', once('x')),
  () => store.stat('a/x'),
  () => keysOf(store, 'a/'),
  () => store.delete('a/x'),
];

test('an object goes through the scripts, and its URL says where they are', async () => {
  const store = await open();
  await store.put('a/x', once('hello ', 'world'));
  expect(await readFile(store.file, 'utf8')).toBe('hello world');
  expect((await read(store, 'a/x')).toString()).toBe('hello world');
  expect(await store.stat('a/x')).toEqual({ key: 'a/x', size: 11, modified: new Date(TIME) });
  expect(store.url).toMatch(/^exec:\/\/\/.*\/scripts-/);
});

test('without now and sweep there is no clock, and nothing is swept', async () => {
  const store = await open();
  expect(await store.now()).toBeUndefined();
  expect(await store.sweep('a/', 0)).toBe(0);
});

test('now and sweep, if they exist', async () => {
  const store = await open({
    now: sh(`echo ${TIME}`),
    sweep: sh('echo "$1" >"$FILE"; echo "$2" >>"$FILE"; echo 1; echo 2'),
  });
  expect(await store.now()).toEqual(new Date(TIME));
  expect(await store.sweep('a/', 86_400_500)).toBe(2);
  expect(await readFile(store.file, 'utf8')).toBe('a/\n86401\n');
});

describe('what the scripts receive', () => {
  test('a key is one argument without a shell, and the environment contains only their variables', async () => {
    process.env.NOT_FOR_SCRIPTS = 'x';
    const store = await open(
      {
        delete: sh('printf "%s\\n" "$#" "$1" "$PWD" "$EXTRA" "$CREDENTIALS_DIRECTORY" "$NOT_FOR_SCRIPTS." >"$FILE"'),
      },
      { env: { EXTRA: 'a b' }, credentialsDirectory: root },
    );
    const key = 'a/$(touch /tmp/x) "q" \'r\' ; *';
    await store.delete(key);
    expect(await readFile(store.file, 'utf8')).toBe(`1\n${key}\n/\na b\n${root}\n.\n`);
    delete process.env.NOT_FOR_SCRIPTS;
  });
});

describe('mistakes', () => {
  test.each(['put', 'get', 'list', 'stat', 'delete'])('%s is missing, or not executable', async (verb) => {
    const path = await scriptDirectory(root, working);
    await chmod(join(path, verb), 0o644);
    expect(await failure(openCommand({ path }))).toMatchObject({
      exitCode: ExitCode.usage,
      message: `command: cannot run ${join(path, verb)} (EACCES); make it executable`,
    });
    await rm(join(path, verb));
    expect(await failure(openCommand({ path }))).toMatchObject({
      exitCode: ExitCode.usage,
      message: expect.stringMatching(/\(ENOENT\); the store needs put, get, list, stat, delete$/),
    });
  });

  test('a missing interpreter', async () => {
    const script = '#!/no/such/shell\n';
    const store = await open({ put: script, stat: script, list: script, delete: script });
    for (const call of everything(store)) {
      expect(await failure(call())).toMatchObject({
        exitCode: ExitCode.usage,
        message: expect.stringMatching(/cannot be started \(ENOENT\): the program in its first line is missing/),
      });
    }
  });

  test('a missing directory of credentials', async () => {
    const path = await scriptDirectory(root, working);
    const credentialsDirectory = join(root, 'none');
    expect(await failure(openCommand({ path, credentialsDirectory }))).toMatchObject({ exitCode: ExitCode.usage });
  });
});

test('a key or prefix that a script could take for an option is refused before any script runs', async () => {
  const store = await open({ list: sh('rm "$FILE"'), sweep: sh('rm "$FILE"') });
  await store.put('a/x', once('x'));
  for (const call of [
    () => store.put('-rf', once('y')),
    () => store.get('-rf/x'),
    () => store.stat('-rf'),
    () => store.delete('-rf'),
    () => keysOf(store, '-'),
    () => store.sweep('-rf/', 0),
  ]) {
    const error = await failure(call());
    expect(error).toMatchObject({ exitCode: ExitCode.usage, message: expect.stringMatching(/begins with '-'/) });
  }
  expect(await readFile(store.file, 'utf8')).toBe('x');
});

describe('exit codes', () => {
  const ending = (code: number) => {
    const script = sh('echo first >&2', "printf 'the\\tlast line\\n' >&2", `exit ${code}`);
    return open({ put: script, stat: script, list: script, delete: script });
  };

  test.each([1, 2, 126, 255])('%i is unreachable', async (code) => {
    for (const call of everything(await ending(code))) {
      expect(await failure(call())).toMatchObject({
        exitCode: ExitCode.storeUnreachable,
        message: expect.stringMatching(
          new RegExp(`(put|stat|list|delete) a/x? ended with exit code ${code}: the last line$`),
        ),
      });
    }
  });

  test('103 is refused', async () => {
    for (const call of everything(await ending(103))) {
      expect(await failure(call())).toMatchObject({
        exitCode: ExitCode.storeRefused,
        message: expect.stringMatching(/ was refused: the last line$/),
      });
    }
  });

  test('104 means missing, 109 means retained; for other verbs they are errors', async () => {
    const none = await ending(104);
    expect(await none.stat('a/x')).toBeUndefined();
    expect(await none.delete('a/x')).toBe('deleted');
    expect(await failure(none.get('a/x'))).toMatchObject({ exitCode: ExitCode.nothingThere });
    expect(await failure(keysOf(none, ''))).toMatchObject({ exitCode: ExitCode.storeRefused });
    const kept = await ending(109);
    expect(await kept.delete('a/x')).toBe('retained');
    expect(await failure(kept.put('a/x', once('x')))).toMatchObject({ exitCode: ExitCode.storeRefused });
  });

  test('the error names a signal, and says if stderr is empty', async () => {
    const store = await open({ delete: sh('kill -9 $$') });
    expect((await failure(store.delete('a/x'))).message).toMatch(
      /delete a\/x was killed by SIGKILL: it wrote nothing to/,
    );
  });

  test('stderr is cut, and contains nothing of the Secret', async () => {
    const credentialsDirectory = join(root, 'secret');
    await mkdir(credentialsDirectory);
    await writeFile(join(credentialsDirectory, 'key'), 'BEGIN\nnever-show-this\nEND\n');
    const delete_ = sh('printf "%s %01000d\\n" "$(cat "$CREDENTIALS_DIRECTORY/key" | tr "\\n" " ")" 7 >&2', 'exit 1');
    const store = await open({ delete: delete_ }, { credentialsDirectory });
    const { message } = await failure(store.delete('a/x'));
    expect(message).toContain('***');
    expect(message).not.toContain('never-show-this');
    expect(message.length).toBeLessThan(500);
  });
});

describe('a put', () => {
  const large = async function* () {
    for (let chunks = 0; chunks < 64; chunks++) yield Buffer.alloc(65_536, chunks);
  };

  test.each([
    ['fails midway', 'exit 7', /ended with exit code 7/],
    ['is done midway', 'exit 0', /ended before it had read everything/],
    ['closes its stdin midway', 'exec <&-; sleep 0.3', /ended before it had read everything/],
  ])('that %s', async (_, end, message) => {
    const store = await open({ put: sh('head -c 1000 >/dev/null', end) });
    expect(await failure(store.put('a/x', large()))).toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      message: expect.stringMatching(message),
    });
  });

  test('that fails is noticed while the body is stuck', async () => {
    const store = await open({ put: sh('exit 7') });
    const stuck = async function* () {
      yield Buffer.from('x');
      await new Promise(() => {});
    };
    expect((await failure(store.put('a/x', stuck()))).message).toContain('exit code 7');
  });

  test.each([
    ['nothing', ':', 'the object does not exist; fix put, or stat, in '],
    [
      'the first half',
      'head -c 2097152 >"$FILE"; cat >/dev/null',
      'the object has only 2097152 of 4194304 bytes; fix put, or stat, in ',
    ],
  ])('that reports success but has stored %s', async (_, script, why) => {
    const store = await open({ put: sh(script === ':' ? 'cat >/dev/null' : script) });
    expect(await failure(store.put('a/x', large()))).toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      message: expect.stringContaining(why),
    });
    expect(await store.stat('a/x')).toBeUndefined();
  });

  test('of a small object is read back', async () => {
    const store = await open({ put: sh('tr e a >"$FILE"') });
    expect((await failure(store.put('a/x', once('{"schema"}')))).message).toContain(
      'the object has other bytes; fix put, or get, in ',
    );
  });

  test('whose body throws is stopped before its stdin ends', async () => {
    const store = await open({
      put: sh('trap \'echo stopped >"$FILE"; exit 143\' TERM', 'cat >/dev/null', 'echo ended >"$FILE"'),
    });
    const error = new Error('the source broke');
    const broken = async function* () {
      yield Buffer.from('x');
      await sleep(200);
      throw error;
    };
    await expect(store.put('a/x', broken())).rejects.toBe(error);
    expect(await readFile(store.file, 'utf8')).toBe('stopped\n');
  });

  test('reads at its own pace', async () => {
    const store = await open({ put: sh('while [ ! -e "$FILE.go" ]; do sleep 0.05; done', 'cat >"$FILE"') });
    let asked = 0;
    const counted = async function* () {
      for await (const chunk of large()) {
        asked++;
        yield chunk;
      }
    };
    const putting = store.put('a/x', counted());
    await sleep(500);
    expect(asked).toBeLessThan(32);
    await writeFile(`${store.file}.go`, '');
    await putting;
    expect((await stat(store.file)).size).toBe(4 * 1024 * 1024);
  });
});

describe('a get', () => {
  test.each([
    ['less', 'head -c 5 "$FILE"', /returned 5 of 11 bytes/],
    ['more', 'cat "$FILE" "$FILE"', /returned more than 11 bytes/],
    ['a part, then fails', 'head -c 5 "$FILE"; echo lost >&2; exit 255', /ended with exit code 255: lost/],
  ])('that gives %s', async (_, script, message) => {
    const store = await open();
    await store.put('a/x', once('hello world'));
    const other = await openCommand({
      path: await scriptDirectory(root, { ...working, get: sh(script) }),
      env: { FILE: store.file },
    });
    expect(await failure(read(other, 'a/x'))).toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      message: expect.stringMatching(message),
    });
  });
});

describe('a listing', () => {
  test.each([
    ['words', 'echo Welcome to the server', '"Welcome to the server"'],
    ['half a line', `printf '1\\t${TIME}\\ta/x\\n12'`, '"12"'],
    ['a line without its end', `printf '1\\t${TIME}\\ta/x'`, `"1 ${TIME} a/x"`],
    ['an endless line', 'head -c 200000 /dev/zero | tr "\\0" x', '"xxxx'],
  ])('of %s is refused', async (_, script, got) => {
    const store = await open({ list: sh(script) });
    expect(await failure(keysOf(store, ''))).toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringContaining(`list printed ${got}`),
    });
  });

  test.each([
    ['nothing at all', ':'],
    ['lines without an end', `printf '1\\t${TIME}\\ta/x\\n'`],
    ['a pipeline whose first command failed', `{ printf '1\\t${TIME}\\ta/x\\n'; exit 1; echo end; } | cat`],
  ])('of %s was cut short', async (_, script) => {
    const store = await open({ list: sh(script) });
    expect(await failure(keysOf(store, ''))).toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      message: expect.stringMatching(/: list .*ended without the line "end"/),
    });
  });

  test('with a line after its end is refused', async () => {
    const store = await open({ list: sh(`printf 'end\\n1\\t${TIME}\\ta/x\\n'`) });
    expect(await failure(keysOf(store, ''))).toMatchObject({ exitCode: ExitCode.storeRefused });
  });

  test('that was cut by a failure reports the failure', async () => {
    const store = await open({ list: sh("printf '12'", 'exit 1') });
    expect(await failure(keysOf(store, ''))).toMatchObject({ exitCode: ExitCode.storeUnreachable });
  });

  test('may contain more than was requested', async () => {
    const store = await open({ list: sh(`printf '1\\t${TIME}\\ta/x\\n2\\t${TIME}\\tab/y\\nend\\n'`) });
    expect(await keysOf(store, 'a/')).toEqual(['a/x']);
    expect(await keysOf(store, '')).toEqual(['a/x', 'ab/y']);
  });

  test.each([
    ['1\t2026-11-21T02:38:07Z\ta b/ü', { key: 'a b/ü', size: 1, modified: new Date(TIME) }],
    ['0\t2026-11-21T03:38:07.0000000000+01:00\tx', { key: 'x', size: 0, modified: new Date(TIME) }],
    ['1\t2026-11-21 02:38:07\tx', undefined],
    ['1\t2026-13-41T02:38:07Z\tx', undefined],
    ['-1\t2026-11-21T02:38:07Z\tx', undefined],
    ['1\t2026-11-21T02:38:07Z\t', undefined],
    ['1\t2026-11-21T02:38:07Z\tx\ty', undefined],
    ['', undefined],
  ])('%j', (line, object) => {
    expect(parseListed(line)).toEqual(object);
  });
});
