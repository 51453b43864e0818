// Releases that are interrupted, or made at once.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { evaluated, scriptOf } from '../unit/scripts';

let directory: string;
let out: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-interrupted-'));
  out = join(directory, 'release');
});
afterEach(() => rmSync(directory, { recursive: true }));

const text = (value: unknown) => JSON.stringify(value);
const making = (only: string) => `m.makeRelease(${text(out)}, { only: [${text(only)}] })`;
/** Returns what was left out, or the message of the failure. */
const made = () => evaluated('release/make.mjs', `${making('provenance')}.catch(({ message }) => message)`);

test('two releases at once: the second one names the first, and what to remove if there is none', () => {
  const { pid: ended } = spawnSync(process.execPath, ['--version']);
  const lock = `${out}.lock`;
  for (const [holder, says] of [
    [
      process.pid,
      `process ${process.pid} is making a release here; wait until it has ended, or remove ${lock} if it does something else`,
    ],
    [ended, `process ${ended} has not ended well; remove ${lock}`],
    ['', `process without a number has not ended well; remove ${lock}`],
    ['-1', `process -1 has not ended well; remove ${lock}`],
  ] as const) {
    writeFileSync(lock, `${holder}\n`);
    expect(made()).toBe(says);
  }
  rmSync(lock);
  expect(made()).toEqual([]);
  expect(readdirSync(directory)).toEqual(['release']);
});

test('the process of a lock is not this one, which has its number in another container', () => {
  const own = `import('node:fs').then((fs) => fs.writeFileSync(${text(`${out}.lock`)}, String(process.pid)))`;
  const message = evaluated(
    'release/make.mjs',
    `${own}.then(() => ${making('provenance')}).catch(({ message }) => message)`,
  );
  expect(message).toContain('has not ended well');
});

test('something else in the place of release/ is refused at once', () => {
  mkdirSync(join(directory, 'elsewhere'));
  symlinkSync('elsewhere', out);
  expect(made()).toBe(`${out} is not a directory, and cannot be replaced by one; remove it`);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s leaves no file and no program', async (signal) => {
  const bin = mkdtempSync(join(directory, 'bin-'));
  const temporary = join(directory, 'temporary');
  const log = join(directory, 'log');
  mkdirSync(temporary);
  const lines = [
    '#!/bin/sh',
    `trap 'echo ended >${log}; exit' TERM`,
    `echo started >${log}`,
    'while sleep 0.1; do :; done',
  ];
  writeFileSync(join(bin, 'mvn'), lines.join('\n'), { mode: 0o755 });
  const says = async (word: string) => {
    while (!existsSync(log) || readFileSync(log, 'utf8') !== `${word}\n`) await setTimeout(20);
  };
  const script = scriptOf('release/make.mjs', `m.makeRelease(${text(out)}, { only: ['java'] })`);
  const handled = `for (const each of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(each, () => process.exit(1));`;
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, TMPDIR: temporary };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', `${handled}${script}`], {
    env,
    stdio: 'ignore',
  });
  await says('started');
  expect(readdirSync(directory).filter((name) => /unfinished|lock/.test(name)).length).toBe(2);
  child.kill(signal);
  await once(child, 'exit');
  await says('ended');
  expect([readdirSync(directory).sort(), readdirSync(temporary)]).toEqual([[basename(bin), 'log', 'temporary'], []]);
});

test('at each moment there is a release, the earlier one or the new one', () => {
  mkdirSync(out);
  for (let n = 0; n < 2000; n++) writeFileSync(join(out, String(n)), '');
  const looking = `(() => { const look = () => { if (!existsSync(${text(out)})) process.exit(9); setImmediate(look); }; look(); })()`;
  const filled = `import('node:fs').then(({ existsSync }) => { ${looking}; return m.fillDirectory(${text(out)}, () => 'filled'); })
    .then((value) => { process.stdout.write(text(value)); process.exit() })`;
  const result = evaluated('lib/cache.mjs', filled.replace('text(value)', 'JSON.stringify(value)'));
  expect([result, readdirSync(directory), readdirSync(out)]).toEqual(['filled', ['release'], []]);
});

test("Maven's reason is on stdout, before its lines of help", () => {
  const help = 'echo; echo "[ERROR] For more information, read"; echo "[ERROR] [Help 1] http://x"; exit 1';
  for (const line of ['Failed to execute goal a: no b -> [Help 1]', 'Plugin a could not be resolved -> [Help 1]']) {
    const args = `['-c', ${text(`echo WARNING >&2; echo "[ERROR] COMPILATION ERROR"; printf '\\033[0m[ERROR] ${line}\\n'; ${help}`)}]`;
    expect(evaluated('lib/run.mjs', `m.run('sh', ${args}).catch(({ message }) => message)`)).toBe(
      line.replace(/ -> .*/, ''),
    );
  }
});
