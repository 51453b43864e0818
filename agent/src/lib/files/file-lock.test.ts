import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withFileLock } from './file-lock.ts';
import { tryLock } from './volume-lock.ts';

let place: string;
let file: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'file-lock-'));
  file = join(place, 'x.lock');
});
afterEach(() => rm(place, { recursive: true }));

const work = async () => 'worked';

/** Output of a process in which Node's `fs` is replaced. */
async function where(change: string): Promise<string> {
  const script = `
    const fs = process.getBuiltinModule('node:fs');
    const { statSync } = fs;
    ${change}
    process.getBuiltinModule('node:module').syncBuiltinESMExports();
    const { withFileLock } = await import(${JSON.stringify(new URL('file-lock.ts', import.meta.url).href)});
    const ended = await withFileLock(${JSON.stringify(file)}, 'busy', async () => 'worked').catch(({ message }) => message);
    console.log(ended);`;
  const args = ['--input-type=module', '-e', script];
  return (await promisify(execFile)(process.execPath, args, { timeout: 10_000 })).stdout.trim();
}

test('it works without /proc', async () => {
  const none = "async () => { throw Object.assign(new Error('none'), { code: 'ENOENT' }); }";
  expect(await where(`fs.promises.readdir = fs.promises.readlink = ${none};`)).toBe('worked');
  expect(await readdir(place)).toEqual([]);
});

test('a file that changes its identity at every check is an error', async () => {
  const other = 'let n = 0n; fs.statSync = (...args) => ({ ...statSync(...args), ino: ++n });';
  expect(await where(other)).toBe(
    `busy: ${file} is a different file each time it is locked; choose another directory, on a local disk`,
  );
});

test('the error names a lock without a known holder, so that it can be removed', async () => {
  const held = tryLock(file);
  const unseen = "fs.promises.readFile = async () => '';";
  expect(await where(unseen)).toBe(
    `busy; wait until it ends, or stop it; if no such run exists on any machine, remove ${file}`,
  );
  (held as { release(): void }).release();
});

test('a file with other content is kept and named', async () => {
  await writeFile(file, 'mine '.repeat(100));
  await expect(withFileLock(file, 'busy', work)).rejects.toThrow(
    `cannot lock ${file}: file is not a database; choose another directory, on a local disk`,
  );
  expect(await readFile(file, 'utf8')).toMatch(/^mine/);
});

test('a missing directory', async () => {
  const missing = join(place, 'none', 'x.lock');
  await expect(withFileLock(missing, 'busy', work)).rejects.toThrow(`cannot write ${missing} (ENOENT)`);
});

test('a lock file that another run has created again is left to that run', async () => {
  await withFileLock(file, 'busy', async () => {
    await rm(file);
    await writeFile(file, '');
  });
  expect(await readdir(place)).toEqual(['x.lock']);
});
