import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { StoredObject } from '../../store/store.ts';
import { exactManifestKey, inFuture, isOfExactKey, manifestKey, putJson, readManifest } from '../catalog/catalog.ts';
import { exportKeys, readExport } from '../catalog/exports.ts';
import type { Folder } from '../catalog/folder.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { isRefused, withdraw } from '../catalog/withdraw.ts';
import { readStored } from '../payload/read-payload.ts';
import type { StoreRequest, TargetOutcome } from './request.ts';
import type { TargetRun } from './target-run.ts';

// An export is a copy of a payload with a manifest of its own beside it: it can be restored without the folder that it is from, and the
// manifest says whose the key is.

interface Place {
  /** The payload that is there. */
  readonly object?: StoredObject | undefined;
  /** The export that it is. */
  readonly earlier?: SnapshotManifest;
  /** Where the payload lies of a snapshot that an earlier agent has stored under the key. */
  readonly stale?: string | undefined;
  readonly isEmpty?: boolean;
}

/** Throws if something is under the key that may not be replaced: neither an export of the cluster nor, with `--overwrite`, anything else. */
async function placeAt(
  key: string,
  { store, signal }: Pick<Folder, 'store' | 'signal'>,
  { overwrite, ...named }: NamedCluster & Pick<StoreRequest, 'overwrite'>,
): Promise<Place> {
  const options = { signal };
  const at = exactManifestKey(key);
  const [read, object] = [await readExport(store, key, options), await store.stat(key, options)];
  if (read && 'manifest' in read && folderOf(ownerIn(read.manifest)) === folderOf(named))
    return { object, earlier: read.manifest };
  const taken = object ?? (await store.stat(at, options));
  if (!taken) return { isEmpty: true };
  if (overwrite) {
    const old = await readManifest(store, at, options);
    const isStale = old && 'manifest' in old && isOfExactKey(at, old.manifest) && old.manifest.object.key !== key;
    return { object, stale: isStale ? old.manifest.object.key : undefined };
  }
  if (read && 'problem' in read && read.unread === 'refused')
    throw new AgentError(ExitCode.storeRefused, `${at}: ${read.problem}`);
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

const ATTEMPTS = 3;

/** Returns the id of a later snapshot that has the key. */
async function exportTo(
  key: string,
  run: TargetRun,
  manifest: SnapshotManifest,
  request: StoreRequest,
): Promise<string | undefined> {
  const { store, path, signal } = run.folder;
  for (let attempt = 1; ; attempt++) {
    const place = await placeAt(key, run.folder, request);
    const later = place.earlier && isLater(place.earlier, manifest) ? place.earlier.id : undefined;
    if (later !== undefined && attempt === 1) return later;
    // This run may have replaced the payload of the later one between its two writes.
    const read = later === undefined ? { manifest } : await readManifest(store, manifestKey(path, later), { signal });
    if (!read || 'problem' in read) return later;
    try {
      await write(key, run, read.manifest, place);
    } catch (error) {
      // Another run has exported to the key meanwhile, or another program has written there.
      if (isRefused(error) && attempt < ATTEMPTS) continue;
      throw error;
    }
    if ((await idAt(key, run)) === read.manifest.id) return later;
    if (attempt === ATTEMPTS) throw busy(key);
  }
}

async function idAt(key: string, { folder: { store, signal } }: TargetRun): Promise<string | undefined> {
  const read = await readExport(store, key, { signal });
  return read && 'manifest' in read ? read.manifest.id : undefined;
}

const busy = (key: string) =>
  new AgentError(ExitCode.refused, `another run exports to ${key} at the same time; run them one after the other`);

const isLater = (one: SnapshotManifest, than: SnapshotManifest): boolean =>
  !inFuture({ manifest: one }) && Date.parse(one.createdAt) > Date.parse(than.createdAt);

async function write(
  key: string,
  run: TargetRun,
  manifest: SnapshotManifest,
  { object, earlier, isEmpty = false, stale }: Place,
): Promise<void> {
  const { store, signal } = run.folder;
  const at = exactManifestKey(key);
  const { sizeBytes } = manifest.object;
  const claim = asExport(manifest, key);
  // Without it, what a killed run leaves would be a file of another program for every later one.
  if (!object) await putJson(store, at, claim, { signal, onlyNew: isEmpty });
  const body = readStored(store, manifest, {
    signal,
    onBytes: (bytes) => run.context.progress.bytes(bytes, sizeBytes),
  });
  const put = await store.put(key, body, { signal, sizeHint: sizeBytes, onlyNew: !object }).catch(async (error) => {
    if (!object && isRefused(error)) await withdraw(store, at, claim, { signal });
    throw error;
  });
  if ((await idAt(key, run)) !== (object ? earlier : claim)?.id) throw busy(key);
  await putJson(store, at, asExport(manifest, key, put), { signal });
  if (stale !== undefined) await store.delete(stale, { signal });
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
