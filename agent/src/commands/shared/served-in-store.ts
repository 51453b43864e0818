import { restoreNoteKey, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { folderOf } from '../../backup/catalog/identity/folder.ts';
import { noteKeysIn, readNotes } from '../../control-plane/state/noted-restores.ts';
import { type Served, servedIn } from '../../control-plane/state/served-revisions.ts';
import { waitLimit } from '../../lib/limits/answer-limit.ts';
import { moreTime } from '../../lib/limits/run-limit.ts';
import type { CommandContext } from '../cli/command.ts';
import { ANSWER_LIMIT, answeringOf } from './answering.ts';
import type { OpenedStore } from './opened-store.ts';

export interface ServedInStore extends Pick<Served, 'inStore' | 'newest' | 'notes'> {
  /** Keys of all notes of restores, also of single members. */
  readonly noteKeys: readonly string[];
}

/**
 * Collects the revisions that the store knows: of backups, and of restores noted in the folder or beside a snapshot under an
 * exact key. What the store does not give out in time is left out.
 */
export async function servedInStore(
  opened: OpenedStore,
  entry: WholeEntry,
  { signal }: Pick<CommandContext, 'signal'>,
): Promise<ServedInStore> {
  moreTime(signal, ANSWER_LIMIT / 1000);
  const limited = AbortSignal.any([signal, waitLimit(ANSWER_LIMIT, signal)]);
  const folder = `${folderOf(opened)}/`;
  const beside = entry.manifestKey.startsWith(folder)
    ? []
    : [restoreNoteKey(entry.manifestKey, '').replace(/\.json$/, '')];
  const noted = async () => {
    const keys = await Promise.all([folder, ...beside].map((prefix) => noteKeysIn(opened.store, prefix, limited)));
    return { noteKeys: keys.flat(), notes: await readNotes(opened.store, keys.flat(), limited) };
  };
  // At the same time: a manifest that hangs must leave the notes theirs.
  const [entries, { noteKeys, notes }] = await Promise.all([answeringOf(opened, { signal }).catch(() => []), noted()]);
  signal.throwIfAborted();
  return { ...servedIn([...entries, entry]), notes, noteKeys };
}
