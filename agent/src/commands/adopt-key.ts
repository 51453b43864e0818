import { type AdoptContext, describeForeign, findByKey, writeAdopted } from '../backup/adopt.ts';
import type { Entry } from '../backup/catalog.ts';
import type { Manifest } from '../backup/manifest.ts';
import type { CommandContext } from '../command.ts';
import { AgentError, ExitCode, messageOf } from '../errors.ts';
import { Etcdutl } from '../etcd/etcdutl.ts';
import { agentVersion } from '../version.ts';
import type { OpenedStore } from './store-run.ts';

export async function adoptContext(
  { cluster, store, entries }: OpenedStore,
  { settings, signal }: CommandContext,
): Promise<AdoptContext> {
  return {
    store,
    cluster,
    entries,
    namespace: settings.text('namespace'),
    scratch: settings.scratch,
    etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
    identities: await settings.identities(),
    agentVersion,
    signal,
  };
}

/** Adopts the file under `--object-key`; undefined when it has a manifest beside it already. */
export async function adoptKey(
  key: string,
  opened: OpenedStore,
  context: CommandContext,
  grow: (bytes: number) => void = () => {},
): Promise<(Entry & { manifest: Manifest }) | undefined> {
  const { signal, log, progress } = context;
  const own = opened.entries.find(({ manifest }) => manifest?.object.key === key);
  if (own?.manifest && !own.problem) return { ...own, manifest: own.manifest };
  const adopting = await adoptContext(opened, context);
  const found = await findByKey(key, adopting, { signal });
  if (!found) return undefined;
  const { size } = found.object;
  grow(6 * size);
  progress.phase('adopt', key);
  const adopted = await describeForeign(found, {
    ...adopting,
    onBytes: (bytes) => progress.bytes(bytes, size),
  });
  if (adopted.warning) log.warn(`${key}: ${adopted.warning}`);
  await writeAdopted(found, adopted, adopting).catch((error) => {
    signal.throwIfAborted();
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
    // Whoever restores may only be allowed to read.
    log.warn(`${key} is restored, but not adopted: ${messageOf(error)}`);
  });
  const { manifest } = adopted;
  return { id: manifest.id, manifestKey: found.manifestKey, manifest, pinned: false, restoredAs: [], objects: [] };
}
