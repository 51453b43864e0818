import { mkdir, readdir, rename, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { backendState } from '../../etcd/offline/backend-state.ts';
import { clusterIdOf, membersOf } from '../../etcd/offline/cluster-id.ts';
import { isInUse } from '../../etcd/offline/data-dir.ts';
import { readSettings, type StoredMember, type Switches } from '../../etcd/offline/database-check.ts';
import { type Etcdutl, reasonOf } from '../../etcd/offline/etcdutl.ts';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { type WalState, walState } from '../../etcd/offline/wal-state.ts';
import { TRAILER } from '../../etcd/snapshot-stream.ts';
import { AgentError, codeOf, ExitCode, usageError } from '../../lib/errors.ts';
import { sync, syncTree, unlessGone } from '../../lib/files/directories.ts';
import { cannotWrite } from '../../lib/files/file-faults.ts';
import type { Finding } from '../../lib/finding.ts';
import type { Store } from '../../store/store.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { DamagedError } from '../payload/damaged-error.ts';
import { knownRevisionOf, refuseBeyondLast } from '../payload/plausible-revision.ts';
import type { PayloadReadOptions } from '../payload/read-payload.ts';
import { writeContent } from '../payload/verify.ts';
import { refuseMisplaced, refuseRunning } from './data-dir-place.ts';
import { memberNameIn } from './member-name.ts';
import { removeLeft, withPartial } from './partial.ts';
import {
  type AskedRestore,
  changeSince,
  type DataDirRequest,
  differences,
  type Marker,
  markerOf,
  type ResolvedRequest,
  readMarker,
  writeMarker,
} from './restore-marker.ts';
import { freshToken, nextToken } from './token.ts';

/** Writes the verified, plain snapshot to a new file. Throws `refused` if the file exists. */
export async function fetchSnapshot(
  store: Store,
  manifest: SnapshotManifest,
  file: string,
  options: PayloadReadOptions,
): Promise<Switches> {
  const path = resolve(file);
  try {
    await refuseExisting(file);
    return await withPartial(path, 'to', async (partial) => {
      await refuseExisting(file);
      await writeContent(store, manifest, partial, { ...options, durable: true });
      const switches = await readSettings(partial, manifest.content.sizeBytes - TRAILER, options.signal);
      options.signal?.throwIfAborted();
      await rename(partial, path);
      await sync(dirname(path));
      return switches;
    });
  } catch (error) {
    throw asMistake('to', file, error);
  }
}

async function refuseExisting(file: string): Promise<void> {
  const found = await unlessGone(stat(file));
  if (!found) return;
  if (found.isDirectory()) throw refused('to', `${file} is a directory; name a file in it`);
  throw refused('to', `${file} exists; name another file, or move this one away`);
}

export interface DataDirResult extends Partial<Switches> {
  /** Id of the snapshot that was restored. */
  readonly id: string;
  readonly clusterId?: string;
  readonly memberId?: string;
  /** Token that the cluster id is made from, also if it was chosen here. */
  readonly token?: string;
  /** Revision at which the restored cluster begins, if the snapshot says its own. */
  readonly revision?: number;
  /** New path of the directory that was there before. */
  readonly movedAside?: string;
  /** Whether the directory had been restored before, so that nothing was done. */
  readonly alreadyRestored: boolean;
}

/** Steps of the caller during a restore. */
export interface DataDirSteps {
  /** Returns the number of revisions to skip. */
  readonly bump?: () => Promise<number>;
  /** Called with the members that the snapshot lists. Throws if the restored cluster would not be the one that is meant. */
  readonly members?: (found: readonly StoredMember[]) => Promise<void>;
  /**
   * Called with the completed restore before it is moved into place. Throws if other members were restored differently.
   * Returns what undoes it if the restore is not moved into place.
   */
  readonly claim?: (made: Marker) => Promise<() => Promise<void>>;
}

/**
 * Restores one member's data directory from a snapshot. The new directory is prepared beside the old one, which is then moved
 * aside and never deleted. A marker inside records the request, so that an init container may run this at every start.
 */
export async function restoreDataDir(
  store: Store,
  manifest: SnapshotManifest,
  request: DataDirRequest,
  etcdutl: Etcdutl,
  options: PayloadReadOptions,
  steps: DataDirSteps = {},
): Promise<DataDirResult> {
  const dataDir = resolve(request.dataDir);
  const there = async () => {
    const marker = request.repeat === 'again' ? undefined : await readMarker(dataDir);
    return marker && alreadyRestored(marker, { id: manifest.id, sha256: manifest.content.sha256 }, request);
  };
  const before = await there();
  if (before) return before;
  // Only to say which of several directories to name.
  const isOwn = (each: string) =>
    memberNameIn(each, manifest)
      .then((name) => name === request.name)
      .catch(() => false);
  try {
    await refuseMisplaced(dataDir, store.url, isOwn);
    // Another run may have completed the restore before this one got the lock.
    return await withPartial(
      dataDir,
      'dataDir',
      async (partial) =>
        (await there()) ?? make(store, manifest, { ...request, dataDir }, etcdutl, options, partial, steps),
    );
  } catch (error) {
    options.signal?.throwIfAborted();
    throw asMistake('dataDir', dataDir, error);
  }
}

async function make(
  store: Store,
  manifest: SnapshotManifest,
  request: DataDirRequest,
  etcdutl: Etcdutl,
  options: PayloadReadOptions,
  partial: string,
  { bump = async () => request.bumpRevision ?? 0, members, claim }: DataDirSteps,
): Promise<DataDirResult> {
  const { dataDir, initialCluster, initialClusterToken } = request;
  // A log that cannot be read is damaged, and no etcd changes it unless it can be read again.
  const before = await walState(dataDir).catch(() => undefined);
  const example = nextToken(manifest.id, initialClusterToken);
  if (initialClusterToken !== undefined)
    await refuseSameCluster(dataDir, clusterIdOf(initialCluster, initialClusterToken), example);
  const made: ResolvedRequest = { ...request, bumpRevision: await bump() };
  const fresh = join(partial, 'data');
  await mkdir(partial, { mode: 0o700 });
  const file = join(partial, 'snapshot.db');
  await writeContent(store, manifest, file, options);
  const revision = await revisionIn(file, manifest);
  if (revision !== undefined) refuseBeyondLast(manifest.id, revision, made.bumpRevision);
  const { authEnabled, corruptAlarm, noSpaceAlarm, ...found } = await readSettings(
    file,
    manifest.content.sizeBytes - TRAILER,
    options.signal,
  );
  await members?.(found.members);
  const token = request.initialClusterToken ?? freshToken();
  await runRestore(etcdutl, file, fresh, { ...made, initialClusterToken: token }, manifest.id, options.signal);
  const remembered = await markerOf(fresh, manifest, made, token, revision);
  await refuseSameCluster(dataDir, remembered.clusterId, example);
  await writeMarker(fresh, remembered);
  await syncTree(fresh);
  const undo = await claim?.(remembered);
  const movedAside = await moveIn(fresh, dataDir, before, options.signal).catch(async (error) => {
    await undo?.();
    throw error;
  });
  await sync(dirname(dataDir));
  const { id, clusterId, memberId, revision: begin } = remembered;
  const known = { revision: begin, movedAside };
  const switches = { authEnabled, corruptAlarm, noSpaceAlarm };
  return { id, clusterId, memberId, token, alreadyRestored: false, ...known, ...switches };
}

/**
 * Returns the revision that the snapshot ends at. Throws if its manifest claims a higher one, by which the number of revisions to
 * skip would be too low. A database that cannot be read is left to etcdutl.
 */
async function revisionIn(file: string, manifest: SnapshotManifest): Promise<number | undefined> {
  const revision = await backendState(file).then(
    (state) => state.revision,
    () => undefined,
  );
  const claimed = knownRevisionOf(manifest) ?? 0;
  if (revision === undefined || revision >= claimed) return revision;
  throw new DamagedError(`${manifest.id}: its manifest claims revision ${claimed}, but it ends at ${revision}`);
}

/** Checks again before the swap: a restore takes minutes, and etcd may have been started meanwhile. */
async function refuseUsed(dataDir: string, before: WalState | undefined): Promise<void> {
  await refuseRunning(dataDir);
  const now = await walState(dataDir).catch(() => undefined);
  if (now?.lastIndex === before?.lastIndex && now?.commit === before?.commit && now?.term === before?.term) return;
  throw refused('dataDir', `an etcd ran on ${dataDir} during the restore; keep it stopped, and restore again`);
}

/** Returns the result for a directory that is left as it is, or undefined if the store is needed to decide. */
export async function leftWithoutStore(
  request: DataDirRequest,
  asked: AskedRestore,
): Promise<DataDirResult | undefined> {
  if (request.repeat !== 'leave') return undefined;
  const marker = await readMarker(resolve(request.dataDir));
  const isUnknown = request.objectKey !== undefined && request.objectKey !== marker?.objectKey;
  return marker && !isUnknown ? alreadyRestored(marker, asked, request) : undefined;
}

async function alreadyRestored(marker: Marker, asked: AskedRestore, request: DataDirRequest): Promise<DataDirResult> {
  const dataDir = resolve(request.dataDir);
  const isFresh = await refuseOther(marker, asked, { ...request, dataDir });
  // The run that restored it may have been killed before it cleaned up.
  await removeLeft(dataDir);
  const { id, clusterId, memberId, revision, token = marker.initialClusterToken } = marker;
  // What is still to be done is only known if etcd has not run.
  const next = isFresh && { token, revision };
  return { id, clusterId, memberId, ...next, alreadyRestored: true };
}

async function runRestore(
  etcdutl: Etcdutl,
  file: string,
  into: string,
  request: ResolvedRequest & { readonly initialClusterToken: string },
  id: string,
  signal?: AbortSignal,
): Promise<void> {
  const { bumpRevision } = request;
  const result = await etcdutl.run(
    [
      // The trailer was checked while the file was written.
      ...['snapshot', 'restore', file, '--skip-hash-check', '--data-dir', into, '--name', request.name],
      ...['--initial-cluster', request.initialCluster],
      ...['--initial-advertise-peer-urls', request.initialAdvertisePeerUrls],
      ...['--initial-cluster-token', request.initialClusterToken],
      // A watcher that continues from an old revision then gets an error "compacted" instead of no events.
      ...(bumpRevision > 0 ? ['--bump-revision', String(bumpRevision), '--mark-compacted'] : []),
    ],
    { signal },
  );
  if (result.exitCode === 0) return;
  const reason = reasonOf(result);
  if (/no space left/i.test(reason))
    throw usageError(`no room to restore ${id} at ${into}; make room there`, { at: 'dataDir' });
  const mistake = /initial.cluster|peer.url|advertise|couldn't find local name|unknown flag/i.test(reason);
  throw new AgentError(
    mistake ? ExitCode.usage : ExitCode.verificationFailed,
    `${id}: etcdutl refused to restore it: ${reason}`,
  );
}

/** Throws unless the directory holds what is asked for. Returns whether nothing has changed since. */
async function refuseOther(marker: Marker, asked: AskedRestore, request: DataDirRequest): Promise<boolean> {
  const { dataDir, repeat } = request;
  const differs = differences(marker, asked, request);
  const change = await changeSince(marker, dataDir);
  const isLeft = change === undefined || (change.byEtcd && repeat === 'leave');
  if (differs.length === 0 && isLeft) return change === undefined;
  const { initialCluster, initialClusterToken: token } = request;
  // The same token and members would give the cluster id of the present data.
  const isSame = token !== undefined && clusterIdOf(initialCluster, token) === marker.clusterId;
  const why = differs.length > 0 ? 'with other settings' : `and ${change?.what}`;
  throw refused('dataDir', `${dataDir} was restored from ${marker.id} at ${marker.at}, ${why}`, {
    ...{ kind: 'restoredBefore', differs, byEtcd: differs.length > 0 ? undefined : change?.byEtcd },
    isAlone: membersOf(initialCluster).size === 1,
    isRunning: await isInUse(dataDir),
    newToken: isSame ? nextToken(marker.id, token) : undefined,
  });
}

const refused = (at: string, message: string, finding?: Finding) =>
  new AgentError(ExitCode.refused, message, { at, finding });

/** Whether the present data are those of a member of this cluster. */
export async function holdsCluster(dataDir: string, clusterId: string | undefined): Promise<boolean> {
  // A restore leaves both, so that the other one says it if one is damaged.
  const [log, marker] = await Promise.all(
    [walIdentity, readMarker].map((read) => read(dataDir).catch(() => undefined)),
  );
  return clusterId !== undefined && [log?.clusterId, marker?.clusterId].includes(clusterId);
}

/**
 * Throws if the restore would have the cluster id of the present data: members that were not restored with it would
 * accept it although its data differ.
 */
async function refuseSameCluster(dataDir: string, clusterId: string | undefined, example: string): Promise<void> {
  if (!(await holdsCluster(dataDir, clusterId))) return;
  throw refused(
    'initialClusterToken',
    `${dataDir} already holds the cluster ${clusterId} of the same token and members; pass the same new token to all members, for example ${example}`,
  );
}

/** Replaces the directory. Returns the new path of the old one. */
async function moveIn(
  fresh: string,
  dataDir: string,
  before: WalState | undefined,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  await refuseUsed(dataDir, before);
  signal?.throwIfAborted();
  const movedAside = await moveAside(dataDir);
  await rename(fresh, dataDir);
  return movedAside;
}

async function moveAside(dataDir: string): Promise<string | undefined> {
  if (!(await unlessGone(readdir(dataDir)))) return undefined;
  const stamp = new Date()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '')
    .replace('T', '-')
    .replace('Z', '');
  for (let attempt = 0; ; attempt++) {
    const aside = `${dataDir}.replaced-${stamp}${attempt ? `-${attempt}` : ''}`;
    if (await unlessGone(stat(aside))) continue;
    await rename(dataDir, aside);
    return aside;
  }
}

function asMistake(at: string, path: string, error: unknown): unknown {
  return error instanceof AgentError || !codeOf(error) ? error : cannotWrite(path, error, at);
}
