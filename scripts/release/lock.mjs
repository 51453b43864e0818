// A file that names the process that makes a release. Nobody but a person removes that of another process.
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { atExit } from '../lib/run.mjs';

/** Runs `work` with the lock, which is released also if this process exits meanwhile. Throws if another process has it. */
export async function withLock(file, work) {
  mkdirSync(dirname(file), { recursive: true });
  take(file);
  const release = atExit(() => rmSync(file, { force: true }));
  try {
    return await work();
  } finally {
    release();
  }
}

function take(file) {
  // Linked when it has its content, which a full disk could refuse.
  const complete = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(complete, `${process.pid}\n`);
    linkSync(complete, file);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const holder = readFileSync(file, 'utf8').trim();
    const says = isRunning(Number(holder))
      ? `is making a release here; wait until it has ended, or remove ${file} if it does something else`
      : `has not ended well; remove ${file}`;
    throw new Error(`process ${holder || 'without a number'} ${says}`);
  } finally {
    rmSync(complete, { force: true });
  }
}

/** Our own number is that of an earlier process, such as one in another container. */
function isRunning(pid) {
  if (!(pid > 0) || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
