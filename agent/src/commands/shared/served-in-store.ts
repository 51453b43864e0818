import { clusterOfMember, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { folderOf } from '../../backup/catalog/identity/folder.ts';
import { type Noted, notedIn } from '../../control-plane/state/noted-restores.ts';
import { type Served, servedIn } from '../../control-plane/state/served-revisions.ts';
import { ANSWER } from '../../lib/limits/budget.ts';
import type { CommandContext } from '../cli/command.ts';
import { answeringOf } from './answering.ts';
import type { OpenedStore } from './opened-store.ts';

export type ServedInStore = Omit<Served, 'here' | 'own'> & Noted;

/**
 * Collects the revisions that the store knows: of backups, and of restores noted in the folder or beside a snapshot under an
 * exact key. What the store does not give out in time is left out, and `unread` says so of notes.
 */
export async function servedInStore(
  opened: OpenedStore,
  entry: WholeEntry,
  { budget }: Pick<CommandContext, 'budget'>,
): Promise<ServedInStore> {
  budget.extend(ANSWER);
  const limited = budget.wait(ANSWER).signal;
  const folder = `${folderOf(opened)}/`;
  const beside = entry.manifestKey.startsWith(folder) ? [] : [entry.manifestKey.replace(/json$/, '')];
  const noted = notedIn(opened.store, [folder, ...beside], limited);
  // At the same time: a manifest that hangs must leave the notes theirs.
  const [entries, found] = await Promise.all([answeringOf(opened, { budget }).catch(() => []), noted]);
  budget.signal.throwIfAborted();
  const marked = found.noteKeys.flatMap((key) => clusterOfMember(key) ?? []);
  return { ...servedIn([...entries, entry]), ...found, marked };
}
