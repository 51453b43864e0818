// A file that names the process that makes a release. Nobody but a person removes that of another process.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Runs `work` with the lock, which is released also if this process exits meanwhile. Throws if another process has it. */
export async function withLock(file, work) {
  mkdirSync(dirname(file), { recursive: true });
  take(file);
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    release();
    process.off('exit', release);
  }
}

function take(file) {
  try {
    writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const holder = readFileSync(file, 'utf8').trim();
    const says = isRunning(Number(holder))
      ? 'is making a release here; wait until it has ended'
      : 'has not ended well; remove the file';
    throw new Error(`${file}: process ${holder} ${says}`);
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
