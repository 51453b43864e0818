import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Progress } from '../../lib/terminal/progress.ts';
import type { PutResult, Store } from '../../store/store.ts';
import {
  type Entry,
  isRestoreNote,
  isUnread,
  isVerified,
  looseNotes,
  manifestKey,
  markersOf,
  orNothing,
  putJson,
  readDocument,
  readManifest,
  readVerification,
  takingKey,
  verificationKeyOf,
} from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import { type Brief, manifestSchema, type SnapshotManifest } from '../catalog/manifest.ts';
import { copyNoteAlone } from '../catalog/restore-notes.ts';
import { isSnapshotId } from '../catalog/snapshot-id.ts';
import { isRefused, withdraw } from '../catalog/withdraw.ts';
import { putExtra, storedExtra } from '../payload/extra.ts';
import { readStored } from '../payload/read-payload.ts';
import { DEADLINE, discard, isAbsent, markTaking } from '../take/markers.ts';

export interface CopyContext {
  /** Folder of the cluster, in both stores. */
  readonly folder: string;
  readonly from: Store;
  readonly to: Store;
  /** The snapshots that the target already has. */
  readonly there: readonly Entry[];
  readonly log: Log;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface CopyOutcome {
  readonly id: string;
  readonly outcome: 'copied' | 'there' | 'failed' | 'refused';
  readonly detail: string;
  /** If it failed: whether the snapshot is bad, or its store does not give it out. */
  readonly exitCode?: ExitCode;
  /** Size of the stored payload in bytes. */
  readonly storedBytes?: number;
}

const refused = (message: string) => new AgentError(ExitCode.refused, message);
const damaged = (message: string) => new AgentError(ExitCode.verificationFailed, message);

/** The source fails, hangs or refuses: this snapshot cannot be copied, but others may. */
class WithheldError extends AgentError {}

/** The exit code for a snapshot whose manifest or finding the store does not give out. */
const withheldCode = ({ state }: Entry): ExitCode | undefined =>
  state === 'unreachable' ? ExitCode.storeUnreachable : state === 'refused' ? ExitCode.storeRefused : undefined;

/** Whether the store does not give out what is known of a snapshot. */
export const isWithheld = (entry: Entry): boolean => withheldCode(entry) !== undefined;

/**
 * Copies one snapshot as it is stored, the manifest last. Returns the outcome if the snapshot itself is bad or cannot be
 * copied, also because the source does not give it out. Throws if the target fails.
 */
export async function copySnapshot(entry: Entry, context: CopyContext): Promise<CopyOutcome> {
  const { id } = entry;
  try {
    const there = context.there.find((other) => other.id === id);
    // Nothing is left out if the target has it. A name of the user's own may be that of another snapshot.
    if (isWithheld(entry) && there && isVerified(there) && isSnapshotId(id)) {
      return { id, outcome: 'there', detail: `already there, but not compared: ${entry.problem}` };
    }
    const brief = checkSource(entry);
    const storedBytes = brief.object.sizeBytes;
    const isAgain = there !== undefined && checkSame(there, brief, context.to) === 'damaged';
    if (!there || isAgain) {
      await checkFinding(entry, context);
      await copyWhole(entry, context, isAgain);
    }
    if (isAgain) await dropFinding(there, context);
    await copyNotes(entry, there, context);
    if (there && !isAgain) {
      if (there.objects.some(({ key }) => markersOf(context.folder, id).includes(key))) await unmark(id, context);
      context.signal.throwIfAborted();
      return { id, outcome: 'there', detail: 'already there', storedBytes };
    }
    const again = isAgain ? ', in place of a damaged copy' : '';
    return { id, outcome: 'copied', detail: `copied and read back${again}`, storedBytes };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof AgentError)) throw error;
    const { exitCode } = error;
    if (exitCode === ExitCode.refused) return { id, outcome: 'refused', detail: messageOf(error) };
    const isOfSource = exitCode === ExitCode.verificationFailed || error instanceof WithheldError;
    if (!isOfSource) throw error;
    return { id, outcome: 'failed', detail: messageOf(error), exitCode };
  }
}

function checkSource(entry: Entry): Brief {
  const { id, manifest, problem, verification } = entry;
  const withheld = withheldCode(entry);
  if (withheld !== undefined) throw new WithheldError(withheld, `${id}: ${problem}`);
  if (!manifest || problem) throw damaged(`${id}: ${problem ?? 'unreadable'}`);
  if (verification?.outcome === 'failed') throw damaged(`${id}: \`verify\` found it bad: ${verification.detail ?? ''}`);
  return manifest;
}

