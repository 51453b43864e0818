import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

export interface VolumeLock {
  release(): void;
}

interface LockOptions {
  readonly signal: AbortSignal;
  /** Milliseconds between two attempts. */
  readonly poll: number;
  /**
   * Called after each failed attempt: another process holds the lock (`busy`), or the reason why it cannot be taken.
   */
  readonly onWait: (why: 'busy' | Error) => void;
}

const SQLITE_BUSY = 5;
const SQLITE_LOCK_FAILED = 10 | (15 << 8);

/**
 * Takes the lock that allows only one agent at a time on a volume, also over NFS. Node has no file locks. SQLite uses
 * the kernel's, which end with the process however it ends. With the journal in memory SQLite writes nothing.
 */
export async function lockVolume(dataDir: string, { signal, poll, onWait }: LockOptions): Promise<VolumeLock> {
  while (true) {
    signal.throwIfAborted();
    const lock = tryLock(join(dataDir, 'lock'));
    if ('release' in lock) return lock;
    onWait(lock.why);
    await sleep(poll, undefined, { signal });
  }
}

/** Tries once to take a lock. */
export function tryLock(file: string, take = takeLock): VolumeLock | { why: 'busy' | Error } {
  try {
    return take(file);
  } catch (error) {
    const code = codeOfSqlite(error);
    // SQLite also reports "busy" if the file system does not support locks.
    if (code === SQLITE_BUSY) return { why: canLock(file, take) ? 'busy' : noLocks(file) };
    return { why: code === SQLITE_LOCK_FAILED ? noLocks(file) : cause(file, error as Error) };
  }
}

function takeLock(file: string, isOpen = () => {}): VolumeLock {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    isOpen();
    database.exec('PRAGMA journal_mode=MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Checks that locks work in the directory, with a new file that no other process knows. */
function canLock(file: string, take: typeof takeLock): boolean {
  const probe = `${file}-${randomBytes(4).toString('hex')}`;
  try {
    take(probe, () => rmSync(probe, { force: true })).release();
    return true;
  } catch (error) {
    return ![SQLITE_BUSY, SQLITE_LOCK_FAILED].includes(codeOfSqlite(error) ?? 0);
  }
}

const codeOfSqlite = (error: unknown) => (error as { errcode?: number }).errcode;

const noLocks = (file: string) =>
  new Error(`file locks do not work in ${dirname(file)} (for example on NFS without lockd)`);

/** Finds out why a file cannot be opened. SQLite reports only that it cannot. */
function cause(file: string, error: Error): Error {
  try {
    closeSync(openSync(file, 'a', 0o600));
    return error;
  } catch (why) {
    return why as Error;
  }
}
