import type { CallOptions, Store, StoredObject } from '../../store/store.ts';
import { adoptingKeys } from './keys.ts';

/** Milliseconds. The marker of a command that was killed counts no longer than this. */
const LASTS = 86_400_000;

/** Whether `adopt` may be reading one of the payloads, by the store's clock. */
export async function isAdopting(
  store: Store,
  payloads: readonly Pick<StoredObject, 'key'>[],
  now: number,
  options: CallOptions,
): Promise<boolean> {
  for (const { key } of payloads) {
    for await (const { modified } of store.list(adoptingKeys(key), options)) {
      // An invalid time does not count as old.
      if (!(modified.getTime() <= now - LASTS)) return true;
    }
  }
  return false;
}
