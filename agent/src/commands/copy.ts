import { isDeepStrictEqual } from 'node:util';
import { type Entry, isVerified, readCatalog, selectEntry } from '../backup/catalog.ts';
import { type CopyOutcome, copySnapshot } from '../backup/copy.ts';
import type { Command, CommandContext } from '../command.ts';
import { AgentError, ExitCode, messageOf } from '../errors.ts';
import { gauge, storeSamples } from '../metrics/samples.ts';
import { formatBytes } from '../progress.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import type { Settings } from '../settings.ts';
import { openStore, parseStore } from '../store/open.ts';
import type { StoreSpec } from '../store/spec.ts';
import type { Store } from '../store/store.ts';
import { table } from '../table.ts';
import { type OpenedStore, withStore } from './store-run.ts';

/** Bytes whose time a few calls to slow stores take. */
const EACH = 10 * 1024 * 1024;

export const run: Command = (context) => withTimeout(context, (signal, grow) => copy({ ...context, signal }, grow));

async function copy(context: CommandContext, grow: (bytes: number) => void): Promise<CommandResult> {
  const { settings } = context;
  const target = parseTarget(settings);
  if (isDeepStrictEqual(placeOf(target), placeOf(settings.store()))) {
    throw new AgentError(ExitCode.usage, '--to: this is --store itself; name another store');
  }
  return withStore(context, async (opened) => {
    const chosen = choose(opened, settings.args, context);
    grow(chosen.reduce((sum, { manifest }) => sum + EACH + 2 * (manifest?.object.sizeBytes ?? 0), 0));
    const to = await openStore(target);
    try {
      return await copyAll(chosen, opened, to, context);
    } finally {
      to.close();
    }
  });
}

async function copyAll(
  chosen: readonly Entry[],
  { cluster, store: from }: OpenedStore,
  to: Store,
  context: CommandContext,
): Promise<CommandResult> {
  const { signal, log } = context;
  const there = await readCatalog(to, cluster, { signal });
  const outcomes: CopyOutcome[] = [];
  let stopped: unknown;
  for (const entry of chosen) {
    try {
      const outcome = await copySnapshot(entry, { ...context, cluster, from, to, there });
      outcomes.push(outcome);
      if (['failed', 'refused'].includes(outcome.outcome)) log.error(outcome.detail);
    } catch (error) {
      signal.throwIfAborted();
      // A store is away or full: the next snapshot would fare no better.
      stopped = error;
      break;
    }
  }
  const after = stopped === undefined ? await readCatalog(to, cluster, { signal }).catch(() => there) : there;
  return describe(outcomes, stopped, { cluster, from, to, metrics: storeSamples(cluster, to.url, after) });
}

interface Copied {
  readonly cluster: string;
  readonly from: Store;
  readonly to: Store;
  readonly metrics: ReturnType<typeof storeSamples>;
}

function describe(
  outcomes: readonly CopyOutcome[],
  stopped: unknown,
  { cluster, from, to, metrics }: Copied,
): CommandResult {
  const count = (what: CopyOutcome['outcome']) => outcomes.filter(({ outcome }) => outcome === what).length;
  const counts = { copied: count('copied'), there: count('there'), failed: count('failed'), refused: count('refused') };
  const summary = `${to.url}: ${counts.copied} copied, ${counts.there} there already, ${counts.failed} failed, ${counts.refused} refused`;
  const labels = { command: 'copy', cluster, store: to.url };
  return {
    exitCode: exitCodeOf(stopped, counts),
    text: stopped !== undefined ? `${messageOf(stopped)} (${summary})` : listed(outcomes, summary),
    data: {
      ...(stopped !== undefined && { error: messageOf(stopped) }),
      cluster,
      store: from.url,
      to: to.url,
      ...counts,
      snapshots: outcomes,
    },
    metrics: [
      gauge('etcd_backup_last_run_copied_snapshots', labels, counts.copied),
      gauge('etcd_backup_last_run_failed_snapshots', labels, counts.failed + counts.refused),
      ...metrics,
    ],
  };
}

function listed(outcomes: readonly CopyOutcome[], summary: string): string {
  if (outcomes.length === 0) return summary;
  const rows = outcomes.map(({ id, storedBytes, outcome, detail }) => [
    id,
    storedBytes === undefined ? '?' : formatBytes(storedBytes),
    outcome,
    ['failed', 'refused'].includes(outcome) ? detail : '',
  ]);
  return `${table(['ID', 'STORED', 'OUTCOME', 'WHY'], rows)}\n${summary}`;
}

function exitCodeOf(stopped: unknown, { failed, refused }: { failed: number; refused: number }): number {
  if (stopped !== undefined) return stopped instanceof AgentError ? stopped.exitCode : ExitCode.unexpected;
  return failed ? ExitCode.verificationFailed : refused ? ExitCode.refused : ExitCode.done;
}

/** Newest first: a copy that is killed leaves the most useful ones. */
function choose({ store, entries, cluster }: OpenedStore, ids: readonly string[], { log }: CommandContext): Entry[] {
  if (ids.length > 0) {
    const wanted = new Set(
      ids.map((id) => entries.find((entry) => entry.id === id) ?? selectEntry(entries, id, store.url)),
    );
    return entries.filter((entry) => [...wanted].some(({ id }) => id === entry.id));
  }
  const chosen = entries.filter((entry) => isVerified(entry) && entry.manifest?.cluster.name === cluster);
  if (chosen.length === 0) {
    throw new AgentError(ExitCode.nothingThere, `${store.url} holds no verified snapshot of ${cluster}`);
  }
  const left = entries.length - chosen.length;
  if (left > 0) log.warn(`left out, as not whole, not verified or of another cluster: ${left}`);
  return chosen;
}

const placeOf = (spec: StoreSpec) => ({ ...spec, retention: undefined });

function parseTarget(settings: Settings): StoreSpec {
  const text = settings.required('to', '--to', 'name the store to copy to, such as s3://bucket/prefix or file:///dir');
  try {
    return parseStore(text);
  } catch (error) {
    if (error instanceof AgentError) throw new AgentError(error.exitCode, error.message.replace(/^--store:/, '--to:'));
    throw error;
  }
}
