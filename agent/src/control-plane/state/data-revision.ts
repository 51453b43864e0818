import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { backendState } from '../../etcd/offline/backend-state.ts';
import { walDirectory, walFiles, walIdentity } from '../../etcd/offline/wal.ts';
import { walState } from '../../etcd/offline/wal-state.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { memberDir, readMarker } from './data-folders.ts';

export interface DataRevision {
  readonly clusterId?: string;
  /** The member has served no later one. */
  readonly revision: number;
}

/**
 * How far the data of a member came that does not run; undefined when they cannot be read. The database lags behind the
 * log by what etcd had not written back, and each entry of the log raises the revision by one at most.
 */
export async function dataRevision({
  dataDir,
  walDir,
}: Pick<MemberFlags, 'dataDir' | 'walDir'>): Promise<DataRevision | undefined> {
  try {
    const { revision, consistentIndex } = await backendState(join(dataDir, 'member', 'snap', 'db'));
    const log = await walState(dataDir, walDir).catch(() => undefined);
    const clusterId = (await walIdentity(dataDir, walDir).catch(() => undefined))?.clusterId;
    const behind = Math.max(0, (log?.lastIndex ?? 0) - consistentIndex);
    return { ...(clusterId !== undefined && { clusterId }), revision: revision + behind };
  } catch {
    return undefined;
  }
}

/** Whether etcd began these data after that time, over an empty directory, and not what a restore made. */
export async function beganAfter(
  { dataDir, walDir = walDirectory(dataDir) }: Pick<MemberFlags, 'dataDir' | 'walDir'>,
  time: Date,
): Promise<boolean> {
  const [first] = await walFiles(walDir);
  // A log that lost its first file is an old one.
  if (first === undefined || !/-0{16}\.wal$/.test(first)) return false;
  const { birthtimeMs } = await stat(join(walDir, first));
  const marker = [memberDir(dataDir), dataDir].map((folder) => readMarker(folder));
  return birthtimeMs > time.getTime() && (await Promise.all(marker)).every((found) => found === undefined);
}
