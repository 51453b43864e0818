import { clusterOfMember, restoreNoteKey, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { folderOf } from '../../backup/catalog/identity/folder.ts';
import { noteKeysIn, readNotes } from '../../control-plane/state/noted-restores.ts';
import { type Served, servedIn } from '../../control-plane/state/served-revisions.ts';
import { messageOf } from '../../lib/errors.ts';
import { waitLimit } from '../../lib/limits/answer-limit.ts';
import { moreTime } from '../../lib/limits/run-limit.ts';
import type { CommandContext } from '../cli/command.ts';
import { ANSWER_LIMIT, answeringOf } from './answering.ts';
import type { OpenedStore } from './opened-store.ts';

export interface ServedInStore extends Omit<Served, 'here' | 'own'> {
  /** Keys of all notes of restores, also of single members. */
  readonly noteKeys: readonly string[];
}

/**
 * Collects the revisions that the store knows: of backups, and of restores noted in the folder or beside a snapshot under an
 * exact key. What the store does not give out in time is left out, and `unread` says so of notes.
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
  let unread: string | undefined;
  const onFault = (error: unknown) => {
    unread ??= messageOf(error);
  };
  const noted = async () => {
    const { store } = opened;
    const keys = await Promise.all([folder, ...beside].map((prefix) => noteKeysIn(store, prefix, limited, onFault)));
    return { noteKeys: keys.flat(), notes: await readNotes(store, keys.flat(), limited, onFault) };
  };
  // At the same time: a manifest that hangs must leave the notes theirs.
  const [entries, { noteKeys, notes }] = await Promise.all([answeringOf(opened, { signal }).catch(() => []), noted()]);
  signal.throwIfAborted();
  const marked = noteKeys.flatMap((key) => clusterOfMember(key) ?? []);
  return { ...servedIn([...entries, entry]), notes, noteKeys, marked, unread };
}
