import type { Entry } from '../backup/catalog.ts';
import { lineOf } from '../backup/lineage.ts';
import { prune } from '../backup/prune.ts';
import { sweep } from '../backup/sweep.ts';
import type { Command, CommandContext } from '../command.ts';
import { AgentError, ExitCode } from '../errors.ts';
import { retentionSamples, storeSamples } from '../metrics/samples.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import { table } from '../table.ts';
import { withStore } from './store-run.ts';

export const run: Command = (context) => withTimeout(context, (signal) => applyRetention({ ...context, signal }));

async function applyRetention(context: CommandContext): Promise<CommandResult> {
  const { settings, progress, log, signal } = context;
  const dryRun = settings.flag('dryRun');
  const sweepAge = settings.duration('sweepAge', '--sweep-age') ?? 86_400_000;
  return withStore(context, async ({ cluster, store, spec, entries }) => {
    if (!spec.retention)
      throw new AgentError(
        ExitCode.usage,
        '--retention: say what to keep, such as last=3,daily=7; without rules nothing is ever deleted',
      );
    progress.phase('retention', 'applying retention');
    const owner = { now: new Date(), clusterName: cluster, namespace: settings.text('namespace') };
    const hint = namespaceHint(entries, owner.namespace);
    if (hint) log.warn(hint);
    const { decisions, deleted, retained, deferred } = await prune(
      store,
      cluster,
      entries,
      spec.retention,
      {
        ...owner,
        storeNow: await store.now({ signal }),
        cluster: lineOf(entries, owner, settings.list('restoredFrom')),
        force: settings.flag('force'),
      },
      { signal, dryRun },
    );
    progress.phase('sweep', 'removing what dead runs left');
    const swept = dryRun ? [] : await sweep(store, cluster, sweepAge, { signal });
    if (swept.length > 0) log.info({ store: store.url, swept }, 'removed what dead runs left');
    const times = new Map(entries.map(({ id, manifest }) => [id, manifest?.createdAt ?? '?']));
    return {
      exitCode: ExitCode.done,
      text: [
        table(
          ['ID', 'TIME', dryRun ? 'WOULD' : 'DONE', 'WHY'],
          decisions.map(({ id, action, reasons }) => [id, times.get(id) ?? '?', action, reasons.join(', ')]),
        ),
        `${deleted.length} ${dryRun ? 'would be deleted' : 'deleted'}, ${deferred} deferred${retained.length ? `, ${retained.length} held by the store` : ''}`,
        ...(hint ? [hint] : []),
      ].join('\n'),
      data: { cluster, store: store.url, dryRun, deleted, retained, deferred, swept, snapshots: decisions },
      metrics: dryRun
        ? []
        : [
            ...retentionSamples('prune', { cluster, store: store.url }, { deleted, deferred }),
            ...storeSamples(
              cluster,
              store.url,
              entries.filter(({ id }) => !deleted.includes(id)),
            ),
          ],
    };
  });
}

/** A CronJob notes its namespace; whoever prunes by hand easily forgets it, and then every snapshot is somebody else's. */
function namespaceHint(entries: readonly Entry[], namespace: string | undefined): string | undefined {
  const others = new Set(entries.flatMap(({ manifest }) => (manifest ? [manifest.cluster.namespace] : [])));
  others.delete(namespace);
  const [other] = others;
  return other === undefined
    ? undefined
    : `some snapshots are of namespace ${other} and stay; they are pruned with --namespace ${other}`;
}
