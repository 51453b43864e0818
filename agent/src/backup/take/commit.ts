import { dirname } from 'node:path/posix';
import { AgentError, ExitCode, messageOf, remarkOf } from '../../lib/errors.ts';
import { type Remark, together } from '../../lib/finding.ts';
import { inStep, isTimeout } from '../../lib/limits/run-limit.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import type { RetentionSpec } from '../../store/retention-spec.ts';
import type { Store } from '../../store/store.ts';
import {
  checkManifest,
  exactManifestKey,
  manifestKey,
  putJson,
  readCatalog,
  readManifest,
} from '../catalog/catalog.ts';
import { isRefused, isSame, withdraw } from '../catalog/claim.ts';
import { Folder } from '../catalog/folder.ts';
import { folderOf } from '../catalog/identity/folder.ts';
import { entriesOf } from '../catalog/identity/identity.ts';
import { clusterLine } from '../catalog/identity/lineage.ts';
import type { Level, SnapshotManifest } from '../catalog/manifest.ts';
import { putExtra } from '../payload/extra.ts';
import { verifySnapshot } from '../payload/verify.ts';
import { clockForRetention, prune } from '../retention/prune.ts';
import { BRIEF, DEADLINE, discard } from './discard.ts';
import { commitExactKey, moveToKey, whereItIs } from './exact-key.ts';
import type { BackupTarget, RunContext, StoreRequest, TargetOutcome } from './request.ts';

/** A payload that this run has stored. Its manifest is not written yet. */
export interface Stored {
  readonly manifest: SnapshotManifest;
  /** The packed extra files, which are not stored yet. */
  readonly extra?: Buffer;
}

/**
 * Verifies the stored payload, then writes the manifest, then applies retention. If retention fails, the snapshot
 * stays. `onCommitted` is called with the key that leads to the payload once the manifest is written.
 */
export async function commit(
  target: BackupTarget,
  { manifest, extra }: Stored,
  request: StoreRequest,
  context: RunContext,
  onCommitted: (key: string) => void,
): Promise<TargetOutcome> {
  const { store, retention } = target;
  const { progress, signal } = context;
  const verified = await orDiscard(target, manifest, context, async () => {
    checkManifest(manifest);
    const level = await readBack(store, manifest, request, context);
    if (manifest.extra && extra) {
      progress.phase('extra', 'storing the extra files');
      await putExtra(store, manifest.extra, extra, { signal });
    }
    signal.throwIfAborted();
    return manifest.source.suspect ? undefined : { level, at: new Date().toISOString() };
  });
  progress.phase('manifest', 'writing the manifest');
  const { key, overwrite } = request;
  const put = async (found: SnapshotManifest) => {
    if (key) return commitExactKey(store, found, key, { overwrite, signal });
    // Another run may have taken a name of the user's for that of a dead run.
    const onlyNew = request.fileName !== undefined;
    await putJson(store, at, found, { signal, onlyNew });
    return found;
  };
  const at = key ? exactManifestKey(key) : manifestKey(folderOf(request), manifest.id);
  const committed = await put({ ...manifest, verified }).catch(async (error) => {
    // The answer may have been lost, and then a second attempt refused.
    const written = await writtenManifest(store, at, manifest);
    if (written && written !== 'unknown') return written;
    if (isRefused(error) || (error instanceof AgentError && error.exitCode === ExitCode.storeRefused)) {
      await discardAll(target, manifest, context);
    } else if (written) throw new UnsureError(error, `the manifest ${at} in ${store.url} may have been written`);
    throw error;
  });
  const outcome = { store: store.url, key: key ?? manifest.object.key, verified: verified?.level };
  if (!key) await refuseGone(store, committed, at);
  onCommitted(outcome.key);
  if (key) {
    progress.phase('key', `storing it under ${key}`);
    return { ...outcome, ...(await finishKey(store, committed, key, request, context)) };
  }
  if (!retention) return outcome;
  progress.phase('retention', 'applying retention');
  try {
    return { ...outcome, ...(await applyRetention(target, retention, committed, request, context)) };
  } catch (error) {
    return { ...outcome, retentionError: failureAfter('retention', store, error, context) };
  }
}

/** Whether the backup was committed is not known. */
export class UnsureError extends AgentError {
  readonly what: string;

