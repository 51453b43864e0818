import { folderOf } from '../backup/catalog/folder.ts';
import { lineOf } from '../backup/catalog/lineage.ts';
import { otherFoldersHint } from '../backup/catalog/locate.ts';
import { newestOfLine } from '../backup/catalog/select.ts';
import { retentionSamples, storeSamples } from '../backup/metrics/samples.ts';
import { prune } from '../backup/retention/prune.ts';
import { namedPayloads, sweep } from '../backup/retention/sweep.ts';
import { ExitCode, usageError } from '../lib/errors.ts';
import { withTimeout } from '../lib/run-limit.ts';
import { table } from '../lib/terminal/table.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { withCatalog } from './shared/store-run.ts';

export const run: Command = (context) => withTimeout(context, (signal) => applyRetention({ ...context, signal }));

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
    const folder = folderOf(opened);
    const warn = (message: string) => log.warn({ store: store.url }, message);
    progress.phase('retention', 'applying retention');
    const owner = { now: new Date(), clusterName: cluster, namespace };
    const line = lineOf(entries, owner, { restoredFrom: settings.list('restoredFrom'), clusterId });
    const { decisions, deleted, retained, deferred } = await prune(
      store,
      folder,
      entries,
      retention,
      {
        ...owner,
        storeNow: await store.now({ signal }),
        ...(line && { cluster: line }),
        force: settings.flag('force'),
      },
      { signal, dryRun, warn },
    );
    progress.phase('sweep', 'removing leftovers of dead runs');
    const gone = new Set(deleted);
    const left = entries.filter(({ id }) => !gone.has(id));
    const swept = dryRun ? [] : await sweep(store, folder, sweepAge, namedPayloads(left), { signal, warn });
    if (swept.length > 0) log.info({ store: store.url, swept }, 'removed leftovers of dead runs');
    const times = new Map(entries.map(({ id, manifest }) => [id, manifest?.createdAt ?? '?']));
    return {
      exitCode: ExitCode.done,
      text: [
        ...(entries.length === 0
          ? [`no snapshots of ${folder} in ${store.url}${await otherFoldersHint(store, opened, { signal })}`]
          : []),
        table(
          ['ID', 'TIME', dryRun ? 'WOULD' : 'DONE', 'WHY'],
          decisions.map(({ id, action, reasons }) => [id, times.get(id) ?? '?', action, reasons.join(', ')]),
        ),
        `${deleted.length} ${dryRun ? 'would be deleted' : 'deleted'}, ${deferred} deferred${retained.length ? `, ${retained.length} kept by the store or changed meanwhile` : ''}`,
      ].join('\n'),
      data: { cluster, namespace, store: store.url, dryRun, deleted, retained, deferred, swept, snapshots: decisions },
      metrics: dryRun
        ? []
        : [
            ...retentionSamples('prune', { cluster, namespace, store: store.url }, { deleted, deferred }),
            ...storeSamples(opened, store.url, newestOfLine(left, opened, line, owner.now)),
          ],
    };
  });
}
