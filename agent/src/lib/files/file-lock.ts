import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { AgentError, codeOf, ExitCode } from '../errors.ts';
import { tryLock, type VolumeLock } from './volume-lock.ts';

/**
 * Works while nobody else holds the lock, which is the kernel's, so that it ends with the process; `busy` says what goes on
 * then. The file is removed in the end.
 */
export async function withFileLock<T>(file: string, busy: string, work: () => Promise<T>): Promise<T> {
  const { lock, id } = await take(file, busy);
  try {
    return await work();
  } finally {
    if (idOf(file) === id) rmSync(file, { force: true });
    lock.release();
  }
}

/** Of Node's errors that are SQLite's. */
const SQLITE_ERROR = 'ERR_SQLITE_ERROR';
const TRIES = 100;

/** Who had it removed the file at its end, maybe between two steps here: then what is locked is not the file any more. */
async function take(file: string, busy: string): Promise<{ lock: VolumeLock; id: string | undefined }> {
  for (let left = TRIES; left > 0; left--) {
    const isNew = create(file);
    const id = idOf(file);
    const lock = tryLock(file);
    if (!('release' in lock)) {
      if (isNew && lock.why !== 'busy') rmSync(file, { force: true });
      throw await refused(file, busy, lock.why);
    }
    if (id !== undefined && idOf(file) === id) return { lock, id };
    lock.release();
  }
  throw new AgentError(
    ExitCode.refused,
    `${busy}: ${file} is another file each time that it is locked; take another place, on a local disk`,
  );
}

/** Closing a file drops every lock that this process has on it: so only one that is new is opened here. */
function create(file: string): boolean {
  try {
    closeSync(openSync(file, 'ax'));
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw notLocked(file, error as Error);
  }
}

/** Of a file, not of its name. An inode's number may come again, its time of birth does not. */
function idOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}

async function refused(file: string, busy: string, why: 'busy' | Error): Promise<AgentError> {
  if (why !== 'busy') return notLocked(file, why);
  const pid = await holderOf(file);
  const none = `; when there is none, on no machine, remove ${file}`;
  return new AgentError(
    ExitCode.refused,
    `${busy}${pid === undefined ? '' : ` (pid ${pid})`}; wait until it has ended, or stop it${pid === undefined ? none : ''}`,
  );
}

function notLocked(file: string, why: Error): AgentError {
  const code = codeOf(why);
  const message =
    code === undefined || code === SQLITE_ERROR
      ? `cannot lock ${file}: ${why.message}; take another place, on a local disk`
      : `cannot write ${file} (${code})`;
  return new AgentError(ExitCode.usage, message);
}

async function holderOf(file: string): Promise<string | undefined> {
  const inode = (await stat(file).catch(() => undefined))?.ino;
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  return new RegExp(` WRITE +(\\d+) [0-9a-f]+:[0-9a-f]+:${inode} `).exec(locks)?.[1];
}
