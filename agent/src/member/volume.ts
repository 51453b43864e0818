import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { snapIndex } from '../etcd/offline/data-dir.ts';
import { walIdentity } from '../etcd/offline/wal.ts';
import { codeOf } from '../lib/errors.ts';
import type { AgentStatus } from '../protocol/agent-status.ts';
import { readIdentity, type StoredIdentity } from './identity.ts';
import { readVolumeId } from './volume-id.ts';

/** Layout of a volume. */
export const etcdDirOf = (dataDir: string): string => join(dataDir, 'etcd');
export const workDirOf = (dataDir: string): string => join(dataDir, 'work');
export const quarantineDirOf = (dataDir: string): string => join(dataDir, 'quarantine');
export const restoreMarkerOf = (etcdDir: string): string => join(etcdDir, '.restore-id');

const ours = [
  ...['volume-id', 'identity.json', 'etcd.yaml', 'record-cache.json', 'roots.json'],
  ...['etcd', 'work', 'quarantine', 'lock'],
];

/** Facts about a volume that the gate decides by and /status reports. */
export interface VolumeFacts {
  /** True if there is a file of the write-ahead log. A failed start of etcd leaves other files behind. */
  readonly walPresent: boolean;
  /** Content of `etcd/` if there is no WAL. */
  readonly leftover?: 'database' | 'data';
  readonly volumeId?: string;
  readonly identity: StoredIdentity;
  /** The ids at the beginning of the WAL. */
  readonly wal?: { readonly memberId: string; readonly clusterId: string };
  /** The restore that created `etcd/`. */
  readonly restored?: RestoreMarker;
  /** Entries that belong neither to the agent nor to the file system. */
  readonly foreign: readonly string[];
  readonly snapIndex?: number;
  /** Size of the files that a failed defragmentation left behind, in bytes. */
  readonly orphanTmp: number;
  readonly quarantineCount: number;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Written into restored data before they are moved into place: their identity can only be written afterwards. */
export interface RestoreMarker {
  readonly v: 1;
  readonly restoreId: string;
  readonly clusterUid: string;
  readonly epoch: number;
  readonly token: string;
  readonly ordinal: number;
  readonly volumeId: string;
  readonly permitId: string;
  readonly version: string;
}

const markerSchema = z.object({
  v: z.literal(1),
  restoreId: z.string(),
  clusterUid: z.string(),
  epoch: z.number(),
  token: z.string(),
  ordinal: z.number(),
  volumeId: z.string(),
  permitId: z.string(),
  version: z.string(),
});

/** Reads the facts of a volume. Throws if the volume cannot be read. */
export async function readVolume(dataDir: string): Promise<VolumeFacts> {
  const etcdDir = etcdDirOf(dataDir);
  const [space, names, identity, volumeId, walPresent] = await Promise.all([
    statfs(dataDir),
    readdir(dataDir),
    readIdentity(dataDir),
    readVolumeId(dataDir),
    hasWal(dataDir),
  ]);
  return {
    walPresent,
    leftover: walPresent ? undefined : await leftoverOf(etcdDir),
    volumeId,
    identity,
    wal: walPresent ? await walIdentity(etcdDir).catch(() => undefined) : undefined,
    restored: walPresent ? await readMarker(etcdDir) : undefined,
    foreign: names.filter(isForeign),
    snapIndex: await snapIndex(etcdDir),
    orphanTmp: (await orphansOf(etcdDir)).reduce((sum, { bytes }) => sum + bytes, 0),
    quarantineCount: (await list(quarantineDirOf(dataDir))).length,
    freeBytes: space.bavail * space.bsize,
    totalBytes: space.blocks * space.bsize,
  };
}

/** The volume as GET /status reports it. */
export function volumeStatus(facts: VolumeFacts): AgentStatus['volume'] {
  const { walPresent, volumeId, identity, freeBytes, totalBytes, quarantineCount, snapIndex: index, orphanTmp } = facts;
  return {
    walPresent,
    volumeId,
    identity: identity.kind === 'identity' ? identity.identity : undefined,
    freeBytes,
    totalBytes,
    quarantineCount,
    snapIndex: index,
    orphanTmp: orphanTmp > 0 ? orphanTmp : undefined,
  };
}

export async function hasWal(dataDir: string): Promise<boolean> {
  return (await list(join(etcdDirOf(dataDir), 'member', 'wal'))).some((name) => name.endsWith('.wal'));
}

/** Files that a failed defragmentation left in a data directory. etcd 3.7 never removes them. */
export async function orphansOf(etcdDir: string): Promise<{ file: string; bytes: number }[]> {
  const snap = join(etcdDir, 'member', 'snap');
  const names = (await list(snap)).filter((name) => name.startsWith('db.tmp.'));
  const sized = names.map(async (name) => {
    const file = join(snap, name);
    return { file, bytes: (await stat(file).catch(() => undefined))?.size ?? 0 };
  });
  return Promise.all(sized);
}

const isForeign = (name: string): boolean =>
  !ours.includes(name.replace(/\.tmp$/, '')) && name !== 'lost+found' && !name.startsWith('.');

/** A failed start of etcd leaves only an empty database behind. Raft snapshots and other files once belonged to a member. */
async function leftoverOf(etcdDir: string): Promise<VolumeFacts['leftover']> {
  const files = await allFiles(etcdDir);
  if (files === undefined) return undefined;
  if (files.length === 0) return (await list(etcdDir)).length > 0 ? 'database' : undefined;
  return files.every((file) => /^member\/(snap\/db(\.tmp\..*)?|wal(\.tmp)?\/.*\.tmp|wal\.tmp\/.*)$/.test(file))
    ? 'database'
    : 'data';
}

/** Returns all files below a directory, or undefined if the directory does not exist. */
async function allFiles(directory: string): Promise<string[] | undefined> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function list(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

async function readMarker(etcdDir: string): Promise<RestoreMarker | undefined> {
  try {
    return markerSchema.parse(JSON.parse(await readFile(restoreMarkerOf(etcdDir), 'utf8')));
  } catch {
    return undefined;
  }
}
