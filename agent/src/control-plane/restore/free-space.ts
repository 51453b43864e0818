import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { TRAILER } from '../../etcd/snapshot-stream.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import type { MemberFlags } from '../node/member-flags.ts';

/** Two files of the write-ahead log, in bytes. */
const WAL_FILES = 160 * 1024 * 1024;

/** Room for the snapshot, the database restored from it, and the write-ahead log, in bytes. */
const neededBytes = (sizeBytes: number): number => 2 * sizeBytes + WAL_FILES;

/** Refuses without enough free space. A separate log is built with the data first, and then copied to its directory. */
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

/** Share of a quota, or of a file, that may be in use. */
const FULL = 0.95;

/** True if so many bytes fill a quota. */
export const isFull = (bytes: number, quota: number | undefined): boolean =>
  quota !== undefined && bytes > FULL * quota;

/** Says that a database fills etcd's quota, above which etcd refuses every write. What the compaction frees is known later. */
export function quotaNotes(
  { quota }: Pick<MemberFlags, 'quota'>,
  { id, content }: Pick<SnapshotManifest, 'id' | 'content'>,
): string[] {
  const size = content.sizeBytes - TRAILER;
  if (quota === undefined || !isFull(size, quota)) return [];
  return [
    `the database in ${id} has ${mebibytes(size)}, and the quota of this etcd (--quota-backend-bytes) is ${mebibytes(quota)}: the restore compacts and defragments it, and ends with 50 if that does not make room enough; better, allow more before, on every node`,
  ];
}

function refuseLess(what: string, { free }: Room, needed: number): void {
  if (free >= needed) return;
  throw new AgentError(
    ExitCode.usage,
    `${what}: it needs ${mebibytes(needed)}, and ${mebibytes(free)} are free; the old data are kept, so free space elsewhere`,
  );
}

const mebibytes = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MiB`;

interface Room {
  readonly device: number;
  readonly free: number;
}

/** Free space of the file system that contains the path, or will contain it. */
async function roomAt(path: string): Promise<Room> {
  try {
    const [{ bavail, bsize }, { dev }] = [await statfs(path), await stat(path)];
    return { device: dev, free: bavail * bsize };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || path === '/') throw error;
    return roomAt(dirname(path));
  }
}
