import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { membersOf } from '../../etcd/offline/cluster-id.ts';
import { isInUse } from '../../etcd/offline/data-dir.ts';
import { readSwitches, type Switches } from '../../etcd/offline/database-check.ts';
import { type Etcdutl, reasonOf } from '../../etcd/offline/etcdutl.ts';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { type WalState, walState } from '../../etcd/offline/wal-state.ts';
import { TRAILER } from '../../etcd/snapshot-stream.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { sync, syncTree } from '../../lib/files/directories.ts';
import type { Store } from '../../store/store.ts';
import type { Manifest } from '../catalog/manifest.ts';
import type { ReadOptions } from '../payload/read-payload.ts';
import { writeContent } from '../payload/verify.ts';
import { removeLeft, withPartial } from './partial.ts';
import {
  type Asked,
  type Change,
  changeSince,
  type DataDirRequest,
  differences,
  type Made,
  type Marker,
  markerOf,
  readMarker,
  writeMarker,
} from './restore-marker.ts';

/** How far the revision jumps where nothing is known. */
const STEP = 1_000_000_000;

/** Writes the verified, plain snapshot to a file that does not exist yet. Once it is there the run is done, and nothing stops it. */
export async function fetchSnapshot(
  store: Store,
  manifest: Manifest,
  file: string,
  options: ReadOptions,
): Promise<Switches> {
  await refuseExisting(file);
  const path = resolve(file);
  try {
    return await withPartial(path, '--to', async (partial) => {
      await refuseExisting(file);
      await writeContent(store, manifest, partial, { ...options, durable: true });
      const switches = await readSwitches(partial, manifest.content.sizeBytes - TRAILER, options.signal);
      options.signal?.throwIfAborted();
      await rename(partial, path);
      await sync(dirname(path));
      return switches;
    });
  } catch (error) {
    throw asMistake('--to', file, error);
  }
}

async function refuseExisting(file: string): Promise<void> {
  if (!(await stat(file).catch(() => undefined))) return;
  throw new AgentError(ExitCode.refused, `--to: ${file} exists; name another file or move it away`);
}

export interface DataDirResult extends Partial<Switches> {
  /** Of the snapshot that the data are of. */
  readonly id: string;
  readonly clusterId?: string;
  readonly memberId?: string;
  /** Where the directory that was there before lies now. */
  readonly movedAside?: string;
  /** It was restored before, and nothing was done. */
  readonly alreadyRestored: boolean;
}

/** What the caller has to say to a restore while it is made. */
export interface DataDirSteps {
  /** How far the revision jumps. */
  readonly bump?: () => Promise<number>;
  /** Called with what is made, right before it is in place; throws when others have made something else of it. */
  readonly claim?: (made: Marker) => Promise<void>;
}

/**
 * Makes one member's data directory out of a snapshot: beside the old one first, which is then moved aside, never
 * deleted. A marker inside says what was asked for, so that an init container may run this at every start.
 */
export async function restoreDataDir(
  store: Store,
  manifest: Manifest,
  request: DataDirRequest,
  etcdutl: Etcdutl,
  options: ReadOptions,
  steps: DataDirSteps = {},
): Promise<DataDirResult> {
  const dataDir = resolve(request.dataDir);
  const there = async () => {
    const marker = request.repeat === 'again' ? undefined : await readMarker(dataDir);
    return marker && alreadyRestored(marker, { id: manifest.id, sha256: manifest.content.sha256 }, request);
  };
  const before = await there();
  if (before) return before;
  await refuseRunning(dataDir);
  try {
    // Another run may have ended just before this one had the lock.
    return await withPartial(
      dataDir,
      '--data-dir',
      async (partial) =>
        (await there()) ?? make(store, manifest, { ...request, dataDir }, etcdutl, options, partial, steps),
    );
  } catch (error) {
    options.signal?.throwIfAborted();
    throw asMistake('--data-dir', dataDir, error);
  }
}

async function make(
  store: Store,
  manifest: Manifest,
  request: DataDirRequest,
  etcdutl: Etcdutl,
  options: ReadOptions,
  partial: string,
  { bump = async () => request.bumpRevision ?? STEP, claim }: DataDirSteps,
): Promise<DataDirResult> {
  const { dataDir } = request;
  const before = await walState(dataDir).catch(() => undefined);
  const made: Made = { ...request, bumpRevision: await bump() };
  const fresh = join(partial, 'data');
  await mkdir(partial, { mode: 0o700 });
  const file = join(partial, 'snapshot.db');
  await writeContent(store, manifest, file, options);
  const switches = await readSwitches(file, manifest.content.sizeBytes - TRAILER, options.signal);
  await runRestore(etcdutl, file, fresh, made, manifest.id, options.signal);
  const remembered = await markerOf(fresh, manifest, made);
  await refuseSameCluster(dataDir, remembered.clusterId);
  await writeMarker(fresh, remembered);
  await syncTree(fresh);
  await claim?.(remembered);
  await refuseUsed(dataDir, before);
  options.signal?.throwIfAborted();
  const movedAside = await moveAside(dataDir);
  await rename(fresh, dataDir);
  await sync(dirname(dataDir));
  const { id, clusterId, memberId } = remembered;
  return { id, clusterId, memberId, movedAside, alreadyRestored: false, ...switches };
}

async function refuseRunning(dataDir: string): Promise<void> {
  if (!(await isInUse(dataDir))) return;
  throw new AgentError(ExitCode.refused, `--data-dir: a running etcd uses ${dataDir}; stop it first`);
}

