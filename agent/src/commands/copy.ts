import { isDeepStrictEqual } from 'node:util';
import { type Entry, isLost, isVerified, newestFirst, readCatalog } from '../backup/catalog/catalog.ts';
import { Folder, type Listing } from '../backup/catalog/folder.ts';
import { folderOf, type NamedCluster } from '../backup/catalog/identity/folder.ts';
import { entriesAsked, isOf } from '../backup/catalog/identity/identity.ts';
import { lineOf } from '../backup/catalog/identity/lineage.ts';
import { whyNot } from '../backup/catalog/passed-over.ts';
import { newestOfLine } from '../backup/catalog/select.ts';
import { type CopyOutcome, copyOtherNotes, isWithheld } from '../backup/copy/copy.ts';
import { copyEach, ifStillThere, otherEtcdWarning } from '../backup/copy/copy-each.ts';
import { clusterLabels, storeSamples } from '../backup/metrics/samples.ts';
import { AgentError, ExitCode, usageError } from '../lib/errors.ts';
import { withTimeout } from '../lib/limits/budget.ts';
import { sample } from '../lib/metrics/sample.ts';
import { formatBytes } from '../lib/terminal/progress.ts';
import { table } from '../lib/terminal/table.ts';
import { timeAt } from '../store/clock.ts';
import { refuseStoresInContainer } from '../store/container-path.ts';
import { openStore, parseStore } from '../store/open.ts';
import { above, below, parentOf } from '../store/place.ts';
import type { StoreSpec } from '../store/spec.ts';
import type { Store } from '../store/store.ts';
import { said } from './advice/advice.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import type { Settings } from './cli/settings.ts';
import { namedEntries } from './shared/named-entries.ts';
import type { OpenedStore } from './shared/opened-store.ts';
import { withStore } from './shared/store-run.ts';

/** Time for the calls to slow stores per snapshot, as the number of bytes that take as long. */
const EACH = 10 * 1024 * 1024;

export const run: Command = (context) => withTimeout(context, copy);

async function copy(context: CommandContext): Promise<CommandResult> {
  const { settings } = context;
  const target = parseTarget(settings);
  await refuseStoresInContainer('to', [target]);
  if (isSamePlace(target, settings.store())) throw usageError('--to: is the same store as --store; name another store');
  return withStore(context, async (opened) => {
    refuseBelow(target, opened);
    const chosen = await choose(opened, settings.args, context);
    context.budget.grow(chosen.reduce((sum, { manifest }) => sum + EACH + 2 * (manifest?.object.sizeBytes ?? 0), 0));
    const to = await openStore(target, context.budget);
    try {
      const result = await copyAll(chosen, opened, { to, knowsIdle: target.command !== undefined }, context);
      if (chosen.length > 0) return result;
      throw new AgentError(
        ExitCode.nothingThere,
        `${opened.store.url} holds no verified snapshot of ${folderOf(opened)}`,
      );
    } finally {
      to.close();
    }
  });
}

async function copyAll(
  chosen: readonly Entry[],
  opened: OpenedStore,
  { to, knowsIdle }: { readonly to: Store; readonly knowsIdle: boolean },
  context: CommandContext,
): Promise<CommandResult> {
  const { signal, log } = context;
  const { store: from, cluster, namespace } = opened;
  const folder = new Folder(to, opened.folder.path, signal);
  const keepIndex = (error: unknown) => log.warn({ store: to.url }, `cannot write the index: ${said(error)}`);
  const there = await readCatalog(folder, { keepIndex });
  const warning = await otherEtcdWarning({ chosen, there, readAll: opened.readAll }, opened);
  if (warning) log.warn({ store: to.url, finding: { kind: 'otherEtcdInCopy' } }, warning);
  const copies = await copyEach(chosen, { ...context, folder: folder.path, from, to, there }, { knowsIdle });
  const { stopped } = copies;
  const listing = stopped === undefined ? await listAgain(folder, context) : undefined;
  const outcomes = listing ? confirmed(copies.outcomes, { chosen, there, listing }, log) : copies.outcomes;
  const after = listing ? await readCatalog(folder, { keepIndex, listing }).catch(() => there) : there;
  if (stopped === undefined && context.settings.args.length === 0) {
    const done = new Set(outcomes.filter(isDone).map(({ id }) => id));
    const others = [...entriesAsked(await opened.readAll(), opened), ...(await opened.list()).noted()].filter(
      (entry) => !done.has(entry.id) && (!entry.manifest || isOf(opened, entry)),
    );
    await copyOtherNotes(others, opened, { from, to, there: after, log, signal });
  }
  const now = new Date();
  const line = lineOf(after, { now, clusterName: cluster, namespace }, opened);
  const metrics = storeSamples(opened, to.url, newestOfLine(after, opened, line, now));
  return describe(outcomes, stopped, { cluster, namespace, from, to, metrics });
}

const isDone = ({ outcome }: CopyOutcome): boolean => outcome === 'copied' || outcome === 'there';

/** Lists what the target has when the copy ends. Undefined if it does not answer. */
async function listAgain(folder: Folder, { log, signal }: CommandContext): Promise<Listing | undefined> {
  try {
    return await folder.list();
  } catch (error) {
    signal.throwIfAborted();
    log.warn(`whether the copies are still there is not known: ${said(error)}`);
    return undefined;
  }
}

interface Listed {
  readonly chosen: readonly Entry[];
  readonly there: readonly Entry[];
  readonly listing: Listing;
}

