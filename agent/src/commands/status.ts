import { checkClusterName } from '../backup/snapshot-id.ts';
import { failedStatus, type StoreStatus, storeStatus } from '../backup/status.ts';
import type { Command, CommandContext } from '../command.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import { openStore } from '../store/open.ts';
import type { StoreSpec } from '../store/spec.ts';

export const run: Command = (context) => withTimeout(context, (signal) => status({ ...context, signal }));

async function status(context: CommandContext): Promise<CommandResult> {
  const { settings, progress } = context;
  const cluster = checkClusterName(settings.text('cluster'));
  const maxAge = settings.duration('maxAge', '--max-age');
  const stores: StoreStatus[] = [];
  for (const spec of settings.stores()) {
    progress.phase('status', 'looking at the store');
    stores.push(await ask(spec, cluster, maxAge, context));
  }
  const failed = stores.filter(({ ok }) => !ok);
  return {
    exitCode: failed[0]?.exitCode ?? 0,
    text: stores
      .map(({ ok, detail }) => (failed.length > 0 && stores.length > 1 ? `${ok ? 'ok' : 'FAILED'}: ${detail}` : detail))
      .join('\n'),
    data: {
      ...(failed.length > 0 && { error: failed.map(({ detail }) => detail).join('; ') }),
      cluster,
      stores: stores.map(({ metrics: _, ...store }) => store),
    },
    metrics: stores.flatMap(({ metrics }) => metrics),
  };
}

async function ask(
  spec: StoreSpec,
  cluster: string,
  maxAge: number | undefined,
  { signal }: CommandContext,
): Promise<StoreStatus> {
  const store = await openStore(spec);
  try {
    return await storeStatus({ cluster, store, maxAge }, { signal });
  } catch (error) {
    signal.throwIfAborted();
    return failedStatus(store.url, error);
  } finally {
    store.close();
  }
}
