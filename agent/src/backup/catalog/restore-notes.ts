import type { CallOptions, Store } from '../../store/store.ts';
import { type Entry, restoreKey, restoreNote } from './catalog.ts';
import { orNothing, putText, readText } from './documents.ts';
import type { Folder } from './folder.ts';
import { folderOf, type NamedCluster } from './identity/folder.ts';
import { isOf } from './identity/identity.ts';
import { isRefused } from './withdraw.ts';

/**
 * Returns the key of the note that `clusterId` was restored from a snapshot: beside the snapshot. A snapshot under an exact
 * key is not in the catalog, so its note lies beside the newest snapshot of the same line. Undefined if there is none.
 */
export function noteKeyOf(
  { id, manifest }: Pick<Entry, 'id' | 'manifest'>,
  entries: readonly Entry[],
  named: NamedCluster,
  clusterId: string,
): string | undefined {
  const past =
    isOf(named, { manifest }) && manifest ? [manifest.source.clusterId, ...(manifest.cluster.lineage ?? [])] : [];
  const isPast = ({ source }: NonNullable<Entry['manifest']>) =>
    source.clusterId !== 'unknown' && past.includes(source.clusterId);
  const beside =
    entries.find((entry) => entry.id === id) ??
    entries.find((entry) => isOf(named, entry) && entry.manifest && isPast(entry.manifest));
  return beside && restoreKey(folderOf(named), beside.id, clusterId);
}

/**
 * Moves the restore notes of a snapshot that is about to be deleted to the newest snapshot of the same line among those
 * that `stay`: without the notes, nothing connects the two clusters. If none stays, there is nothing to connect.
 */
export async function moveNotes(
  { store, signal }: Folder,
  named: NamedCluster,
  entry: Entry,
  stay: readonly Entry[],
): Promise<void> {
  for (const { key } of entry.objects) {
    const to = keyAmong(stay, key, entry, named);
    if (to) await copyNote(key, to, { from: store, to: store }, { signal });
  }
}

/**
 * Copies a restore note of a snapshot that the other store does not have, to where `moveNotes` would move it. If it has
 * none of the line, the note keeps its key: a restore must still find the revisions in it. A note that lies beside any snapshot
 * there connects the clusters already.
 */
export async function copyNoteAlone(
  key: string,
  entry: Pick<Entry, 'id' | 'manifest'>,
  named: NamedCluster,
  { there, ...stores }: Stores & { readonly there: readonly Entry[] },
  options: CallOptions,
): Promise<void> {
  const [suffix] = restoreNote.exec(key) ?? [];
  const isNoted = ({ manifest, objects }: Entry) =>
    manifest && objects.some((one) => restoreNote.exec(one.key)?.[0] === suffix);
  if (suffix !== undefined && there.some(isNoted)) return;
  await copyNote(key, keyAmong(there, key, entry, named) ?? key, stores, options);
}

interface Stores {
  readonly from: Store;
  readonly to: Store;
}

function keyAmong(
  entries: readonly Entry[],
  key: string,
  entry: Pick<Entry, 'id' | 'manifest'>,
  named: NamedCluster,
): string | undefined {
  const [suffix, , clusterId] = restoreNote.exec(key) ?? [];
  return clusterId && noteKeyOf(entry, entries, named, clusterId)?.replace(restoreNote, suffix!);
}

async function copyNote(key: string, at: string, { from, to }: Stores, options: CallOptions): Promise<void> {
  const text = await orNothing(readText(from, key, options));
  if (text === undefined || (await to.stat(at, options))) return;
  await putText(to, at, text, { ...options, onlyNew: true }).catch((error) => {
    if (!isRefused(error)) throw error;
  });
}
