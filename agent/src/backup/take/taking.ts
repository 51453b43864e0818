import { AgentError, ExitCode, messageOf, type Warn } from '../../lib/errors.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { putJson, takingKey } from '../catalog/catalog.ts';
import { DEADLINE } from './discard.ts';

/**
 * Writes the marker without which a payload that a killed run leaves looks like one whose manifest was lost. It names
 * the etcd. A store may refuse it: the snapshot matters more.
 */
export async function markTaking(
  store: Store,
  folder: string,
  id: string,
  { clusterId, warn, ...options }: CallOptions & { readonly clusterId: string; readonly warn: Warn },
): Promise<void> {
  const key = takingKey(folder, id);
  await putJson(store, key, { clusterId }, options).catch((error) => {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
    warn(
      `${key} could not be written: ${error.message}; the run goes on without it, but if it is killed, its payload counts as one that has lost its manifest: no later run removes it`,
      { kind: 'markerMissing' },
    );
  });
}

/** Removes the marker after the manifest was written. The snapshot is stored, so a failure is only a warning. */
export async function unmarkTaking(store: Store, folder: string, id: string, warn: Warn): Promise<void> {
  const key = takingKey(folder, id);
  // Do not use the run's signal: the run may have ended because of it.
  await store.delete(key, { signal: AbortSignal.timeout(DEADLINE) }).catch((error) => {
    warn(
      `${key} could not be removed: ${messageOf(error)}; if the manifest of ${id} is lost while it is there, the payload counts as a leftover of a killed backup and may be swept`,
      { kind: 'markerLeft' },
    );
  });
}
