import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { StoredObject } from '../../store/store.ts';
import { exactManifestKey, inFuture, isOfExactKey, manifestKey, putJson, readManifest } from '../catalog/catalog.ts';
import { exportKeys, isExport } from '../catalog/exports.ts';
import type { Folder } from '../catalog/folder.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { isRefused, withdraw } from '../catalog/withdraw.ts';
import { DamagedError } from '../payload/damaged-error.ts';
import { readStored } from '../payload/read-payload.ts';
import type { StoreRequest, TargetOutcome } from './request.ts';
import type { TargetRun } from './target-run.ts';

// An export is a copy of a payload with a manifest of its own beside it: it can be restored without the folder that it is from, and the
// manifest says whose the key is.

interface Place {
  /** The payload that is there. */
  readonly object?: StoredObject | undefined;
  /** The manifest beside it, whoever has written that. */
  readonly beside?: SnapshotManifest | undefined;
  /** It is that of an export of the cluster. */
  readonly isOwn?: boolean;
  readonly isEmpty?: boolean;
}

/** Without the right to list, a store also refuses to say that an object does not exist. */
const statOf = ({ store, signal }: Pick<Folder, 'store' | 'signal'>, key: string) =>
  store.stat(key, { signal }).catch((error) => {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
    return undefined;
  });

/** Throws if something is under the key that may not be replaced: neither an export of the cluster nor, with `--overwrite`, anything else. */
async function placeAt(
  key: string,
  folder: Pick<Folder, 'store' | 'signal'>,
  { overwrite, ...named }: NamedCluster & Pick<StoreRequest, 'overwrite'>,
): Promise<Place> {
  const { store, signal } = folder;
  const at = exactManifestKey(key);
  // In this order: an export that another run makes meanwhile has its manifest before its payload.
  const object = await statOf(folder, key);
  const taken = object ?? (await statOf(folder, at));
  if (!taken) return { isEmpty: true };
  const read = await readManifest(store, at, { signal });
  const beside = read && 'manifest' in read ? read.manifest : undefined;
  const isOurs = beside && isExport(beside, key) && folderOf(ownerIn(beside)) === folderOf(named);
  // A claim alone does not say that what somebody puts there later is the export.
  if (isOurs && !(beside.isPending && object && object.size !== beside.object.sizeBytes))
    return { object, beside, isOwn: true };
  if (overwrite) return { object, beside };
  if (read && 'problem' in read && read.unread)
    throw new AgentError(
      read.unread === 'refused' ? ExitCode.storeRefused : ExitCode.verificationFailed,
      `${at}: ${read.problem}`,
    );
  throw new AgentError(ExitCode.refused, `${taken.key} exists in ${store.url}`, {
    ...{ at: 'objectKey', finding: { kind: 'keyTaken' } },
  });
}

const ownerIn = ({ cluster: { name, namespace } }: SnapshotManifest): NamedCluster => ({ cluster: name, namespace });

/** Throws if it is certain that the key of the request may not be written. It is asked again when it is written. */
export async function refuseTaken(folder: Folder, { key, ...request }: StoreRequest): Promise<void> {
  if (key === undefined) return;
  await placeAt(key, folder, request).catch((error) => {
    folder.signal?.throwIfAborted();
    if (isRefused(error)) throw error;
  });
}

/** Copies a committed snapshot to its exports. If that fails, it is stored all the same. Returns where a user finds it. */
export async function exportSnapshot(
  run: TargetRun,
  manifest: SnapshotManifest,
  request: StoreRequest,
): Promise<Pick<TargetOutcome, 'keyError'> & { readonly key: string }> {
  const { key: own } = manifest.object;
  if (!request.key && !request.fileName) return { key: own };
  // It would look like a good one.
  if (manifest.source.suspect?.length) return { key: own, keyError: { message: 'a suspect snapshot is not exported' } };
  const keys = exportKeys(manifest);
  // An earlier run for the same request had another one.
  if (request.key && !keys.includes(request.key))
    return { key: own, keyError: { message: `the snapshot of this request is not for ${request.key}` } };
  let found: string | undefined;
  for (const key of keys) {
    run.context.progress.phase('export', `copying it to ${key}`);
    try {
      const later = await exportTo(key, run, manifest, request);
      if (later === undefined) found ??= key;
      else run.warn(`${key} has the later snapshot ${later}, so this one is stored as ${own} alone`);
    } catch (error) {
      const { message, ...why } = run.failureAfter(key, error);
      return { key: own, keyError: { ...why, message: `${message}; the snapshot itself is stored as ${own}` } };
    }
  }
  return { key: found ?? own };
}

