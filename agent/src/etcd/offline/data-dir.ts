import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unlessGone } from '../../lib/files/directories.ts';
import { cannotRead } from '../../lib/files/file-faults.ts';
import { walDirectory } from './wal.ts';

/**
 * Whether an etcd has this data directory open: then it holds locks on the database and on the newest WAL file. Always
 * false on other systems than Linux.
 */
export async function isInUse(dataDir: string, wal = walDirectory(dataDir)): Promise<boolean> {
  const member = join(dataDir, 'member');
  const unknown = (path: string, what: string) => (error: unknown) => {
    throw cannotRead(path, error, `so it is not known whether a running etcd uses the data; ${what}`);
  };
  const away = (path: string) => `if none does, move ${path} away, then run this command again`;
  const [locks, mounts] = await Promise.all(
    ['/proc/locks', '/proc/self/mountinfo'].map(
      async (file) => (await unlessGone(readFile(file, 'utf8')).catch(unknown(file, 'check it'))) ?? '',
    ),
  );
  const locked = Array.from(locks!.matchAll(/ ([0-9a-f]+):([0-9a-f]+):(\d+) /g), ([, major, minor, inode]) => ({
    device: `${parseInt(major!, 16)}:${parseInt(minor!, 16)}`,
    inode: Number(inode),
  }));
  /** Undefined if there is no such file. */
  const isLocked = async (file: string): Promise<boolean | undefined> => {
    const found = await unlessGone(stat(file));
    const same = locked.filter(({ inode }) => inode === found?.ino);
    if (same.length === 0) return found && false;
    const device = deviceOf(await realpath(file).catch(() => file), mounts!);
    return device === undefined || same.some((lock) => lock.device === device);
  };
  const database = join(member, 'snap', 'db');
  const inDatabase = await isLocked(database).catch(unknown(database, away(member)));
  if (inDatabase) return true;
  try {
    for (const name of (await unlessGone(readdir(wal))) ?? []) if (await isLocked(join(wal, name))) return true;
  } catch (error) {
    // A running etcd holds its database too.
    if (inDatabase === undefined) unknown(wal, away(wal))(error);
  }
  return false;
}

/** Device of the mount that holds a file, as /proc/locks names it. `stat` names another one on btrfs and overlayfs. */
function deviceOf(file: string, mounts: string): string | undefined {
  const found = mounts.split('\n').flatMap((line) => {
    const [, , device, , escaped] = line.split(' ');
    const point = escaped?.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)));
    const isAbove = point !== undefined && (point === '/' || file === point || file.startsWith(`${point}/`));
    return isAbove ? [{ device, length: point.length }] : [];
  });
  // Of several mounts at one point the last one counts.
  return found.sort((a, b) => a.length - b.length).at(-1)?.device;
}

/** Milliseconds, and how often: etcd writes its database every 100 ms. */
const [PAUSE, TRIES] = [50, 10];

/** Reads files that a running etcd may be writing: what looks damaged may be half written, and is read again. */
export async function readSettled<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; tries < TRIES; tries++) {
    const found = await read().then(
      (value) => ({ value }),
      () => undefined,
    );
    if (found) return found.value;
    await sleep(PAUSE);
  }
  return read();
}

/**
 * Returns the Raft index of the newest Raft snapshot in a data directory, or undefined if there is none. The file's
 * name is `<term>-<index>.snap`, in hex.
 */
export async function snapIndex(etcdDir: string): Promise<number | undefined> {
  const names = (await unlessGone(readdir(join(etcdDir, 'member', 'snap')))) ?? [];
  const indexes = names.flatMap((name) => {
    const [, index] = /^[0-9a-f]{16}-([0-9a-f]{16})\.snap$/.exec(name) ?? [];
    return index === undefined ? [] : [Number(BigInt(`0x${index}`))];
  });
  return indexes.length > 0 ? Math.max(...indexes) : undefined;
}
