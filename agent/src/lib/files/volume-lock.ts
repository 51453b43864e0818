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
  /** Between two tries, in ms. */
  readonly poll: number;
  /** Somebody else has it, or it can not be had: the reason. Called after each try. */
  readonly onWait: (why: 'busy' | Error) => void;
}

const SQLITE_BUSY = 5;
const SQLITE_LOCK_FAILED = 10 | (15 << 8);

/**
 * One agent at a time on a volume, also over NFS. Node has no lock of its own; SQLite's is the kernel's, so it ends with
 * the process however that ends, and with its journal in memory nothing is written.
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

/** At once, or not. */
export function tryLock(file: string, take = takeLock): VolumeLock | { why: 'busy' | Error } {
  try {
    return take(file);
  } catch (error) {
    const code = codeOfSqlite(error);
    // SQLite says busy, too, where the kernel has no locks for that place.
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

/** One that nobody else knows of. */
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

const noLocks = (file: string) => new Error(`file locks do not work in ${dirname(file)}, as on NFS without lockd`);

/** SQLite tells that it can not open a file, not why. */
function cause(file: string, error: Error): Error {
  try {
    closeSync(openSync(file, 'a', 0o600));
    return error;
  } catch (why) {
    return why as Error;
  }
}
