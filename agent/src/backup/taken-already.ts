import { AgentError, ExitCode, messageOf } from '../errors.ts';
import { type Entry, readCatalog } from './catalog.ts';
import { readExactEntry } from './exact-key.ts';
import type { Manifest } from './manifest.ts';
import type { BackupOutcome, RunContext, StoreRequest, Target } from './store-snapshot.ts';

type Found = Entry & { manifest: Manifest };

/**
 * What an earlier run stored for the same request, whose end nobody saw; undefined unless it is whole in every store. A
 * store that cannot be asked is left to the run.
 */
export async function takenAlready(
  request: StoreRequest,
  asked: string,
  context: RunContext,
): Promise<BackupOutcome | undefined> {
  const entries: Found[] = [];
  for (const target of request.targets) {
    const found = await find(target, request, asked, context);
    if (!found) return undefined;
    entries.push(found);
  }
  const [first] = entries;
  if (!first || entries.some(({ id }) => id !== first.id)) return undefined;
  const { manifest } = first;
  context.log.info({ id: first.id }, 'this request was met before; no other snapshot is taken');
  return {
    manifest,
    targets: entries.map((entry, index) => ({
      store: request.targets[index]!.store.url,
      key: entry.manifest.object.key,
      ...(entry.manifest.verified && { verified: entry.manifest.verified.level }),
    })),
    degraded: manifest.source.alarms.filter((alarm) => alarm === 'NOSPACE'),
    comparison: 'taken before, for the same request',
    revision: manifest.content.hashKV?.revision,
  };
}

async function find(
  { store }: Target,
  { cluster, key }: StoreRequest,
  asked: string,
  context: RunContext,
): Promise<Found | undefined> {
  try {
    const entries = key ? [await readExactEntry(store, key, context)] : await readCatalog(store, cluster, context);
    return entries.find((entry): entry is Found => entry.manifest?.request === asked && entry.problem === undefined);
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof AgentError && error.exitCode === ExitCode.nothingThere) return undefined;
    context.log.warn({ store: store.url }, `whether it was taken before is not known: ${messageOf(error)}`);
    return undefined;
  }
}
