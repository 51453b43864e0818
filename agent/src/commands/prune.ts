import { type Entry, isLost, type WholeEntry, withFinding } from '../backup/catalog/catalog.ts';
import { entriesAsked, entriesOf, isOf } from '../backup/catalog/identity/identity.ts';
import { lineOf } from '../backup/catalog/identity/lineage.ts';
import { remedyOf } from '../backup/catalog/remedy.ts';
import { newestOfLine } from '../backup/catalog/select.ts';
import { impatience } from '../backup/catalog/silence.ts';
import { retentionSamples, storeSamples } from '../backup/metrics/samples.ts';
import { verifyStored } from '../backup/payload/verify.ts';
import { clockForRetention, prune } from '../backup/retention/prune.ts';
import type { RetentionDecision } from '../backup/retention/retention.ts';
import { sweep } from '../backup/retention/sweep.ts';
import { Etcdutl } from '../etcd/offline/etcdutl.ts';
import { AgentError, ExitCode, usageError, type Warn } from '../lib/errors.ts';
import { withTimeout } from '../lib/limits/budget.ts';
import { table } from '../lib/terminal/table.ts';
import { timeAt } from '../store/clock.ts';
import type { Store } from '../store/store.ts';
import { advised, said, told } from './advice/advice.ts';
import { elsewhere } from './advice/elsewhere.ts';
import { sameStore } from './advice/flags.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { findingOf, putFinding, type VerifyFinding } from './shared/put-finding.ts';
import { withCatalog } from './shared/store-run.ts';

export const run: Command = (context) => withTimeout(context, applyRetention);

async function applyRetention(context: CommandContext): Promise<CommandResult> {
  const { settings, progress, log, signal } = context;
  const dryRun = settings.flag('dryRun');
  const sweepAge = settings.duration('sweepAge', '--sweep-age') ?? 86_400_000;
  const { retention } = settings.store();
  if (!retention) {
    throw usageError('--retention: say what to keep, such as last=3,daily=7; without rules nothing is ever deleted');
  }
  const unused = settings.unusedRetention;
  if (unused !== undefined)
    log.warn(`--retention=${unused} is ignored: the store has its own rules, ${JSON.stringify(retention)}`);
  return withCatalog(context, async (opened) => {
    const { cluster, namespace, clusterId, store, entries } = opened;
    const warn: Warn = (message, finding) => log.warn({ store: store.url, finding }, message);
    progress.phase('retention', 'applying retention');
    const owner = { now: new Date(), clusterName: cluster, namespace };
    const line = lineOf(entries, owner, { restoredFrom: settings.restoredFrom(), clusterId });
    const isKnown = line !== undefined && entriesOf(entries, opened, line).some(hasId);
    // Before anything is deleted: an adopted snapshot counts as one of any etcd, and so of one that does not exist.
    if (clusterId !== undefined && !isKnown && entries.some((entry) => isOf(opened, entry))) {
      throw new AgentError(
        ExitCode.nothingThere,
        `no snapshots of ${opened.folder.path} with the cluster id ${clusterId} in ${store.url}, so nothing is deleted`,
      );
    }
    const bad = new Map<string, VerifyFinding>();
    let bytes = 0;
    const prove = async (entry: WholeEntry, isNewest: boolean) => {
      bytes += entry.manifest.object.sizeBytes;
      context.budget.grow(bytes);
      const finding = await read(entry, store, context).catch((error) => {
        signal.throwIfAborted();
        if (!(error instanceof AgentError)) throw error;
        if (isNewest || error.exitCode !== ExitCode.storeRefused)
          throw new AgentError(error.exitCode, `${said(error)}; nothing is deleted`);
        // That of an earlier etcd may be in cold storage for years.
        warn(`${said(error)}; it counts by its manifest`);
        return undefined;
      });
      if (!finding) return undefined;
      if (!(await store.stat(entry.manifestKey, { signal }))) return `${entry.id} was deleted meanwhile`;
      bad.set(entry.id, finding);
      if (!dryRun && !finding.isPassing) await putFinding(entry, finding, store, context);
      return finding.detail;
    };
    const { decisions, deleted, retained, failed, deferred, veto, error } = await prune(
      opened.folder,
      entries,
      retention,
      {
        ...owner,
        storeNow: await clockForRetention(opened.folder),
        cluster: line,
        force: settings.flag('force'),
      },
      { dryRun, warn, prove, keep: () => settings.keep() },
    );
    if (!dryRun) progress.phase('sweep', 'removing leftovers of dead runs');
    const gone = new Set(deleted);
    const left = entries
      .filter(({ id }) => !gone.has(id))
      .map((entry) => (bad.has(entry.id) ? withFinding(entry, bad.get(entry.id)) : entry));
    const { swept } = dryRun ? { swept: [] } : await sweep(opened.folder, sweepAge, left, { warn });
    if (swept.length > 0) log.info({ store: store.url, swept }, 'removed leftovers of dead runs');
    const now = await timeAt(store, { signal });
    const isLeft = ({ objects }: Entry) => !objects.some(({ key }) => swept.includes(key));
    const without = (await opened.list()).withoutManifest(now).filter(isLeft);
    const lost = without.filter(isLost);
    const going = without.filter(({ state }) => state === 'deleting');
    const known = { place: opened, settings };
    // The table has the rest of what keeps everything.
    const doubt = veto?.finding && told(veto, known);
    const isNone = !isKnown && entriesAsked(entries, opened).length === 0;
    const { text: hint, isFound } = isNone ? await elsewhere(opened, context) : { text: '', isFound: false };
    const id = clusterId === undefined ? '' : ` with the cluster id ${clusterId}`;
    const none = `no snapshots of ${opened.folder.path}${id} in ${store.url}${hint}`;
    const errors = [
      ...(isFound ? [none] : []),
      ...(error ? [said(error, known)] : []),
      ...[...bad.values()].map((finding) => badText(finding, dryRun, sameStore(opened))),
    ];
    const exitCode = isFound ? ExitCode.nothingThere : bad.size > 0 ? ExitCode.verificationFailed : ExitCode.done;
    return {
      exitCode: error?.exitCode ?? exitCode,
      text: [
        ...(errors.length === 0 && isNone ? [none] : errors),
        ...(decisions.length === 0
          ? []
          : [
              table(
                ['ID', 'TIME', dryRun ? 'WOULD' : 'DONE', 'WHY'],
                rowsOf(decisions, entries, dryRun ? undefined : { deleted, left: [...retained, ...failed] }),
              ),
            ]),
        `${deleted.length} ${dryRun ? 'would be deleted' : 'deleted'}, ${deferred} deferred${retained.length ? `, ${retained.length} kept by the store or changed meanwhile` : ''}${failed.length ? `, ${failed.length} not deleted` : ''}`,
        ...(doubt === undefined ? [] : [`nothing is deleted: ${doubt}`]),
        ...lost.map(
          (entry) =>
            `incomplete: ${entry.id}: ${entry.problem}${advised(remedyOf(entry, opened, { now, entries }), known)}`,
        ),
        ...going.map(({ id, problem }) => `incomplete: ${id}: ${problem}`),
      ].join('\n'),
      data: {
        error: errors.length > 0 ? errors.join('; ') : undefined,
        ...{ cluster, namespace, store: store.url, dryRun, deleted, retained, deferred, swept, snapshots: decisions },
        veto: doubt,
        failed: failed.length > 0 ? failed : undefined,
        broken: lost.length > 0 ? lost.map(({ id, problem }) => ({ id, problem })) : undefined,
        deleting: going.length > 0 ? going.map(({ id, problem }) => ({ id, problem })) : undefined,
      },
      metrics: dryRun
        ? []
        : [
            ...retentionSamples('prune', { cluster, namespace, store: store.url }, { deleted, deferred }),
            ...storeSamples(opened, store.url, newestOfLine(left, opened, line, owner.now)),
          ],
    };
  });
}