const ATTEMPTS = 5;

/** Returns the id of a later snapshot that has the key. */
async function exportTo(
  key: string,
  run: TargetRun,
  manifest: SnapshotManifest,
  request: StoreRequest,
): Promise<string | undefined> {
  const { store, path, signal } = run.folder;
  let hasWritten = false;
  for (let attempt = 1; ; attempt++) {
    const place = await placeAt(key, run.folder, request);
    const { object, beside, isOwn } = place;
    const later = isOwn && isLater(beside!, manifest) ? beside!.id : undefined;
    if (later !== undefined && object && !hasWritten) return later;
    // Its run was killed, or this one has replaced its payload between the two writes.
    const read = later === undefined ? { manifest } : await readManifest(store, manifestKey(path, later), { signal });
    if (!read || 'problem' in read) return later;
    try {
      await write(key, run, read.manifest, place, () => {
        hasWritten = true;
      });
    } catch (error) {
      // Another run has exported to the key meanwhile, or another program has written there.
      if (isRefused(error) && attempt < ATTEMPTS) continue;
      throw error;
    }
    // A deletion of the snapshot that was there may have taken the payload.
    const isThere = (await besideOf(key, run))?.id === read.manifest.id && (await statOf(run.folder, key));
    if (isThere) return later;
    if (attempt === ATTEMPTS) throw busy(key);
  }
}

async function besideOf(key: string, { folder: { store, signal } }: TargetRun): Promise<SnapshotManifest | undefined> {
  const read = await readManifest(store, exactManifestKey(key), { signal });
  return read && 'manifest' in read ? read.manifest : undefined;
}

const busy = (key: string) =>
  new AgentError(ExitCode.refused, `another run exports to ${key} at the same time; run them one after the other`);

const isLater = (one: SnapshotManifest, than: SnapshotManifest): boolean =>
  !inFuture({ manifest: one }) && Date.parse(one.createdAt) > Date.parse(than.createdAt);

async function write(
  key: string,
  run: TargetRun,
  manifest: SnapshotManifest,
  { object, beside, isOwn = false, isEmpty = false }: Place,
  onWritten: () => void,
): Promise<void> {
  const { store, signal } = run.folder;
  const at = exactManifestKey(key);
  const { sizeBytes } = manifest.object;
  const claim = { ...asExport(manifest, key), isPending: true };
  // Without it, what a killed run leaves would be a file of another program for every later one. What is not of an export stays until
  // there is one.
  const claims = isEmpty || (isOwn && !object);
  if (claims) await putJson(store, at, claim, { signal, onlyNew: isEmpty });
  const onBytes = (bytes: number) => run.context.progress.bytes(bytes, sizeBytes);
  const body = readStored(store, manifest, { signal, onBytes });
  const put = await store.put(key, body, { signal, sizeHint: sizeBytes, onlyNew: !object }).catch(async (error) => {
    if (!isRefused(error)) throw error;
    // The answer to the first try may have been lost.
    if (await isCopy(key, run, manifest)) return {};
    if (isEmpty) await withdraw(store, at, claim, { signal });
    throw error;
  });
  onWritten();
  const now = await besideOf(key, run);
  if (now && now.id !== (claims ? claim : beside)?.id) throw busy(key);
  await putJson(store, at, asExport(manifest, key, put), { signal });
  // An earlier agent has stored the payload beside the key.
  if (beside && isOfExactKey(at, beside) && beside.object.key !== key)
    await store.delete(beside.object.key, { signal });
}

/** Whether the payload at the key is that of the snapshot, byte for byte. */
async function isCopy(key: string, { folder: { store, signal } }: TargetRun, manifest: SnapshotManifest) {
  const there = await store.stat(key, { signal });
  if (there?.size !== manifest.object.sizeBytes) return false;
  try {
    const copy = { ...manifest, object: { ...manifest.object, key } };
    for await (const _ of readStored(store, copy, { signal }));
    return true;
  } catch (error) {
    if (error instanceof DamagedError) return false;
    throw error;
  }
}

/** What a manifest says of other snapshots of its folder is not so elsewhere. */
function asExport(
  { exports: _, sameEtcdSince: __, sameEtcdUntil: ___, object, ...manifest }: SnapshotManifest,
  key: string,
  put: object = {},
): SnapshotManifest {
  const { etag, parts, ...bytes } = object;
  return { ...manifest, isExport: true, object: { ...bytes, ...put, key } };
}