  constructor(error: unknown, what: string) {
    const exitCode = error instanceof AgentError ? error.exitCode : ExitCode.unexpected;
    super(exitCode, `${messageOf(error)}; ${what}`, {
      ...{ cause: error, finding: { kind: 'listed', remedy: remarkOf(error).finding } },
    });
    this.what = what;
  }
}

/** The manifest of this run, if the store has it. Of a name of the user's, it may have that of another run. */
async function writtenManifest(
  store: Store,
  key: string,
  { id, timing }: SnapshotManifest,
): Promise<SnapshotManifest | 'unknown' | undefined> {
  // The run may have ended because of its own signal.
  const signal = AbortSignal.timeout(BRIEF);
  const read = await unlessAborted(readManifest(store, key, { signal }), signal).catch(() => 'unknown' as const);
  if (read === undefined || read === 'unknown') return read;
  if ('problem' in read) return read.unread ? 'unknown' : undefined;
  return read.manifest.id === id && isSame(read.manifest.timing, timing) ? read.manifest : undefined;
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

/**
 * Logs a failure after the snapshot was committed, and returns it. Rethrows if the run was stopped, but not
 * after a time-out.
 */
function failureAfter(what: string, store: Store, error: unknown, { log, progress, signal }: RunContext): Remark {
  if (!isTimeout(signal)) signal.throwIfAborted();
  const why = remarkOf(signal.aborted ? inStep(signal.reason, progress.step) : error);
  log.error({ store: store.url, at: why.at, finding: why.finding }, `${what}: ${why.message}`);
  return why;
}

/** Moves a committed snapshot to its exact key, or returns why it stays beside the key. */
export async function finishKey(
  store: Store,
  beside: SnapshotManifest,
  key: string,
  request: StoreRequest,
  context: RunContext,
): Promise<Pick<TargetOutcome, 'keyError'>> {
  try {
    await moveToKey(store, beside, key, { ...request, signal: context.signal });
    return {};
  } catch (error) {
    const why = failureAfter(key, store, error, context);
    const there = await whereItIs(store, beside, key);
    return {
      keyError: {
        ...{ message: `${why.message}; ${there.message}`, at: why.at },
        finding: together(there.finding, why.finding),
      },
    };
  }
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

async function applyRetention(
  { store }: BackupTarget,
  retention: RetentionSpec,
  { id, source, verified }: SnapshotManifest,
  request: StoreRequest,
  context: RunContext,
): Promise<Partial<TargetOutcome>> {
  const { log, signal } = context;
  const folder = new Folder(store, folderOf(request), signal);
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
      warn: (message, finding) => log.warn({ store: store.url, finding }, `retention: ${message}`),
    },
  );
  if (veto) log.warn({ store: store.url, finding: veto.finding }, `retention: nothing is deleted: ${veto.message}`);
  const gone = new Set(deleted);
  const kept = entriesOf(entries, request, cluster).filter((entry) => !gone.has(entry.id)).length;
  const retentionError = error && failureAfter('retention', store, error, context);
  return { deleted, retained, deferred, kept, veto, retentionError };
}

/** Deletes what the run stored if the work fails, because the run cannot commit it then. */
async function orDiscard<T>(
  target: BackupTarget,
  manifest: SnapshotManifest,
  context: RunContext,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await discardAll(target, manifest, context);
    throw error;
  }
}

/** Keeps what has a manifest by now: `adopt` may have written one. */
async function discardAll(
  { store }: BackupTarget,
  { id, object, extra }: SnapshotManifest,
  { log }: RunContext,
): Promise<void> {
  const committed = await isCommitted(store, object.key, id);
  if (committed) return log.warn({ store: store.url }, `${object.key} is kept: ${committed}`);
  await Promise.all([object, ...(extra ? [extra] : [])].map(({ key }) => discard(store, key)));
}

/** Says that a manifest beside the payload exists or may exist. That of an exact key leads to it only by name. */
async function isCommitted(store: Store, key: string, id: string): Promise<string | undefined> {
  const beside = key.endsWith(`.${id}`) ? exactManifestKey(key) : manifestKey(dirname(key), id);
  try {
    // The run may have ended because of its own signal.
    return (await store.stat(beside, { signal: AbortSignal.timeout(DEADLINE) })) && `${beside} exists by now`;
  } catch (error) {
    return `${beside} may exist by now (${messageOf(error)})`;
  }
}
