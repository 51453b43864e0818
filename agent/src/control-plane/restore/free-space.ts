import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Manifest } from '../../backup/catalog/manifest.ts';
import { TRAILER } from '../../etcd/snapshot-stream.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import type { EtcdNode } from '../node/node.ts';

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

/** Refuses a database that is larger than etcd's quota: etcd would start, and refuse every write. */
export function refuseAboveQuota(
  { source, member: { quota } }: Pick<EtcdNode, 'source' | 'member'>,
  { id, content }: Pick<Manifest, 'id' | 'content'>,
): void {
  const size = content.sizeBytes - TRAILER;
  if (quota === undefined || size < quota) return;
  throw new AgentError(
    ExitCode.usage,
    `${source}: the database in ${id} has ${mebibytes(size)}, and the quota of this etcd is ${mebibytes(quota)}, so it would refuse every write (NOSPACE); set --quota-backend-bytes=${roomFor(size)} on every node, then run this command again`,
  );
}

/** Half as much again, in whole GiB. */
const roomFor = (size: number): number => Math.ceil((1.5 * size) / 1024 ** 3) * 1024 ** 3;

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
