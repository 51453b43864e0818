import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { walDirectory } from './wal.ts';

/** Whether an etcd has this data directory open: it holds a lock on its database and its newest WAL file. Linux only; elsewhere false. */
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

/** Raft index of the newest snapshot of a data directory: its name is `<term>-<index>.snap`, in hex. Undefined: there is none. */
export async function snapIndex(etcdDir: string): Promise<number | undefined> {
  const names = await readdir(join(etcdDir, 'member', 'snap')).catch(() => []);
  const indexes = names.flatMap((name) => {
    const [, index] = /^[0-9a-f]{16}-([0-9a-f]{16})\.snap$/.exec(name) ?? [];
    return index === undefined ? [] : [Number(BigInt(`0x${index}`))];
  });
  return indexes.length > 0 ? Math.max(...indexes) : undefined;
}
