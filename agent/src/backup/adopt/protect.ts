import { randomBytes } from 'node:crypto';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { Store } from '../../store/store.ts';
import { adoptingKeys } from '../catalog/catalog.ts';

/** Milliseconds. */
const DEADLINE = 10_000;

/** Runs the work while a marker keeps other runs from deleting the payload as a leftover. */
export async function whileMarked<T>(
  key: string,
  {
    store,
    signal,
    warn,
  }: { readonly store: Store; readonly signal?: AbortSignal; readonly warn: (message: string) => void },
  work: () => Promise<T>,
): Promise<T> {
  // Another run may be reading the payload too, and removes its own marker only.
  const marker = `${adoptingKeys(key)}${randomBytes(3).toString('hex')}`;
  const isMarked = await store.put(marker, (async function* () {})(), { signal, sizeHint: 0 }).then(
    () => true,
    (error) => {
      // The credentials for a restore may only allow reading.
      if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
      return false;
    },
  );
  try {
    return await work();
  } finally {
    // The run may have ended because of its own signal.
    if (isMarked)
      await store.delete(marker, { signal: AbortSignal.timeout(DEADLINE) }).catch((error) => {
        warn(`${marker} could not be deleted: ${messageOf(error)}; it does no harm, and counts for a day`);
      });
  }
}
