import { type Entry, IncompleteError, manifestKey } from '../../backup/catalog/catalog.ts';
import { anyEntry } from '../../backup/catalog/select.ts';
import { impatience, readEach } from '../../backup/catalog/silence.ts';
import type { AgentError } from '../../lib/errors.ts';
import { budgetOf } from '../../store/store.ts';
import { said } from '../advice/advice.ts';
import type { OpenedStore } from './opened-store.ts';

/**
 * Returns the snapshots with these ids. One that fails or hangs does not keep the others from being read. `incomplete` may
 * give an entry for one without a manifest.
 */
export async function namedEntries(
  opened: OpenedStore,
  ids: readonly string[],
  signal: AbortSignal,
  incomplete: (id: string) => Promise<Entry | undefined> = async () => undefined,
): Promise<readonly Entry[]> {
  const { store } = opened;
  const named = [...new Set(ids)];
  const isAlone = named.length === 1;
  const impatient = isAlone ? () => store : impatience(store);
  const read = async (id: string): Promise<Entry> => {
    try {
      return await anyEntry(opened.folder.within(impatient()), id);
    } catch (error) {
      const found = error instanceof IncompleteError ? await incomplete(id) : undefined;
      if (found) return found;
      throw error;
    }
  };
  const without = (id: string, error: AgentError) => silentEntry(opened, id, error);
  return readEach(named, read, { signal, budget: budgetOf(store), without: isAlone ? undefined : without });
}

const silentEntry = (named: OpenedStore, id: string, error: AgentError): Entry => ({
  id,
  manifestKey: manifestKey(named.folder.path, id),
  pinned: false,
  restoredAs: [],
  objects: [],
  state: 'unreachable',
  problem: `cannot be read: ${said(error)}`,
});
