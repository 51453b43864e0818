import { dirname } from 'node:path/posix';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import type { RetentionSpec } from '../../store/retention-spec.ts';
import type { Store } from '../../store/store.ts';
import { checkManifest, manifestKey, putJson, readCatalog, readManifest } from '../catalog/catalog.ts';
import { entriesOf } from '../catalog/identity/identity.ts';
import { clusterLine } from '../catalog/identity/lineage.ts';
import type { Level, SnapshotManifest } from '../catalog/manifest.ts';
import { withdraw } from '../catalog/withdraw.ts';
import { putExtra } from '../payload/extra.ts';
import { verifySnapshot } from '../payload/verify.ts';
import { clockForRetention, prune } from '../retention/prune.ts';
import { BRIEF, DEADLINE, discard } from './markers.ts';
import type { RunContext, StoreRequest, TargetOutcome } from './request.ts';
import { type TargetRun, UnsureError } from './target-run.ts';

/** A payload that this run has stored. Its manifest is not written yet. */
export interface Stored {
  readonly manifest: SnapshotManifest;
  /** The packed extra files, which are not stored yet. */
  readonly extra?: Buffer;
}

/** Verifies the stored payload, then writes the manifest, and returns it. The snapshot exists from then on. */
export async function commit(
  run: TargetRun,
  { manifest, extra }: Stored,
  request: StoreRequest,
): Promise<SnapshotManifest> {
  const { store } = run.target;
  const { progress, signal } = run.context;
  const verified = await verify(run, { manifest, extra }, request).catch(async (error) => {
    await discardAll(run, manifest);
    throw error;
  });
  progress.phase('manifest', 'writing the manifest');
  const at = manifestKey(run.folder.path, manifest.id);
  const committed = { ...manifest, verified };
  await putJson(store, at, committed, { signal }).catch(async (error) => {
    // The answer may have been lost, and then a second attempt refused.
    const written = await isWritten(store, at, manifest);
    if (written === true) return;
    if (error instanceof AgentError && error.exitCode === ExitCode.storeRefused) await discardAll(run, manifest);
    else if (written) throw new UnsureError(error, `the manifest ${at} in ${store.url} may have been written`);
    throw error;
  });
  await refuseGone(store, committed, at);
  // Retention would delete others in favor of one that does not exist.
  if ((await isWritten(store, at, manifest)) === false) {
    const hidden = `${store.url}: does not return ${at} as it was just written; use a store that shows what it has stored`;
    throw new UnsureError(new AgentError(ExitCode.storeUnreachable, hidden), `${at} in ${store.url} may appear later`);
  }
  run.committed = manifest.object.key;
  return committed;
}

/** Returns what is proved of the stored payload. Stores the extra files. */
async function verify(
  { target: { store }, context }: TargetRun,
  { manifest, extra }: Stored,
  request: StoreRequest,
): Promise<SnapshotManifest['verified']> {
  const { progress, signal } = context;
  checkManifest(manifest);
  const level = await readBack(store, manifest, request, context);
  if (manifest.extra && extra) {
    progress.phase('extra', 'storing the extra files');
    await putExtra(store, manifest.extra, extra, { signal });
  }
  signal.throwIfAborted();
  return manifest.source.suspect ? undefined : { level, at: new Date().toISOString() };
}

/** Whether the store has the manifest of this run. */
async function isWritten(store: Store, key: string, { id }: SnapshotManifest): Promise<boolean | 'unknown'> {
  // The run may have ended because of its own signal.
  const signal = AbortSignal.timeout(BRIEF);
  const read = await unlessAborted(readManifest(store, key, { signal }), signal).catch(() => 'unknown' as const);
  if (read === undefined || read === 'unknown') return read ?? false;
  if ('problem' in read) return read.unread ? 'unknown' : false;
  return read.manifest.id === id;
}

/**
 * Throws if the payload is not there any more: a manifest without it would report a snapshot that does not exist. What was read
 * back just now is there unless the store says otherwise. The snapshot is committed, so the end of the run does not end the question.
 */
