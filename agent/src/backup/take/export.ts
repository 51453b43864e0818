import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Remark } from '../../lib/finding.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { type Entry, exactManifestKey, isOfExactKey, readCatalog, readManifest } from '../catalog/catalog.ts';
import { exportersOf, exportKeys, isExport } from '../catalog/exports.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { isRefused } from '../catalog/withdraw.ts';
import { readStored } from '../payload/read-payload.ts';
import type { StoreRequest } from './request.ts';
import type { TargetRun } from './target-run.ts';

/** Throws if something is under the key that may not be replaced: neither an export nor, with `--overwrite`, anything else. */
export async function refuseTaken(
  store: Store,
  key: string,
  { overwrite, entries }: { readonly overwrite: boolean; readonly entries: readonly Entry[] },
  options: CallOptions,
): Promise<'nothing' | 'replaced'> {
  const there = await store.stat(key, options);
  if (overwrite || (there && isExport(there, entries))) return there ? 'replaced' : 'nothing';
  const taken = there ?? (await store.stat(exactManifestKey(key), options));
  if (!taken) return 'nothing';
  throw new AgentError(ExitCode.refused, `${taken.key} exists in ${store.url}`, {
    ...{ at: 'objectKey', finding: { kind: 'keyTaken' } },
  });
}

/** Copies a committed snapshot to its exports. Returns why that failed: the snapshot is stored all the same. */
export async function exportSnapshot(
  run: TargetRun,
  manifest: SnapshotManifest,
  request: StoreRequest,
): Promise<Remark | undefined> {
  if (!request.key && !request.fileName) return undefined;
  // It would look like a good one.
  if (manifest.source.suspect?.length) return { message: 'a suspect snapshot is not exported' };
  for (const key of exportKeys(manifest)) {
    run.context.progress.phase('export', `copying it to ${key}`);
    try {
      await exportTo(key, run, manifest, request);
    } catch (error) {
      const { message, ...why } = run.failureAfter(key, error);
      return { ...why, message: `${message}; the snapshot itself is stored as ${manifest.object.key}` };
    }
  }
  return undefined;
}

/** Where a user looks for the snapshot: at its export. */
export const placeOf = (manifest: SnapshotManifest, keyError: Remark | undefined) => ({
  key: (keyError ? undefined : exportKeys(manifest)[0]) ?? manifest.object.key,
  keyError,
});

const ATTEMPTS = 3;

async function exportTo(
  key: string,
  run: TargetRun,
  manifest: SnapshotManifest,
  { overwrite }: StoreRequest,
): Promise<void> {
  const { store, signal } = run.folder;
  const { sizeBytes } = manifest.object;
  for (let attempt = 1; ; attempt++) {
    const there = await lookAt(key, run, manifest, overwrite);
    if (there === 'newer') return;
    const onBytes = (bytes: number) => run.context.progress.bytes(bytes, sizeBytes);
    const body = readStored(store, manifest, { signal, onBytes });
    try {
      await store.put(key, body, { signal, sizeHint: sizeBytes, onlyNew: there === 'nothing' });
    } catch (error) {
      // Another run has exported to the key meanwhile, or another program has written there.
      if (isRefused(error) && attempt < ATTEMPTS) continue;
      throw error;
    }
    if (overwrite) await dropExact(store, key, { signal });
    return;
  }
}

/** Not a part of the export itself: while that waits, V8 keeps whatever its variables once led to. */
async function lookAt(key: string, run: TargetRun, { createdAt }: SnapshotManifest, overwrite: boolean) {
  const { store, signal } = run.folder;
  const entries = await entriesOf(run);
  const [newest] = exportersOf(entries, key);
  if (newest && Date.parse(newest.manifest.createdAt) > Date.parse(createdAt)) return 'newer' as const;
  return refuseTaken(store, key, { overwrite, entries }, { signal });
}

/** A backup needs no right to list. */
const entriesOf = ({ folder }: TargetRun): Promise<readonly Entry[]> =>
  readCatalog(folder, { mayLackAll: true }).catch((error) => {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
    return [];
  });

/** Removes the rest of the snapshot that an earlier agent has stored under the key itself. No command looks there any more. */
async function dropExact(store: Store, key: string, options: CallOptions): Promise<void> {
  const at = exactManifestKey(key);
  const drop = async () => {
    const read = await readManifest(store, at, options);
    if (!read || 'problem' in read || !isOfExactKey(at, read.manifest)) return;
    await store.delete(at, options);
    if (read.manifest.object.key !== key) await store.delete(read.manifest.object.key, options);
  };
  await drop().catch(() => options.signal?.throwIfAborted());
}
