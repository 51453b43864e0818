import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withNodeLock } from './node-lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Starts another process that holds the lock. */
async function holder() {
  const script = `
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(${JSON.stringify(join(folder, 'etcd-restore.lock'))});
    database.exec('PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE');
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  return child;
}

test('one run at a time, and the error names the process; a killed process does not count', async () => {
  const child = await holder();
  const other = new RegExp(`^another restore is running on this node \\(pid ${child.pid}\\); wait until`);
  await expect(withNodeLock(folder, async () => 'done')).rejects.toThrow(other);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await withNodeLock(folder, async () => 'done')).toBe('done');
  expect(await readdir(folder)).toEqual([]);
});

test('the lock ends with the work, even if the work fails', async () => {
  await expect(
    withNodeLock(folder, async () => {
      await expect(withNodeLock(folder, async () => {})).rejects.toThrow(/another restore is running on this node/);
      throw new Error('broken');
    }),
  ).rejects.toThrow('broken');
  expect(await withNodeLock(folder, async () => 'done')).toBe('done');
});

test('of many concurrent runs only one works at a time', async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside--;
  };
  const ended = await Promise.allSettled(Array.from({ length: 20 }, () => withNodeLock(folder, work)));
  expect(most).toBe(1);
  expect(ended.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
});
