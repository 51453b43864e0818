import { basename, dirname } from 'node:path/posix';
import type { CallOptions, Store } from '../../store/store.ts';
import { readManifest, type Unusable } from './documents.ts';
import { exactManifestKey } from './keys.ts';
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

/** The manifest of the export at a key. Undefined if there is none: what is there, if anything, is no export. */
export async function readExport(
  store: Store,
  key: string,
  options: CallOptions,
): Promise<{ readonly manifest: SnapshotManifest } | Unusable | undefined> {
  const read = await readManifest(store, exactManifestKey(key), options);
  if (!read || 'problem' in read) return read?.unread ? read : undefined;
  return read.manifest.isExport && read.manifest.object.key === key ? read : undefined;
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
 * Why retention keeps snapshots whatever its rules say, by id: a list names them, perhaps by the name of an export, or they are the newest
 * under a key of `--object-key`, by which a user has named them.
 */
export function keptBy(
  newestFirst: readonly Entry[],
  list: ReadonlyMap<string, string> | undefined,
): ReadonlyMap<string, string> {
  const newest = new Map<string, string>();
  for (const { id, manifest } of byDate(newestFirst)) {
    for (const { key, kept } of manifest?.exports ?? []) if (kept && !newest.has(key)) newest.set(key, id);
  }
  const byId = new Map([...newest].map(([key, id]) => [id, `exported to ${key}`]));
  for (const [name, reason] of list ?? [])
    byId.set(name, reason).set(exportedAs(newestFirst, name)?.id ?? name, reason);
  return byId;
}