/** A listing may leave out what `verify` has found, and the copy would count as verified. */
async function checkFinding(entry: Entry, { from, signal }: CopyContext): Promise<void> {
  const { id, manifestKey: key } = entry;
  const read = await readVerification(from, verificationKeyOf(key), { signal }).catch(asOfSource(id));
  if (!read) return;
  const state = 'problem' in read ? (read.unread ?? entry.state) : entry.state;
  checkSource(
    'problem' in read ? { ...entry, state, problem: read.problem } : { ...entry, verification: read.verification },
  );
}

/** Compares what the target has with the source. A copy that is damaged there is replaced. */
function checkSame(there: Entry, { object, content }: Brief, to: Store): 'same' | 'damaged' {
  const { id, manifest, problem, objects, verification } = there;
  const payload = objects.find(({ key }) => key === object.key);
  // The payload is missing, or was cut.
  const isPayloadBad =
    !isUnread(there) && manifest?.object.key === object.key && payload?.size !== manifest.object.sizeBytes;
  if (!manifest || (problem && !isPayloadBad)) {
    throw refused(
      `${to.url} has ${id}, but it is incomplete: ${problem}; check it there, and remove ${there.manifestKey} if it is not needed`,
    );
  }
  if (manifest.object.sha256 !== object.sha256 || manifest.content.sha256 !== content.sha256) {
    throw refused(
      `${to.url} has another snapshot under the name ${id}; find out which one is right, and move the wrong one away`,
    );
  }
  if (isPayloadBad || verification?.damaged) return 'damaged';
  if (verification?.outcome !== 'failed') return 'same';
  throw damaged(`${to.url}: ${id} has the same bytes, but \`verify\` found it bad there: ${verification.detail ?? ''}`);
}

/** Deletes what `verify` found of the copy that was replaced. */
async function dropFinding({ id, manifestKey, verification }: Entry, { to, signal, log }: CopyContext): Promise<void> {
  if (!verification) return;
  const key = verificationKeyOf(manifestKey);
  const left = await to.delete(key, { signal });
  if (left === 'retained') log.warn(`${to.url} keeps ${key}, so ${id} does not count as verified there: verify it`);
}

/** Copies the payload and the manifest. Retention, or another copy that fails, may delete the payload meanwhile. */
async function copyWhole(entry: Entry, context: CopyContext, isAgain: boolean): Promise<void> {
  if (await copyPayload(entry, context, isAgain)) return;
  if (await copyPayload(entry, context, false)) return;
  throw damaged(`${entry.id}: was deleted in ${context.to.url} while it was being copied; copy it again`);
}

/** Returns false if what the manifest names is gone again. */
async function copyPayload(entry: Entry, context: CopyContext, isAgain: boolean): Promise<boolean> {
  const { from, to, folder, progress, signal, log } = context;
  const { id } = entry;
  const document = await readDocument(from, entry.manifestKey, { signal }).catch(asOfSource(id));
  const { data: manifest } = manifestSchema.safeParse(document);
  if (!manifest) throw damaged(`${id}: its manifest changed while it was read; copy it again`);
  await refuseDeleting(id, context);
  const key = manifestKey(folder, id);
  if (!isAgain && (await to.stat(key, { signal }))) await checkCommitted(manifest, context);
  const found = isAgain ? 'other' : await whatIsThere(manifest, context);
  const written: Written = { keys: [], isMarked: found === 'nothing' };
  progress.phase('copy', `${id} to ${to.url}`);
  // A payload that a killed run leaves must not look like one whose manifest was lost. One that was there before had lost it.
  const { clusterId } = manifest.source;
  if (written.isMarked)
    await markTaking(new Folder(to, folder, signal), id, {
      ...{ clusterId, warn: (message, finding) => log.warn({ finding }, message) },
    });
  let put = {};
  try {
    if (found !== 'same') put = await putPayload(manifest, context, written);
    await copyExtra(manifest, context, written);
    await refuseDeleting(id, context);
  } catch (error) {
    await discardWritten(manifest, context, written);
    throw error;
  }
  progress.phase('manifest', `writing the manifest of ${id}`);
  const { etag: _, parts: __, ...object } = (document?.object ?? manifest.object) as SnapshotManifest['object'];
  const verified = manifest.source.suspect?.length
    ? undefined
    : { level: 'read' as const, at: new Date().toISOString() };
  // Copy the document, not the parsed manifest: a newer agent may have added fields. What it says of other snapshots is not
  // so in another folder.
  const {
    sameEtcdSince: ___,
    sameEtcdUntil: ____,
    exports: _____,
    ...own
  } = (document ?? {}) as Partial<SnapshotManifest>;
  const before = isAgain ? await readManifest(to, key, { signal }) : undefined;
  const exports = before && 'manifest' in before ? before.manifest.exports : undefined;
  const committed = { ...own, exports, object: { ...object, ...put }, verified };
  await putJson(to, key, committed, { signal, onlyNew: !isAgain }).catch(async (error) => {
    if (isRefused(error)) return checkCommitted(manifest, context);
    // Only a refusal is certain: after any other failure, the manifest may have been written.
    if (error instanceof AgentError && error.exitCode === ExitCode.storeRefused) {
      await discardWritten(manifest, context, written);
    }
    throw error;
  });
  const isWhole = await isComplete(manifest, context);
  if (!isWhole) await withdraw(to, key, committed, { signal });
  // Beside a whole snapshot the markers mean nothing. If it lost its manifest later, it would not count as whole. Last,
  // because a target that hangs with one has the snapshot all the same.
  await unmark(id, context);
  return isWhole;
}

