import { timeAt } from '../../store/clock.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { mayRunUntil } from './catalog.ts';
import { deletingKey } from './keys.ts';

/** Until when retention may be deleting a snapshot. Undefined if it is not: an older marker is that of a run that was killed. */
export async function mayBeDeletedUntil(
  store: Store,
  folder: string,
  id: string,
  options: CallOptions,
): Promise<string | undefined> {
  const marker = await store.stat(deletingKey(folder, id), options);
  return marker && mayRunUntil(marker, await timeAt(store, options));
}
