import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { walDirectory } from './wal.ts';

/**
 * Whether an etcd has this data directory open: then it holds locks on the database and on the newest WAL file. Always
 * false on other systems than Linux.
 */
export async function isInUse(dataDir: string, wal = walDirectory(dataDir)): Promise<boolean> {
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  const locked = new Set(Array.from(locks.matchAll(/ [0-9a-f]+:[0-9a-f]+:(\d+) /g), ([, inode]) => Number(inode)));
  const files = [
    join(dataDir, 'member', 'snap', 'db'),
    ...(await readdir(wal).catch(() => [])).map((name) => join(wal, name)),
  ];
  for (const file of files) {
    const inode = (await stat(file).catch(() => undefined))?.ino;
    if (inode !== undefined && locked.has(inode)) return true;
  }
  return false;
}

/**
 * Returns the Raft index of the newest Raft snapshot in a data directory, or undefined if there is none. The file's
 * name is `<term>-<index>.snap`, in hex.
 */
export async function snapIndex(etcdDir: string): Promise<number | undefined> {
  const names = await readdir(join(etcdDir, 'member', 'snap')).catch(() => []);
  const indexes = names.flatMap((name) => {
    const [, index] = /^[0-9a-f]{16}-([0-9a-f]{16})\.snap$/.exec(name) ?? [];
    return index === undefined ? [] : [Number(BigInt(`0x${index}`))];
  });
  return indexes.length > 0 ? Math.max(...indexes) : undefined;
}
