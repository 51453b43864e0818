import { AgentError, ExitCode, messageOf, type Warn } from '../../lib/errors.ts';
import type { Store } from '../../store/store.ts';
import { putJson, takingKey } from '../catalog/catalog.ts';
import type { Folder } from '../catalog/folder.ts';
import type { TargetRun } from './target-run.ts';

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

/**
 * Writes the marker without which a payload that a killed run leaves looks like one whose manifest was lost. It names
 * the etcd. A store may refuse it: the snapshot matters more.
 */
export async function markTaking(
  { store, path, signal }: Folder,
  id: string,
  { clusterId, warn }: { readonly clusterId: string; readonly warn: Warn },
): Promise<void> {
  const key = takingKey(path, id);
  await putJson(store, key, { clusterId }, { signal }).catch((error) => {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
    warn(
      `${key} could not be written: ${error.message}; the run goes on without it, but if it is killed, its payload counts as one that has lost its manifest: no later run removes it`,
      { kind: 'markerMissing' },
    );
  });
}

/** Removes what marks the snapshot as one that this run is writing. The snapshot may be stored, so a failure is only a warning. */
export async function unmark(
  { folder: { store, path }, committed, warn }: TargetRun,
  { id, key }: { readonly id: string; readonly key: string },
): Promise<void> {
  const marker = takingKey(path, id);
  if (!committed) {
    // After a failure the store may have the payload.
    if (await isAbsent(store, key)) await discard(store, marker);
  } else {
    // Do not use the run's signal: the run may have ended because of it.
    await store.delete(marker, { signal: AbortSignal.timeout(DEADLINE) }).catch((error) => {
      warn(
        `${marker} could not be removed: ${messageOf(error)}; if the manifest of ${id} is lost while it is there, the payload counts as a leftover of a killed backup and may be swept`,
        { kind: 'markerLeft' },
      );
    });
  }
}
