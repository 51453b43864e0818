import { lchown, readdir, readFile, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../errors.ts';
import { sync } from '../store/directories.ts';

/** What a restored `member` carries: which snapshot it is of. */
export const MARKER = 'etcd-agent-restore.json';

export interface Marker {
  readonly id: string;
  readonly token: string;
  readonly bump: number;
  readonly clusterId: string;
}

export const memberDir = (dataDir: string) => join(dataDir, 'member');
/** Where the new member is made while the old one may still run. In the data directory, so that a rename puts it in place. */
export const partialDir = (dataDir: string) => join(dataDir, 'member.partial');

export async function readMarker(member: string): Promise<Marker | undefined> {
  try {
    return JSON.parse(await readFile(join(member, MARKER), 'utf8'));
  } catch {
    return undefined;
  }
}

const WAL_FILES = 160 * 1024 * 1024;

/** The snapshot, what is restored from it, and two files of the write-ahead log. */
export const neededBytes = (sizeBytes: number): number => 2 * sizeBytes + WAL_FILES;

export async function refuseWithoutRoom(dataDir: string, sizeBytes: number): Promise<void> {
  const free = await freeBytes(dataDir);
  const needed = neededBytes(sizeBytes);
  if (free >= needed) return;
  throw new AgentError(
    ExitCode.usage,
    `${dataDir}: no room for a second data directory: it needs ${mebibytes(needed)}, and ${mebibytes(free)} are free; the old data are not deleted, so move something else away`,
  );
}

const mebibytes = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MiB`;

async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || path === '/') throw error;
    return freeBytes(dirname(path));
  }
}

/** Gives all of a directory to an owner, and puts it on the disk. */
export async function settle(directory: string, owner: { uid: number; gid: number }): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await settle(path, owner);
    else {
      await lchown(path, owner.uid, owner.gid);
      await sync(path);
    }
  }
  await lchown(directory, owner.uid, owner.gid);
  await sync(directory);
}
