import * as z from 'zod/mini';
import { type Entry, readCatalog, selectBefore, selectEntry } from '../backup/catalog.ts';
import { readExactEntry } from '../backup/exact-key.ts';
import type { Manifest } from '../backup/manifest.ts';
import { checkClusterName } from '../backup/snapshot-id.ts';
import type { Target } from '../backup/store-snapshot.ts';
import type { CommandContext } from '../command.ts';
import { AgentError, ExitCode } from '../errors.ts';
import { inFuture } from '../metrics/samples.ts';
import { openStore } from '../store/open.ts';
import type { StoreSpec } from '../store/spec.ts';
import type { Store } from '../store/store.ts';

export interface OpenedStore {
  readonly cluster: string;
  readonly spec: StoreSpec;
  readonly store: Store;
  readonly entries: readonly Entry[];
}

/** Opens the one store of a command, reads what is there, and closes it in the end. */
export async function withStore<T>(
  { settings, signal }: CommandContext,
  work: (opened: OpenedStore) => Promise<T>,
  spec: StoreSpec = settings.store(),
): Promise<T> {
  const cluster = checkClusterName(settings.text('cluster'));
  const store = await openStore(spec);
  try {
    return await work({ cluster, spec, store, entries: await readCatalog(store, cluster, { signal }) });
  } finally {
    store.close();
  }
}

/** The stores that a snapshot goes to; the caller closes them. */
export async function openTargets(specs: readonly StoreSpec[]): Promise<Target[]> {
  const targets = [];
  for (const spec of specs) targets.push({ store: await openStore(spec), retention: spec.retention });
  return targets;
}

/** The snapshot that a command is about: `--object-key`, the id, or the newest verified one. */
export async function askedFor(
  opened: OpenedStore,
  context: CommandContext,
  grow?: (bytes: number) => void,
): Promise<Entry & { manifest: Manifest }> {
  const { store, entries } = opened;
  const { settings, signal, log } = context;
  const key = settings.text('objectKey');
  const adopt = settings.flag('adopt');
  if (adopt && !key) throw new AgentError(ExitCode.usage, '--adopt: name the file with --object-key');
  if (key && adopt) {
    const { adoptKey } = await import('./adopt-key.ts');
    const adopted = await adoptKey(key.replace(/^\/+/, ''), opened, context, grow);
    if (adopted) return adopted;
  }
  const id = settings.args[0] ?? settings.text('snapshot');
  const before = settings.text('latestVerifiedBefore');
  if (before !== undefined && (id || key)) {
    throw new AgentError(ExitCode.usage, '--latest-verified-before: an id or --object-key names another one; give one');
  }
  if (key) return readExactEntry(store, key, { signal });
  if (before !== undefined) return selectBefore(entries, parseInstant(before), store.url);
  const entry = selectEntry(entries, id, store.url);
  if ((!id || id === 'latest') && inFuture(entry)) {
    log.warn(
      `${entry.id} is dated in the future (${entry.manifest.createdAt}): look at \`list\` for a newer one, and name it`,
    );
  }
  return entry;
}

/** A date alone, or a time without a zone, means another moment wherever it is read. */
function parseInstant(text: string): Date {
  const found = z.iso.datetime({ offset: true }).safeParse(text);
  if (found.success) return new Date(found.data);
  throw new AgentError(
    ExitCode.usage,
    `--latest-verified-before: '${text}' is no time; write it like 2026-11-21T02:30:00Z`,
  );
}
