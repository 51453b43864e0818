import { putJson, restoreKey } from '../backup/catalog.ts';
import type { CommandContext } from '../command.ts';
import { messageOf } from '../errors.ts';
import type { OpenedStore } from './store-run.ts';

/** Beside the snapshot, so that later backups of the restored cluster know the snapshots of the old one as its own past. */
export async function noteRestore(
  { store, cluster, entries }: OpenedStore,
  id: string,
  clusterId: string,
  { signal, log }: CommandContext,
): Promise<void> {
  const key = restoreKey(cluster, id, clusterId);
  // Also when it was restored before: that run may have been killed before it came to this.
  if (await store.stat(key, { signal }).catch(() => undefined)) return;
  const note = { schema: 'cdk8s-etcd/restore/v1', id, clusterId, at: new Date().toISOString() };
  await putJson(store, key, note, { signal }).catch((error) => {
    const from = entries.find((entry) => entry.id === id)?.manifest?.source.clusterId;
    log.warn(
      `the restore could not be noted in the store (${messageOf(error)}); give --restored-from ${from} to the next backup`,
    );
  });
}
