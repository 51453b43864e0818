import type { Store } from '../../store/store.ts';

/** Milliseconds. A pod that is being stopped has 20 s to end. */
export const DEADLINE = 10_000;

/** Deletes an object that this run will not commit. If that fails, a later sweep deletes it. */
export async function discard(store: Store, key: string): Promise<void> {
  // Do not use the run's signal: the run may have ended because of it.
  await store.delete(key, { signal: AbortSignal.timeout(DEADLINE) }).catch(() => {});
}

/** Milliseconds for a question that a run asks beside its cleanup, which may use up its deadline. */
export const BRIEF = 3_000;

/** Whether the store is known not to have the object. */
export async function isAbsent(store: Store, key: string, limit = BRIEF): Promise<boolean> {
  const found = store.stat(key, { signal: AbortSignal.timeout(limit) });
  return found.then(
    (object) => object === undefined,
    () => false,
  );
}