const notCopied = ({ to }: CopyContext, id: string, why: string) => refused(`${id} is not copied to ${to.url}: ${why}`);

/** Throws if retention may be deleting the snapshot. */
async function refuseDeleting(id: string, context: CopyContext): Promise<void> {
  const { folder, to, signal } = context;
  const until = await new Folder(to, folder, signal).mayBeDeletedUntil(id);
  if (until) throw notCopied(context, id, `retention is deleting it there; run \`copy\` again after ${until}`);
}

/** Throws unless the manifest that is there by now, such as that of another copy, is of the same snapshot. */
async function checkCommitted(
  { id, object, source }: SnapshotManifest,
  { to, folder, signal }: CopyContext,
): Promise<void> {
  const key = manifestKey(folder, id);
  const there = (await orNothing(readDocument(to, key, { signal }))) as Partial<SnapshotManifest> | undefined;
  const isSameFile = there?.object?.key === object.key && there.object.sha256 === object.sha256;
  // `adopt` may have taken the file meanwhile, and does not know its etcd.
  if (isSameFile && there.source?.clusterId === source.clusterId) return;
  throw refused(`${to.url} has another file ${key}; find out which one is right, and move the wrong one away`);
}

/** A manifest without its payload would report a snapshot that does not exist. */
async function isComplete({ object, extra }: SnapshotManifest, { to, signal }: CopyContext): Promise<boolean> {
  for (const { key, sizeBytes } of extra ? [extra, object] : [object]) {
    const there = await to.stat(key, { signal });
    if (there?.size !== sizeBytes) return false;
  }
  return true;
}

/** What this run has put where nothing was. */
interface Written {
  readonly keys: string[];
  /** Whether the marker of a backup lies beside. */
  readonly isMarked: boolean;
}

/** Writes the payload, and reads it back. */
async function putPayload(
  manifest: SnapshotManifest,
  { from, to, progress, signal }: CopyContext,
  { keys, isMarked }: Written,
): Promise<PutResult> {
  const { id, object } = manifest;
  const onBytes = (bytes: number) => progress.bytes(bytes, object.sizeBytes);
  const source = ofSource(readStored(from, manifest, { signal, onBytes }), id);
  // Under a user-defined name, another run may have put its own payload by now.
  const onlyNew = isMarked && !isSnapshotId(id);
  const put = await to.put(object.key, source, { signal, sizeHint: object.sizeBytes, onlyNew }).catch((error) => {
    if (!isRefused(error)) throw error;
    throw refused(
      `${to.url} has ${object.key} by now, which another run has put; run \`copy\` again when it has ended`,
    );
  });
  if (isMarked) keys.push(object.key);
  progress.phase('read-back', `reading ${id} back from ${to.url}`);
  for await (const _ of readStored(to, manifest, { signal, onBytes }));
  return put;
}

async function copyExtra(
  { id, extra }: SnapshotManifest,
  { from, to, signal }: CopyContext,
  { keys }: Written,
): Promise<void> {
  if (!extra) return;
  const before = await to.stat(extra.key, { signal });
  if (before && (await isReadable(() => storedExtra(to, extra, { signal }), signal))) return;
  const bytes = await storedExtra(from, extra, { signal }).catch(asOfSource(id));
  const onPut = () => void (before ?? keys.push(extra.key));
  await putExtra(to, extra, bytes, { signal, onPut });
}

/** Whether what the target has is what it should be. What it does not return, because it is in cold storage, is replaced. */
async function isReadable(read: () => Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    signal.throwIfAborted();
    const isOther = [ExitCode.verificationFailed, ExitCode.nothingThere, ExitCode.storeRefused] as ExitCode[];
    if (!(error instanceof AgentError) || !isOther.includes(error.exitCode)) throw error;
    return false;
  }
}

