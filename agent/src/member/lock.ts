import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
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

function tryLock(file: string): VolumeLock | { why: 'busy' | Error } {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec('PRAGMA journal_mode=MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    const held = database;
    return { release: () => held.close() };
  } catch (error) {
    database?.close();
    return { why: (error as { errcode?: number }).errcode === SQLITE_BUSY ? 'busy' : cause(file, error as Error) };
  }
}

/** SQLite tells that it can not open a file, not why. */
function cause(file: string, error: Error): Error {
  try {
    closeSync(openSync(file, 'a', 0o600));
    return error;
  } catch (why) {
    return why as Error;
  }
}