const hasId = ({ manifest }: Entry): boolean => manifest?.source.clusterId !== 'unknown';

interface Done {
  readonly deleted: readonly string[];
  readonly left: readonly string[];
}

/** What became of each decision. Undefined if nothing was to be done. */
function doneWith(done: Done | undefined): (decision: RetentionDecision) => string {
  if (!done) return ({ action }) => action;
  const [deleted, left] = [new Set(done.deleted), new Set(done.left)];
  return ({ id, action }) => {
    if (action === 'keep') return action;
    return deleted.has(id) ? 'delete' : left.has(id) ? 'not deleted' : 'defer';
  };
}

function rowsOf(
  decisions: readonly RetentionDecision[],
  entries: readonly Entry[],
  done: Done | undefined,
): string[][] {
  const wasDone = doneWith(done);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return decisions.map((decision) => {
    const { id, reasons } = decision;
    const { manifest, problem = 'its time is not valid' } = byId.get(id) ?? {};
    const why = reasons.map((reason) => (reason === 'unreadable' ? `unreadable: ${problem}` : reason));
    return [id, manifest?.createdAt ?? '?', wasDone(decision), why.join(', ')];
  });
}

function badText({ detail, isPassing }: VerifyFinding, dryRun: boolean, flags: string): string {
  const what = dryRun ? 'nothing would be deleted' : 'nothing is deleted';
  const then = isPassing
    ? 'it does not count as verified'
    : dryRun
      ? 'without --dry-run, `prune` records this, and from then on it does not count as verified'
      : 'from now on it does not count as verified';
  return `${detail}; ${what}; ${then}; take a backup, check the others with \`etcd-agent verify ${flags}\`, and run \`prune\` again, which relies on the newest other one that is verified`;
}

/** Reads the stored bytes. Returns the finding if they are bad. Throws if they cannot be read. */
async function read(
  { id, manifest }: WholeEntry,
  store: Store,
  { settings, progress, signal }: CommandContext,
): Promise<VerifyFinding | undefined> {
  progress.phase('verify', id);
  try {
    await verifyStored(impatience(store)(), manifest, {
      level: 'read',
      signal,
      scratch: settings.scratch,
      etcdutl: new Etcdutl('etcdutl'),
      onBytes: (bytes) => progress.bytes(bytes, manifest.object.sizeBytes),
    });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AgentError)) throw error;
    const finding = findingOf(error, id, 'read');
    if (!finding) throw new AgentError(error.exitCode, `${id}: cannot be read: ${said(error)}`);
    return finding;
  }
}