async function refuseGone(store: Store, manifest: SnapshotManifest, key: string): Promise<void> {
  const { object } = manifest;
  const within = AbortSignal.timeout(BRIEF);
  const found = await unlessAborted(store.stat(object.key, { signal: within }), within).catch(() => ({
    size: object.sizeBytes,
  }));
  if (found?.size === object.sizeBytes) return;
  const limit = AbortSignal.timeout(DEADLINE);
  const left = await unlessAborted(withdraw(store, key, manifest, { signal: limit }), limit).then(
    (isGone) => (isGone ? '' : 'another run has replaced it or the store keeps it: check it'),
    (error) => `it could not be removed (${messageOf(error)}): delete it`,
  );
  const what = found ? `was replaced: it has ${found.size} bytes, not ${object.sizeBytes}` : 'was deleted';
  throw new AgentError(
    ExitCode.verificationFailed,
    `${store.url}: ${object.key} ${what} while the backup was writing its manifest${left && `; its manifest ${key} may be left, because ${left}`}; find out what else writes or deletes there, and take another backup`,
  );
}

async function readBack(
  store: Store,
  manifest: SnapshotManifest,
  request: StoreRequest,
  { log, progress, signal }: RunContext,
): Promise<Level> {
  if (request.level === 'stream') return request.level;
  progress.phase('read-back', `reading it back from ${store.url}`);
  const onBytes = (bytes: number) => progress.bytes(bytes, manifest.object.sizeBytes);
  const { level, detail } = await verifySnapshot(store, manifest, { ...request, signal, onBytes });
  if (level !== request.level) log.warn({ store: store.url }, `verified only at level ${level}: ${detail}`);
  return level;
}

/** Applies retention in favor of a committed snapshot. */
export async function applyRetention(
  run: TargetRun,
  retention: RetentionSpec,
  { id, source, verified }: SnapshotManifest,
  request: StoreRequest,
): Promise<Partial<TargetOutcome>> {
  const { folder, warn } = run;
  const entries = await readCatalog(folder, { mayLackAll: true });
  const cluster = clusterLine(entries, source.clusterId, request.restoredFrom);
  const { deleted, retained, deferred, veto, error } = await prune(
    folder,
    entries,
    retention,
    {
      now: new Date(),
      storeNow: await clockForRetention(folder),
      clusterName: request.cluster,
      namespace: request.namespace,
      cluster,
      ownRun: { id, verified: verified !== undefined && verified.level !== 'stream' },
      force: request.force,
    },
    {
      keep: request.keep,
      warn: (message, finding) => warn(`retention: ${message}`, finding),
    },
  );
  if (veto) warn(`retention: nothing is deleted: ${veto.message}`, veto.finding);
  const gone = new Set(deleted);
  const kept = entriesOf(entries, request, cluster).filter((entry) => !gone.has(entry.id)).length;
  const retentionError = error && run.failureAfter('retention', error);
  return { deleted, retained, deferred, kept, veto, retentionError };
}

/** Keeps what has a manifest by now: `adopt` may have written one. */
async function discardAll(
  { target: { store }, warn }: TargetRun,
  { id, object, extra }: SnapshotManifest,
): Promise<void> {
  const committed = await isCommitted(store, object.key, id);
  if (committed) return warn(`${object.key} is kept: ${committed}`);
  await Promise.all([object, ...(extra ? [extra] : [])].map(({ key }) => discard(store, key)));
}

/** Says that a manifest beside the payload exists or may exist. */
async function isCommitted(store: Store, key: string, id: string): Promise<string | undefined> {
  const beside = manifestKey(dirname(key), id);
  try {
    // The run may have ended because of its own signal.
    return (await store.stat(beside, { signal: AbortSignal.timeout(DEADLINE) })) && `${beside} exists by now`;
  } catch (error) {
    return `${beside} may exist by now (${messageOf(error)})`;
  }
}