/** A restore takes minutes, in which somebody may have started etcd. */
async function refuseUsed(dataDir: string, before: WalState | undefined): Promise<void> {
  await refuseRunning(dataDir);
  const now = await walState(dataDir).catch(() => undefined);
  if (now?.lastIndex === before?.lastIndex && now?.commit === before?.commit && now?.term === before?.term) return;
  throw new AgentError(
    ExitCode.refused,
    `--data-dir: an etcd has run on ${dataDir} during the restore; keep it stopped, and restore again`,
  );
}

/** A directory that `--once` leaves as it is, when that can be said without the store. */
export async function leftWithoutStore(request: DataDirRequest, asked: Asked): Promise<DataDirResult | undefined> {
  if (request.repeat !== 'leave') return undefined;
  const marker = await readMarker(resolve(request.dataDir));
  const isUnknown = request.objectKey !== undefined && request.objectKey !== marker?.objectKey;
  return marker && !isUnknown ? alreadyRestored(marker, asked, request) : undefined;
}

async function alreadyRestored(marker: Marker, asked: Asked, request: DataDirRequest): Promise<DataDirResult> {
  const dataDir = resolve(request.dataDir);
  await refuseOther(marker, asked, { ...request, dataDir });
  // That run may have been killed before it had tidied up.
  await removeLeft(dataDir);
  const { id, clusterId, memberId } = marker;
  return { id, clusterId, memberId, alreadyRestored: true };
}

/** The same token and members give the same cluster id, over whatever data: so it has to be a new one. */
export const freshToken = (): string => `restored-${randomBytes(8).toString('hex')}`;

async function runRestore(
  etcdutl: Etcdutl,
  file: string,
  into: string,
  request: Made,
  id: string,
  signal?: AbortSignal,
): Promise<void> {
  const { bumpRevision } = request;
  const result = await etcdutl.run(
    [
      // The trailer has just been compared while the file was written.
      ...['snapshot', 'restore', file, '--skip-hash-check', '--data-dir', into, '--name', request.name],
      ...['--initial-cluster', request.initialCluster],
      ...['--initial-advertise-peer-urls', request.initialAdvertisePeerUrls],
      ...['--initial-cluster-token', request.initialClusterToken ?? freshToken()],
      // Watchers that kept an old revision then see "compacted" instead of silence.
      ...(bumpRevision > 0 ? ['--bump-revision', String(bumpRevision), '--mark-compacted'] : []),
    ],
    { signal },
  );
  if (result.exitCode === 0) return;
  const reason = reasonOf(result);
  const mistake = /initial.cluster|peer.url|advertise|couldn't find local name|unknown flag/i.test(reason);
  throw new AgentError(
    mistake ? ExitCode.usage : ExitCode.verificationFailed,
    `${id}: etcdutl refused to restore it: ${reason}`,
  );
}

async function refuseOther(marker: Marker, asked: Asked, request: DataDirRequest): Promise<void> {
  const { dataDir, repeat } = request;
  const differs = differences(marker, asked, request);
  const change = await changeSince(marker, dataDir);
  const isLeft = change === undefined || (change.byEtcd && repeat === 'leave');
  if (differs.length === 0 && isLeft) return;
  const why = differs.length > 0 ? `with other settings: ${differs.join('; ')}` : `and ${change?.what}`;
  throw new AgentError(
    ExitCode.refused,
    `--data-dir: ${dataDir} was restored from ${marker.id} at ${marker.at}, ${why}; ${waysOut(marker, differs.length > 0 ? undefined : change)}`,
  );
}

function waysOut({ initialCluster }: Marker, change: Change | undefined): string {
  const again = '--again restores once more, and moves what is there aside';
  if (change?.byEtcd) return `${again}; --once leaves it, for a start that repeats this`;
  const isAlone = change === undefined || membersOf(initialCluster).size === 1;
  return isAlone ? again : `${ANEW}; or ${again}, all members with the same new token`;
}

/** A member that has served, and lost what it had, may not vote as if it had never served. */
const ANEW = 'where its cluster still serves, remove this member there and add it anew';

/** A member that was not restored with this one would take it for one of its own, with other data. */
async function refuseSameCluster(dataDir: string, clusterId: string | undefined): Promise<void> {
  const [log, marker] = await Promise.all(
    [walIdentity, readMarker].map((read) => read(dataDir).catch(() => undefined)),
  );
  if (clusterId === undefined || ![log?.clusterId, marker?.clusterId].includes(clusterId)) return;
  throw new AgentError(
    ExitCode.refused,
    `--initial-cluster-token: ${dataDir} holds the cluster ${clusterId}, which the same token and members have made before; give all members the same new token, for instance ${freshToken()}`,
  );
}

async function moveAside(dataDir: string): Promise<string | undefined> {
  const entries = await readdir(dataDir).catch(() => undefined);
  if (!entries) return undefined;
  const stamp = new Date()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '')
    .replace('T', '-')
    .replace('Z', '');
  for (let attempt = 0; ; attempt++) {
    const aside = `${dataDir}.replaced-${stamp}${attempt ? `-${attempt}` : ''}`;
    if (await stat(aside).catch(() => undefined)) continue;
    await rename(dataDir, aside);
    return aside;
  }
}

function asMistake(flag: string, path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof AgentError || !code) return error;
  const remedy = code === 'EBUSY' ? 'it is a mount point; name a directory below it' : code;
  return new AgentError(ExitCode.usage, `${flag}: cannot write ${path} (${remedy})`, { cause: error });
}
