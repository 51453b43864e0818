import { AgentError, ExitCode } from '../errors.ts';
import type { CallOptions, Store } from '../store/store.ts';
import { type Entry, payloadProblem, putJson, readManifest } from './catalog.ts';
import type { Manifest } from './manifest.ts';
import { readStored } from './read-payload.ts';

/** A snapshot under a key of the caller's own has its manifest beside it. Retention never touches it. */
export const exactManifestKey = (key: string) => `${key}.json`;

export async function readExactEntry(
  store: Store,
  key: string,
  options: CallOptions,
): Promise<Entry & { manifest: Manifest }> {
  const manifest = await readManifest(store, exactManifestKey(key), options);
  const where = `${store.url}: ${key}`;
  if (manifest === undefined)
    throw new AgentError(ExitCode.nothingThere, `${where} has no manifest ${exactManifestKey(key)} beside it`);
  if (typeof manifest === 'string') throw new AgentError(ExitCode.verificationFailed, `${where}: ${manifest}`);
  const problem = payloadProblem(manifest, (await store.stat(manifest.object.key, options))?.size);
  if (problem) throw new AgentError(ExitCode.verificationFailed, `${where}: ${problem}`);
  return { id: manifest.id, manifestKey: exactManifestKey(key), manifest, pinned: false, restoredAs: [], objects: [] };
}

export async function refuseExisting(store: Store, key: string, options: CallOptions): Promise<void> {
  if (await store.stat(key, options)) {
    throw new AgentError(
      ExitCode.refused,
      `--object-key: ${key} exists in ${store.url}; name another key, or replace it with --overwrite`,
    );
  }
}

/**
 * Moves a committed snapshot onto a key that may be taken. What lies beside stays whole until the key is, so that a kill
 * at any point leaves one of the two.
 */
export async function replaceKey(store: Store, beside: Manifest, key: string, options: CallOptions): Promise<Manifest> {
  const manifest = { ...beside, object: { ...beside.object, key } };
  await store.delete(exactManifestKey(key), options);
  const { etag: _, parts: __, ...object } = manifest.object;
  const put = await store.put(key, readStored(store, beside, options), { ...options, sizeHint: object.sizeBytes });
  const replaced = { ...manifest, object: { ...object, ...put } };
  await putJson(store, exactManifestKey(key), replaced, options);
  await store.delete(exactManifestKey(beside.object.key), options);
  await store.delete(beside.object.key, options);
  return replaced;
}
