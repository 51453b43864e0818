import { basename } from 'node:path/posix';
import type { StoredObject } from '../../store/store.ts';
import type { Brief } from './manifest.ts';
import { type Entry, inFuture } from './snapshot.ts';
import { isSnapshotId, splitName } from './snapshot-id.ts';

export const exportKeys = ({ exports = [] }: Pick<Brief, 'exports'>): readonly string[] =>
  exports.map(({ key }) => key);

/** Every key at which the payload of a snapshot may lie. */
export const payloadKeys = (manifest: Brief): readonly string[] => [manifest.object.key, ...exportKeys(manifest)];

/** A name of ours is that of a payload, or of what lies beside one. Earlier agents stored `KEY.ID` beside a key of the user. */
export const isNameOfOurs = (key: string): boolean => {
  const name = basename(key);
  return isSnapshotId(splitName(name)?.id ?? '') || isSnapshotId(name.slice(name.lastIndexOf('.') + 1));
};

type Exporter = Entry & { readonly manifest: Brief };

/** One that is dated in the future comes last: its date says nothing. */
const byDate = (newestFirst: readonly Entry[]): readonly Entry[] => [
  ...newestFirst.filter((entry) => !inFuture(entry)),
  ...newestFirst.filter((entry) => inFuture(entry)),
];

/** The snapshots that were exported to a key. The export is that of the first. */
export const exportersOf = (newestFirst: readonly Entry[], key: string): readonly Exporter[] =>
  byDate(newestFirst).filter(
    (entry): entry is Exporter => !!entry.manifest && exportKeys(entry.manifest).includes(key),
  );

/** Whether an object is an export, as far as this is known without reading it: anybody may have replaced it. */
export const isExport = ({ key, size }: StoredObject, entries: readonly Entry[]): boolean =>
  exportersOf(entries, key).some(({ manifest }) => manifest.object.sizeBytes === size);

/** The newest snapshot that was exported under a name: a key, or the name of a file without its ending. */
export const exportedAs = (newestFirst: readonly Entry[], name: string): Entry | undefined =>
  byDate(newestFirst).find(
    ({ manifest }) =>
      manifest && exportKeys(manifest).some((key) => key === name || splitName(basename(key))?.id === name),
  );

/** Why retention keeps the newest snapshot under each key of `--object-key`, by id: a user has named it so. */
export function keptExports(newestFirst: readonly Entry[]): ReadonlyMap<string, string> {
  const newest = new Map<string, string>();
  for (const { id, manifest } of byDate(newestFirst)) {
    for (const { key, kept } of manifest?.exports ?? []) if (kept && !newest.has(key)) newest.set(key, id);
  }
  return new Map([...newest].map(([key, id]) => [id, `exported to ${key}`]));
}
