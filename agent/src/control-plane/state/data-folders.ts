import { lchown, readdir, readFile, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { sync } from '../../lib/files/directories.ts';
import type { MemberFlags } from '../node/member-flags.ts';

/** What a restored `member` carries: which snapshot it is of. */
export const MARKER = 'etcd-agent-restore.json';

export interface Marker {
  readonly id: string;
  readonly token: string;
  readonly bump: number;
  readonly clusterId: string;
  readonly memberId?: string;
  readonly name?: string;
  readonly peerUrls?: string;
  readonly initialCluster?: string;
  /** Of the snapshot. */
  readonly sha256?: string;
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

/** The log is made with the data, and copied to a place of its own where it has one. */
export async function refuseWithoutRoom(
  { dataDir, walDir }: Pick<MemberFlags, 'dataDir' | 'walDir'>,
  sizeBytes: number,
): Promise<void> {
  const [data, log] = await Promise.all([roomAt(dataDir), walDir === undefined ? undefined : roomAt(walDir)]);
  const isShared = log?.device === data.device;
  refuseLess(
    `${dataDir}: no room for a second data directory`,
    data,
    neededBytes(sizeBytes) + (isShared ? WAL_FILES : 0),
  );
  if (log && !isShared) refuseLess(`${walDir}: no room for a second write-ahead log`, log, WAL_FILES);
}

function refuseLess(what: string, { free }: Room, needed: number): void {
  if (free >= needed) return;
  throw new AgentError(
    ExitCode.usage,
    `${what}: it needs ${mebibytes(needed)}, and ${mebibytes(free)} are free; the old data are not deleted, so move something else away`,
  );
}

const mebibytes = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MiB`;

interface Room {
  readonly device: number;
  readonly free: number;
}

/** Of the file system that a path lies in, or is to lie in. */
async function roomAt(path: string): Promise<Room> {
  try {
    const [{ bavail, bsize }, { dev }] = [await statfs(path), await stat(path)];
    return { device: dev, free: bavail * bsize };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || path === '/') throw error;
    return roomAt(dirname(path));
  }
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Gives all of a directory to an owner, and puts it on the disk. */
export async function settle(directory: string, owner: Owner): Promise<void> {
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
