import { AgentError, ExitCode, messageOf } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { manifestKey, putJson, readCatalog } from './catalog.ts';
import { discard } from './discard.ts';
import { exactManifestKey, replaceKey } from './exact-key.ts';
import { putExtra } from './extra.ts';
import { lineageOf } from './lineage.ts';
import type { Manifest } from './manifest.ts';
import { prune } from './prune.ts';
import type { RunContext, StoreRequest, Target, TargetOutcome } from './store-snapshot.ts';
import { verifySnapshot } from './verify.ts';

/** Verifies what was stored, and only then writes the manifest; retention comes last, and its failure costs no snapshot. */
export async function commit(
  target: Target,
  manifest: Manifest,
  request: StoreRequest,
  context: RunContext,
  extra?: Buffer,
): Promise<TargetOutcome> {
  const { store, retention } = target;
  const { progress, signal } = context;
  let { level } = request;
  if (level !== 'stream') {
    progress.phase('read-back', `reading it back from ${store.url}`);
    const onBytes = (bytes: number) => progress.bytes(bytes, manifest.object.sizeBytes);
    const proof = await verifySnapshot(store, manifest, { ...request, signal, onBytes }).catch(async (error) => {
      await discard(store, manifest.object.key);
      signal.throwIfAborted();
      throw error;
    });
    level = proof.level;
    if (level !== request.level) context.log.warn({ store: store.url }, `verified only by reading it: ${proof.detail}`);
  }
  if (manifest.extra && extra) {
    progress.phase('extra', 'storing the extra files');
    await putExtra(store, manifest.extra, extra, { signal }).catch(async (error) => {
      await discardAll(store, manifest);
      signal.throwIfAborted();
      throw error;
    });
  }
  const verified = manifest.source.suspect ? undefined : { level, at: new Date().toISOString() };
  progress.phase('manifest', 'writing the manifest');
  const committed = { ...manifest, verified };
  const commitKey = request.key ? exactManifestKey(manifest.object.key) : manifestKey(request.cluster, manifest.id);
  await putJson(store, commitKey, committed, { signal }).catch(async (error) => {
    // Only a refusal is certain: after any other failure the manifest may be there.
    if (error instanceof AgentError && error.exitCode === ExitCode.storeRefused) await discardAll(store, manifest);
    throw error;
  });
  const outcome = { store: store.url, key: request.key ?? manifest.object.key, verified: verified?.level };
  if (request.key && request.overwrite) await replaceKey(store, committed, request.key, { signal });
  if (request.key || !retention) return outcome;
  progress.phase('retention', 'applying retention');
  try {
    const entries = await readCatalog(store, request.cluster, { signal });
    const { deleted, retained, deferred, veto } = await prune(
      store,
      request.cluster,
      entries,
      retention,
      {
        now: new Date(),
        storeNow: await store.now({ signal }),
        clusterName: request.cluster,
        namespace: request.namespace,
        cluster: {
          id: manifest.source.clusterId,
          lineage: lineageOf(entries, manifest.source.clusterId, request.restoredFrom),
        },
        ownRun: { id: manifest.id, verified: verified !== undefined && verified.level !== 'stream' },
        force: request.force,
      },
      { signal },
    );
    if (veto) context.log.warn({ store: store.url }, `retention: nothing is deleted: ${veto}`);
    return { ...outcome, deleted, retained, deferred, kept: entries.length - deleted.length, ...(veto && { veto }) };
  } catch (error) {
    signal.throwIfAborted();
    context.log.error({ store: store.url }, `retention: ${messageOf(error)}`);
    return { ...outcome, retentionError: messageOf(error) };
  }
}

async function discardAll(store: Store, { object, extra }: Manifest): Promise<void> {
  await discard(store, object.key);
  if (extra) await discard(store, extra.key);
}
