import type { Store } from '../../store/store.ts';

/** Milliseconds; a pod that is told to stop has 20 s to leave. */
const DEADLINE = 10_000;

/** Removes a payload whose manifest will never be written; what cannot be removed now, a later sweep removes. */
export async function discard(store: Store, key: string): Promise<void> {
  // Not the run's own signal: that may be what ended it.
  await store.delete(key, { signal: AbortSignal.timeout(DEADLINE) }).catch(() => {});
}