/**
 * Whether the target already has this payload. Under a user-defined name, another object may be any file; under an id of ours it
 * is a leftover, or damaged, and may be overwritten.
 */
async function whatIsThere(
  manifest: SnapshotManifest,
  { to, signal, progress }: CopyContext,
): Promise<'nothing' | 'same' | 'other'> {
  const { id, object } = manifest;
  if (!(await to.stat(object.key, { signal }))) return 'nothing';
  progress.phase('compare', `reading what ${to.url} has of ${id}`);
  const onBytes = (bytes: number) => progress.bytes(bytes, object.sizeBytes);
  const readAll = async () => {
    for await (const _ of readStored(to, manifest, { signal, onBytes }));
  };
  if (!isSnapshotId(id)) {
    await readAll().catch((error) => {
      signal.throwIfAborted();
      if (!(error instanceof AgentError) || error.exitCode !== ExitCode.verificationFailed) throw error;
      throw refused(`${to.url} has another file ${object.key}; move it away first`);
    });
    return 'same';
  }
  return (await isReadable(readAll, signal)) ? 'same' : 'other';
}

/** Reports what fails while the source is read as a problem of the snapshot, not of the target. */
async function* ofSource(source: AsyncIterable<Uint8Array>, id: string): AsyncIterable<Uint8Array> {
  try {
    yield* source;
  } catch (error) {
    throw sourceError(id, error);
  }
}

const asOfSource =
  (id: string) =>
  (error: unknown): never => {
    throw sourceError(id, error);
  };

function sourceError(id: string, error: unknown): unknown {
  if (!(error instanceof AgentError)) return error;
  const { exitCode } = error;
  if (exitCode === ExitCode.nothingThere) return damaged(`${id}: deleted meanwhile`);
  const isWithheldNow = exitCode === ExitCode.storeUnreachable || exitCode === ExitCode.storeRefused;
  return isWithheldNow ? new WithheldError(exitCode, `${id}: ${messageOf(error)}`, { cause: error }) : error;
}

/** Removes what a killed run has left beside a whole snapshot. Otherwise it would not count as one if it lost its manifest. */
async function unmark(id: string, { to, folder, signal }: CopyContext): Promise<void> {
  await to.delete(takingKey(folder, id), { signal }).catch(() => {});
  await new Folder(to, folder, signal).dropDeleting(id).catch(() => {});
}

/** Deletes what this run has written, unless another copy has committed it meanwhile. What was there before it stays. */
async function discardWritten(
  { id, object }: SnapshotManifest,
  { to, folder }: CopyContext,
  { keys, isMarked }: Written,
): Promise<void> {
  if (!(await isAbsent(to, manifestKey(folder, id), DEADLINE))) return;
  for (const key of keys) await discard(to, key);
  // A payload that stays, or that another copy has put meanwhile, keeps the marker.
  if (isMarked && (await isAbsent(to, object.key))) await discard(to, takingKey(folder, id));
}

/** Copies the notes of restores: retention at the target needs them to connect the clusters. */
async function copyNotes(entry: Entry, there: Entry | undefined, context: CopyContext): Promise<void> {
  const { from, to, signal } = context;
  const known = new Set(there?.objects.map(({ key }) => key));
  for (const { key } of entry.objects) {
    if (!isRestoreNote(key) || known.has(key)) continue;
    await warnOnFailure(key, context, async () => {
      const note = await readDocument(from, key, { signal });
      if (note) await putJson(to, key, note, { signal });
    });
  }
}

/**
 * Copies the notes of restores from snapshots that were not copied: also a snapshot that is bad, lost or outside the folder
 * may have been restored, and what was restored from it has served.
 */
export async function copyOtherNotes(
  others: readonly Entry[],
  named: NamedCluster,
  context: Omit<CopyContext, 'folder' | 'progress'>,
): Promise<void> {
  const { from, signal } = context;
  for (const entry of others) {
    for (const { key } of entry.objects.filter((object) => isRestoreNote(object.key))) {
      await warnOnFailure(key, context, () => copyNoteAlone(key, entry, named, context, { signal }));
    }
  }
  const prefix = looseNotes(folderOf(named));
  await warnOnFailure(`${prefix}*`, context, async () => {
    for await (const { key } of from.list(prefix, { signal })) {
      await copyNoteAlone(key, { id: '' }, named, context, { signal });
    }
  });
}

async function warnOnFailure(
  key: string,
  { log, signal }: Pick<CopyContext, 'log' | 'signal'>,
  copying: () => Promise<void>,
): Promise<void> {
  try {
    await copying();
  } catch (error) {
    signal.throwIfAborted();
    log.warn(`${key} could not be copied: ${messageOf(error)}; run copy again`);
  }
}
