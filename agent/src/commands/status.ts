import { failedStatus, type StoreStatus, storeStatus } from '../backup/check/store-status.ts';
import { ExitCode } from '../lib/errors.ts';
import { together } from '../lib/finding.ts';
import { withTimeout } from '../lib/limits/budget.ts';
import { isTimeout, timedOutAt } from '../lib/limits/timed-out-error.ts';
import type { StoreSpec } from '../store/spec.ts';
import type { Store } from '../store/store.ts';
import type { KnownPlace } from './advice/adopt.ts';
import { adoptableText } from './advice/adoptable.ts';
import { told } from './advice/advice.ts';
import { elsewhere } from './advice/elsewhere.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { openedStore, openTargets } from './shared/store-run.ts';

export const run: Command = (context) => {
  const specs = context.settings.stores();
  return withTimeout(context, (within) => status(specs, within), specs.length);
};

async function status(specs: readonly StoreSpec[], context: CommandContext): Promise<CommandResult> {
  const { settings, progress } = context;
  const wanted = settings.wanted();
  const maxAge = settings.duration('maxAge', '--max-age');
  progress.phase('status', 'reading the stores');
  const targets = openTargets(specs, context);
  const stores = await Promise.all(targets.map(({ store }, at) => ask(store, specs[at]!, maxAge, context)));
  const failed = stores.filter(({ ok }) => !ok);
  const isMixed = failed.length > 0 && stores.length > 1;
  return {
    exitCode: failed[0]?.exitCode ?? 0,
    text: [...failed, ...stores.filter(({ ok }) => ok)]
      .map(({ ok, detail }) => (isMixed ? `${ok ? 'ok' : 'FAILED'}: ${detail}` : detail))
      .join('\n'),
    data: {
      error: failed.length > 0 ? failed.map(({ detail }) => detail).join('; ') : undefined,
      ...wanted,
      stores: stores.map(({ metrics: _, unread: __, ...store }) => store),
    },
    metrics: stores.flatMap(({ metrics }) => metrics),
  };
}

async function ask(
  store: Store,
  spec: StoreSpec,
  maxAge: number | undefined,
  context: CommandContext,
): Promise<StoreStatus> {
  const { settings, signal, progress } = context;
  try {
    const opened = await openedStore(store, spec, context);
    const found = spoken(await storeStatus({ ...opened, maxAge }), { place: opened, settings });
    if (found.id !== undefined || found.exitCode !== ExitCode.nothingThere) return found;
    const hints = [(await elsewhere(opened, context)).text, await adoptableText(opened, context)];
    return { ...found, detail: `${found.detail}${hints.join('')}` };
  } catch (error) {
    // A time-out of this store is its own result, and does not end the others.
    if (!isTimeout(signal)) signal.throwIfAborted();
    return spoken(failedStatus(store.url, timedOutAt(error, [store.url], progress.step)));
  } finally {
    store.close();
  }
}

const spoken = ({ at, findings = [], ...status }: StoreStatus, known?: KnownPlace): StoreStatus => ({
  ...status,
  detail: told({ message: status.detail, at, finding: together(...findings) }, known),
});
