import type { CallOptions, Store, StoredObject } from '../../store/store.ts';
import { adoptingKey } from './keys.ts';

/** Milliseconds. The marker of a command that was killed counts no longer than this. */
const LASTS = 86_400_000;

/** Whether `adopt` may be reading one of the payloads, by the store's clock. */
export async function isAdopting(
  store: Store,
  payloads: readonly Pick<StoredObject, 'key'>[],
  now: number,
  options: CallOptions,
): Promise<boolean> {
  const markers = await Promise.all(payloads.map(({ key }) => store.stat(adoptingKey(key), options)));
  // An invalid time does not count as old.
  return markers.some((marker) => marker !== undefined && !(marker.modified.getTime() <= now - LASTS));
}
