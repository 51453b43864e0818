import type { Wanted } from '../backup/catalog/identity.ts';
import { locate, otherFoldersHint, refuseMissing } from '../backup/catalog/locate.ts';
import { failedStatus, type StoreStatus, storeStatus } from '../backup/catalog/status.ts';
import { ExitCode } from '../lib/errors.ts';
import { isTimeout, namingStore, withTimeout } from '../lib/run-limit.ts';
import type { StoreSpec } from '../store/spec.ts';
import type { Store } from '../store/store.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { openTargets } from './shared/store-run.ts';

export const run: Command = (context) => {
  const specs = context.settings.stores();
  return withTimeout(context, (signal, _, limit) => status(specs, { ...context, signal }, limit), specs.length);
};

async function status(
  specs: readonly StoreSpec[],
  context: CommandContext,
  limit: () => number,
): Promise<CommandResult> {
  const { settings, progress } = context;
  const wanted = settings.wanted();
  const maxAge = settings.duration('maxAge', '--max-age');
  progress.phase('status', 'reading the stores');
  const targets = openTargets(specs, limit);
  const stores = await Promise.all(targets.map(({ store }) => ask(store, wanted, maxAge, context)));
  const failed = stores.filter(({ ok }) => !ok);
  return {
    exitCode: failed[0]?.exitCode ?? 0,
    text: stores
      .map(({ ok, detail }) => (failed.length > 0 && stores.length > 1 ? `${ok ? 'ok' : 'FAILED'}: ${detail}` : detail))
      .join('\n'),
    data: {
      ...(failed.length > 0 && { error: failed.map(({ detail }) => detail).join('; ') }),
      ...wanted,
      stores: stores.map(({ metrics: _, ...store }) => store),
    },
    metrics: stores.flatMap(({ metrics }) => metrics),
  };
}

async function ask(
  store: Store,
  wanted: Wanted,
  maxAge: number | undefined,
  { signal, log }: CommandContext,
): Promise<StoreStatus> {
  const read = async () => {
    await refuseMissing(store, { signal });
    const located = await locate(store, wanted, { signal, warn: (message) => log.warn(message) });
    const found = await storeStatus({ ...located, store, maxAge }, { signal });
    if (found.id !== undefined || found.exitCode !== ExitCode.nothingThere) return found;
    return { ...found, detail: `${found.detail}${await otherFoldersHint(store, located, { signal })}` };
  };
  try {
    return await namingStore(store, read);
  } catch (error) {
    // A time-out of this store is its own result, and does not end the others.
    if (!isTimeout(signal)) signal.throwIfAborted();
    return failedStatus(store.url, error);
  } finally {
    store.close();
  }
}
