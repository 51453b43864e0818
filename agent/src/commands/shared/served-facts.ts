import type { Entry } from '../../backup/catalog/catalog.ts';
import { folderOf } from '../../backup/catalog/identity/folder.ts';
import type { ServedRequest } from '../../control-plane/state/served-revisions.ts';
import type { CommandContext } from '../cli/command.ts';
import type { OpenedStore } from './opened-store.ts';
import { withoutManifest } from './store-run.ts';

/**
 * Returns what the store can say of revisions that were served: besides these snapshots, those without a manifest, and the notes
 * of restores beside them and in the folder. Every restore asks with this, so that none overlooks what another one counts.
 */
export async function servedFacts(
  opened: OpenedStore,
  entries: readonly Entry[],
  { signal }: Pick<CommandContext, 'signal'>,
): Promise<Pick<ServedRequest, 'store' | 'entries' | 'noted' | 'folder'>> {
  const { store, readNoted } = opened;
  const without = await withoutManifest(opened, { signal });
  return { store, entries: [...entries, ...without], noted: await readNoted(), folder: folderOf(opened) };
}
