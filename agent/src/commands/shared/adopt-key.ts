import { type AdoptContext, describeAdoptable, findByKey, writeAdopted } from '../../backup/adopt/adopt.ts';
import { type Entry, exactManifestKey, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { whole } from '../../backup/catalog/select.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { agentVersion } from '../../lib/version.ts';
import type { CommandContext } from '../cli/command.ts';
import { ANSWER_LIMIT, answeringOf } from './answering.ts';
import type { OpenedStore } from './opened-store.ts';

export async function adoptContext(
  { cluster, namespace, store }: OpenedStore,
  { settings, signal, log }: CommandContext,
  entries: readonly Entry[],
): Promise<AdoptContext> {
  return {
    store,
    cluster,
    entries,
    namespace,
    forceForeign: settings.flag('forceForeign'),
    scratch: settings.scratch,
    etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
    identities: await settings.identities(),
    agentVersion,
    signal,
    answerLimit: ANSWER_LIMIT,
    warn: (message) => log.warn(message),
  };
}

/** Adopts the file at `--object-key`. Resolves to undefined if the file already has a manifest beside it. */
export async function adoptKey(
  key: string,
  opened: OpenedStore,
  context: CommandContext,
  grow: (bytes: number) => void = () => {},
): Promise<WholeEntry | undefined> {
  const { signal, log, progress } = context;
  const entries = await answeringOf(opened, context);
  const own = entries.find(({ manifest }) => manifest?.object.key === key);
  if (own && (!own.problem || own.unread)) return whole(opened.store, opened, own.id, { signal });
  if (await opened.store.stat(exactManifestKey(key), { signal })) return undefined;
  const adopting = await adoptContext(opened, context, entries);
  const found = await findByKey(key, adopting, { signal });
  if ('why' in found) {
    throw new AgentError(
      ExitCode.refused,
      `--adopt: ${key}: ${own?.problem ? `${own.id}: ${own.problem}` : found.why}`,
    );
  }
  const { size } = found.object;
  grow(6 * size);
  progress.phase('adopt', key);
  const adopted = await describeAdoptable(found, {
    ...adopting,
    onBytes: (bytes) => progress.bytes(bytes, size),
  });
  if (adopted.warning) log.warn(`${key}: ${adopted.warning}`);
  const finding = await writeAdopted(found, adopted, adopting).catch((error) => {
    signal.throwIfAborted();
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
    // The credentials for a restore may only allow reading.
    log.warn(`${key}: restoring without adopting it: ${messageOf(error)}`);
    return undefined;
  });
  if (finding) log.warn(`${key}: ${finding}`);
  const { manifest, earlier } = adopted;
  const { manifestKey } = found;
  return { id: manifest.id, manifestKey, manifest, pinned: false, restoredAs: [], objects: [], ...earlier?.standing };
}
