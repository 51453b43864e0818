import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockVolume, tryLock } from './volume-lock.ts';

/** Starts another process that takes the lock, and waits until it holds it. */
async function holder(dataDir: string): Promise<ChildProcess> {
  const script = `
    const { lockVolume } = await import(${JSON.stringify(new URL('volume-lock.ts', import.meta.url).href)});
    await lockVolume(${JSON.stringify(dataDir)}, { signal: new AbortController().signal, poll: 10, onWait() {} });
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child;
}

test('one process at a time; it is free at once when its holder is killed, and nothing was written', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'lock-'));
  const child = await holder(dataDir);
  const tries: unknown[] = [];
  const stop = new AbortController();
  const waiting = lockVolume(dataDir, { signal: stop.signal, poll: 5, onWait: (why) => tries.push(why) });
  while (tries.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill('SIGKILL');
  const lock = await waiting;
  expect(new Set(tries)).toEqual(new Set(['busy']));
  expect(await readdir(dataDir)).toEqual(['lock']);
  lock.release();
  await rm(dataDir, { recursive: true });
});

describe('a lock that SQLite cannot take', () => {
  const refusing = (errcode: number, isRefused: (file: string) => boolean) => (file: string) => {
    if (isRefused(file)) throw Object.assign(new Error('refused'), { errcode });
    return { release() {} };
  };

  test('belongs to another process if another file can be locked', () => {
    expect(
      tryLock(
        '/v/lock',
        refusing(5, (file) => file === '/v/lock'),
      ),
    ).toEqual({ why: 'busy' });
  });

  test.each([
    ['busy, as of ENOLCK', 5],
    ['an error, as of EOPNOTSUPP', 3850],
  ])('belongs to no process if no file can be locked: %s', (_what, errcode) => {
    expect(
      tryLock(
        '/v/lock',
        refusing(errcode, () => true),
      ),
    ).toEqual({
      why: new Error('file locks do not work in /v (for example on NFS without lockd)'),
    });
  });
});
