import { basename, dirname } from 'node:path/posix';
import type { CallOptions, Store } from '../../store/store.ts';
import { readManifest } from './documents.ts';
import type { Folder } from './folder.ts';
import { exactManifestKey, isValidKey } from './keys.ts';
import type { Brief, SnapshotManifest } from './manifest.ts';
import { type Entry, inFuture } from './snapshot.ts';
import { isSnapshotId, splitName } from './snapshot-id.ts';

export const exportKeys = ({ exports = [] }: Pick<Brief, 'exports'>): readonly string[] =>
  exports.map(({ key }) => key);

/** A name of ours is that of a payload, or of what lies beside one. Earlier agents stored `KEY.ID` beside a key of the user. */
export const isNameOfOurs = (key: string): boolean => {
  const name = basename(key);
  return isSnapshotId(splitName(name)?.id ?? '') || isSnapshotId(name.slice(name.lastIndexOf('.') + 1));
};

/** Whether the manifest beside a key is that of an export. */
export const isExport = ({ isExport, object }: SnapshotManifest, key: string): boolean =>
  isExport === true && object.key === key;

/** The id of the snapshot whose export is at a key, as far as the store says it. */
export async function exportedFrom(store: Store, key: string, options: CallOptions): Promise<string | undefined> {
  const read = await readManifest(store, exactManifestKey(key), options);
  return read && 'manifest' in read && isExport(read.manifest, key) ? read.manifest.id : undefined;
}

/** One that is dated in the future comes last: its date says nothing. */
const byDate = (newestFirst: readonly Entry[]): readonly Entry[] => [
  ...newestFirst.filter((entry) => !inFuture(entry)),
  ...newestFirst.filter((entry) => inFuture(entry)),
];

/** The newest snapshot that was exported to a key, or into its folder as a file of this name without its ending. */
export const exportedAs = (newestFirst: readonly Entry[], name: string): Entry | undefined =>
  byDate(newestFirst).find(({ manifest }) =>
    exportKeys(manifest ?? {}).some(
      (key) =>
        key === name || (dirname(key) === dirname(manifest!.object.key) && splitName(basename(key))?.id === name),
    ),
  );

/**
 * Why retention keeps the newest snapshot under each key of `--object-key`, by id: a user has named it so. If the export of the newest
 * failed, that of an earlier one is there, and is kept too.
 */
export async function keptExports(
  { store, signal }: Pick<Folder, 'store' | 'signal'>,
  newestFirst: readonly Entry[],
): Promise<Map<string, string>> {
  const ids = new Map<string, string[]>();
  for (const { id, manifest } of byDate(newestFirst))
    for (const { key, kept } of manifest?.exports ?? []) if (kept) ids.set(key, [...(ids.get(key) ?? []), id]);
  const byId = new Map<string, string>();
  for (const [key, [newest, ...others]] of ids) {
    byId.set(newest!, `exported to ${key}`);
    if (others.length === 0 || !isValidKey(key)) continue;
    const id = await exportedFrom(store, key, { signal }).catch(() => {
      signal?.throwIfAborted();
      return others[0];
    });
    if (id !== undefined) byId.set(id, `exported to ${key}`);
  }
  return byId;
}

/** Why a list keeps snapshots, by id: it may name one by that of its export. */
export function listedIn(
  newestFirst: readonly Entry[],
  list: ReadonlyMap<string, string> | undefined,
): Map<string, string> {
  const byId = new Map(list);
  for (const [name, reason] of list ?? []) byId.set(exportedAs(newestFirst, name)?.id ?? name, reason);
  return byId;
}
