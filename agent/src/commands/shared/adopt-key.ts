import { type AdoptContext, type AdoptOptions, adoptFile, findByKey, replacedText } from '../../backup/adopt/adopt.ts';
import { type Entry, IncompleteError, isUnread, stateOf, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { readExactEntry } from '../../backup/catalog/exact-key.ts';
import { whole } from '../../backup/catalog/select.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { agentVersion } from '../../lib/version.ts';
import { adoptCommand } from '../advice/adopt.ts';
import { advised, said, told, warner } from '../advice/advice.ts';
import type { CommandContext } from '../cli/command.ts';
import { answeringOf } from './answering.ts';
import type { OpenedStore } from './opened-store.ts';

export async function adoptContext(
  opened: OpenedStore,
  { settings, signal, log }: CommandContext,
  entries: readonly Entry[],
): Promise<AdoptContext> {
  const { cluster, namespace, store } = opened;
  return {
    store,
    cluster,
    entries,
    namespace,
    backupEnded: settings.flag('backupEnded'),
    forceForeign: settings.flag('forceForeign'),
    scratch: settings.scratch,
    etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
    identities: await settings.identities(),
    agentVersion,
    signal,
    // Only if the user asks for just that: what the manifest says of the cluster is lost.
    replacesIntact: false,
    warn: warner(log, { place: opened, settings }),
  };
}

/** Adopts the file at `--object-key`. Resolves to undefined if the file already has a manifest beside it. */
export async function adoptKey(
  key: string,
  opened: OpenedStore,
  context: CommandContext,
  { accept }: Pick<AdoptOptions, 'accept'>,
): Promise<WholeEntry | undefined> {
  const { settings, signal, log, progress } = context;
  const entries = await answeringOf(opened, context);
  const own = entries.find(({ manifest }) => manifest?.object.key === key);
  if (own && (!own.problem || isUnread(own))) return whole(opened.folder, own.id);
  if (!own && (await hasManifest(opened, key, signal))) return undefined;
  const adopting = await adoptContext(opened, context, entries);
  const found = await findByKey(key, adopting, { signal });
  if ('why' in found) {
    const adopt = adoptCommand({ place: opened, settings }, [key]);
    const next = `; name another snapshot, or, if the file that is there now is the one to restore, first run ${adopt}`;
    const why = found.isForOther
      ? `${found.why}${next}`
      : own?.problem
        ? `${own.id}: ${own.problem}`
        : told({ message: found.why, finding: found.finding });
    throw new AgentError(ExitCode.refused, `--adopt: ${key}: ${why}`);
  }
  const { size } = found.object;
  context.budget.grow(6 * size);
  progress.phase('adopt', key);
  const onBytes = (bytes: number) => progress.bytes(bytes, size);
  const adopted = await adoptFile(
    found,
    { ...adopting, onBytes },
    {
      accept,
      onRefused: (error) => log.warn(`${key}: restoring without adopting it: ${said(error)}`),
    },
  );
  const { manifest, earlier, warning, became, aside } = adopted;
  const known = { place: opened, settings };
  const verified = became && `${became.text}${advised(became.finding, known)}`;
  for (const note of [warning, aside && replacedText(aside), verified]) if (note) log.warn(`${key}: ${note}`);
  const { manifestKey } = found;
  const { verification, problem, unread } = earlier?.standing ?? {};
  const state = stateOf({ manifest, verification, problem, unread });
  const facts = { manifest, verification, problem, state };
  return { id: manifest.id, manifestKey, ...facts, pinned: false, restoredAs: [], objects: [] };
}

/** Whether the manifest beside the key can be used. One that cannot is replaced, if that is possible. */
async function hasManifest({ store }: OpenedStore, key: string, signal: AbortSignal): Promise<boolean> {
  try {
    await readExactEntry(store, key, { signal });
    return true;
  } catch (error) {
    if (error instanceof IncompleteError) return isUnread(error.entry);
    if (error instanceof AgentError && error.exitCode === ExitCode.nothingThere) return false;
    throw error;
  }
}