function confirmed(
  outcomes: readonly CopyOutcome[],
  { chosen, there, listing }: Listed,
  log: CommandContext['log'],
): readonly CopyOutcome[] {
  return outcomes.map((outcome) => {
    const isIt = (entry: Entry) => entry.id === outcome.id && entry.manifest !== undefined;
    const found = ifStillThere(outcome, chosen.find(isIt) ?? there.find(isIt) ?? {}, listing);
    if (found !== outcome) log.error(found.detail);
    return found;
  });
}

interface Copied extends NamedCluster {
  readonly from: Store;
  readonly to: Store;
  readonly metrics: ReturnType<typeof storeSamples>;
}

function describe(
  outcomes: readonly CopyOutcome[],
  stopped: unknown,
  { from, to, metrics, ...named }: Copied,
): CommandResult {
  const count = (what: CopyOutcome['outcome']) => outcomes.filter(({ outcome }) => outcome === what).length;
  const counts = { copied: count('copied'), there: count('there'), failed: count('failed'), refused: count('refused') };
  const summary = `${to.url}: ${counts.copied} copied, ${counts.there} already there, ${counts.failed} failed, ${counts.refused} refused`;
  const labels = { command: 'copy', ...clusterLabels(named), store: to.url };
  const error = stopped === undefined ? leftOut(outcomes) : said(stopped);
  const list = listed(outcomes, summary);
  return {
    exitCode: exitCodeOf(stopped, outcomes),
    text: stopped !== undefined ? `${error} (${summary})` : [...(error === undefined ? [] : [error]), list].join('\n'),
    data: {
      error,
      ...named,
      store: from.url,
      to: to.url,
      ...counts,
      snapshots: outcomes,
    },
    metrics: [
      sample('etcd_backup_last_run_copied_snapshots', labels, counts.copied),
      sample('etcd_backup_last_run_failed_snapshots', labels, counts.failed + counts.refused),
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

/** Names the first that was not copied. Undefined if there is none. */
function leftOut(outcomes: readonly CopyOutcome[]): string | undefined {
  const [first, ...more] = outcomes.filter(({ outcome }) => ['failed', 'refused'].includes(outcome));
  return first && `${first.detail}${more.length > 0 ? ` (and ${more.length} more that are not copied)` : ''}`;
}

/** A snapshot that is bad needs a person, so it outweighs one that the next run may read. */
function exitCodeOf(stopped: unknown, outcomes: readonly CopyOutcome[]): number {
  if (stopped !== undefined) return stopped instanceof AgentError ? stopped.exitCode : ExitCode.unexpected;
  const failed = outcomes.flatMap(({ exitCode }) => exitCode ?? []);
  if (failed.includes(ExitCode.verificationFailed)) return ExitCode.verificationFailed;
  const isRefused = outcomes.some(({ outcome }) => outcome === 'refused');
  return failed[0] ?? (isRefused ? ExitCode.refused : ExitCode.done);
}

/** Chooses the snapshots to copy, newest first, so that an interrupted copy has the most useful ones. */
async function choose(
  opened: OpenedStore,
  ids: readonly string[],
  { log, signal }: CommandContext,
): Promise<readonly Entry[]> {
  const { readAll } = opened;
  if (ids.length > 0) return (await namedEntries(opened, ids, signal)).toSorted(newestFirst);
  const entries = entriesAsked(await readAll(), opened);
  const chosen = entries.filter((entry) =>
    isWithheld(entry) ? !entry.manifest || isOf(opened, entry) : isVerified(entry) && isOf(opened, entry),
  );
  const isChosen = new Set(chosen);
  const left = [
    ...entries.filter((entry) => !isChosen.has(entry)),
    ...(await opened.list()).withoutManifest(await timeAt(opened.store, { signal })).filter(isLost),
  ];
  if (left.length > 0) log.warn(`not copied: ${leftText(left, opened)}`);
  return chosen;
}

const SHOWN = 5;

function leftText(left: readonly Entry[], opened: OpenedStore): string {
  const why = (entry: Entry) => (entry.manifest && !isOf(opened, entry) ? 'it is of another cluster' : whyNot(entry));
  const named = left.slice(0, SHOWN).map((entry) => `${entry.id}: ${why(entry)}`);
  const more = left.length > SHOWN ? `; and ${left.length - SHOWN} more, which \`list\` shows` : '';
  return `${named.join('; ')}${more}`;
}

/** Whether two specs name the same place, however their paths are written. */
const isSamePlace = (a: StoreSpec, b: StoreSpec): boolean => isDeepStrictEqual(placeOf(a), placeOf(b));

function placeOf(spec: StoreSpec) {
  const inside = below(spec, 'x');
  return { ...((inside && above(inside, 'x')) ?? spec), retention: undefined };
}

/** Throws if the copies would lie in a folder of the store that looks like that of a namespace. */
function refuseBelow(target: StoreSpec, { spec, namespace, cluster }: OpenedStore): void {
  const parent = parentOf(target);
  if (namespace !== undefined || !parent || !isSamePlace(parent, spec)) return;
  throw usageError(
    `--to: lies in --store, so the copies of ${cluster} would look like the snapshots of a namespace; name a place outside`,
  );
}

function parseTarget(settings: Settings): StoreSpec {
  const text = settings.required(
    'to',
    '--to',
    'name the store to copy to, for example s3://bucket/prefix or file:///dir',
  );
  try {
    return parseStore(text);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    throw usageError(error.message, { at: 'to' });
  }
}
