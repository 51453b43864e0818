import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { backendState } from '../../etcd/offline/backend-state.ts';
import { readSettled } from '../../etcd/offline/data-dir.ts';
import { walDirectory, walFiles, walIdentity } from '../../etcd/offline/wal.ts';
import { walState } from '../../etcd/offline/wal-state.ts';
import { unlessMissing } from '../../lib/files/directories.ts';
import { memberDir, readMarker } from '../node/data-directory.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import type { SeenRevision } from './served-revisions.ts';

export interface DataRevision {
  readonly clusterId?: string;
  /** Upper bound of the revisions that the member has served, as far as its data can be read. */
  readonly revision: number;
}

/**
 * Reads the highest revision that a stopped member can have served. Returns undefined if there are no data, or none that can be
 * read. The database may lag behind the log, and each entry of the log raises the revision by at most one.
 */
export async function dataRevision({
  dataDir,
  walDir,
}: Pick<MemberFlags, 'dataDir' | 'walDir'>): Promise<DataRevision | undefined> {
  const readable = <T>(read: () => Promise<T>) => readSettled(read).catch(() => undefined);
  const [database, log, identity] = await Promise.all([
    readable(() => unlessMissing(backendState(join(dataDir, 'member', 'snap', 'db')))),
    readable(() => walState(dataDir, walDir)),
    readable(() => walIdentity(dataDir, walDir)),
  ]);
  if (!database && !identity) return undefined;
  const behind = database && log ? Math.max(0, log.lastIndex - database.consistentIndex) : 0;
  return { clusterId: identity?.clusterId, revision: (database?.revision ?? 0) + behind };
}

/** Returns true if etcd created these data after the given time in an empty directory, not by a restore. */
export async function beganAfter(
  { dataDir, walDir = walDirectory(dataDir) }: Pick<MemberFlags, 'dataDir' | 'walDir'>,
  time: Date,
): Promise<boolean> {
  const [first] = await walFiles(walDir);
  // Without its first file the log is an old one: etcd has deleted the beginning.
  if (first === undefined || !/-0{16}\.wal$/.test(first)) return false;
  const { birthtimeMs } = await stat(join(walDir, first));
  const marker = [memberDir(dataDir), dataDir].map((folder) => readMarker(folder));
  return birthtimeMs > time.getTime() && (await Promise.all(marker)).every((found) => found === undefined);
}

interface OfSnapshot {
  /** Ids of its cluster. */
  readonly clusterIds: readonly string[];
  readonly revision: number | undefined;
  readonly size: number;
}

/**
 * Returns true if the member with these data has joined the cluster of the snapshot, or what its other members serve now: they
 * show how far it got, whenever they began. An etcd that begins anew alone may get the id of the previous one again.
 */
export function hasJoined(
  { clusterId, revision }: Pick<SeenRevision, 'clusterId' | 'revision'>,
  others: readonly SeenRevision[],
  { clusterIds, revision: taken = 0, size }: OfSnapshot,
): boolean {
  if (clusterId === undefined) return false;
  if (others.some((other) => other.clusterId === clusterId)) return true;
  return clusterIds.includes(clusterId) && size > 1 && revision >= taken;
}
