import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { AgentError, codeOf, ExitCode, usageError } from '../errors.ts';
import { cannotWrite } from './file-faults.ts';
import { tryLock, type VolumeLock } from './volume-lock.ts';

/**
 * Runs work under an exclusive lock on a file, and removes the file afterwards. The kernel releases the lock when the
 * process ends. If another process holds the lock, the call throws an error that begins with `busy`. `at`: the setting that names
 * what is locked.
 */
export async function withFileLock<T>(file: string, busy: string, work: () => Promise<T>, at?: string): Promise<T> {
  const { lock, id } = await take(file, busy, at);
  try {
    return await work();
  } finally {
    if (idOf(file) === id) rmSync(file, { force: true });
    lock.release();
  }
}

/** Code of Node's errors that come from SQLite. */
const SQLITE_ERROR = 'ERR_SQLITE_ERROR';
const TRIES = 100;

/**
 * Takes the lock. The previous holder removes the file when it ends, possibly between two steps of this function. The
 * locked file is then no longer the one with this name, so try again.
 */
async function take(file: string, busy: string, at?: string): Promise<{ lock: VolumeLock; id: string | undefined }> {
  for (let left = TRIES; left > 0; left--) {
    const isNew = create(file);
    const id = idOf(file);
    const lock = tryLock(file);
    if (!('release' in lock)) {
      if (isNew && lock.why !== 'busy') rmSync(file, { force: true });
      throw await refused(file, busy, lock.why, at);
    }
    if (id !== undefined && idOf(file) === id) return { lock, id };
    lock.release();
  }
  throw new AgentError(
    ExitCode.refused,
    `${busy}: ${file} is a different file each time it is locked; choose another directory, on a local disk`,
    { at },
  );
}

/** Creates the file. Never opens an existing one: closing a file drops every lock that this process has on it. */
function create(file: string): boolean {
  try {
    closeSync(openSync(file, 'ax'));
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw notLocked(file, error as Error);
  }
}

/** Identifies a file independently of its name. An inode number may be reused, its time of birth is not. */
function idOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}

async function refused(file: string, busy: string, why: 'busy' | Error, at?: string): Promise<AgentError> {
  if (why !== 'busy') return notLocked(file, why);
  const pid = await holderOf(file);
  const none = `; if no such run exists on any machine, remove ${file}`;
  return new AgentError(
    ExitCode.refused,
    `${busy}${pid === undefined ? '' : ` (pid ${pid})`}; wait until it ends, or stop it${pid === undefined ? none : ''}`,
    { at },
  );
}

function notLocked(file: string, why: Error): AgentError {
  const code = codeOf(why);
  if (code !== undefined && code !== SQLITE_ERROR) return cannotWrite(file, why);
  return usageError(`cannot lock ${file}: ${why.message}; choose another directory, on a local disk`);
}

async function holderOf(file: string): Promise<string | undefined> {
  const inode = (await stat(file).catch(() => undefined))?.ino;
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  return new RegExp(` WRITE +(\\d+) [0-9a-f]+:[0-9a-f]+:${inode} `).exec(locks)?.[1];
}
