import { setPins } from '../backup/catalog/pin.ts';
import { withTimeout } from '../lib/run-limit.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { withStore } from './shared/store-run.ts';

export const run: Command = (context) => changePins(context, true);

export const changePins = (context: CommandContext, pinned: boolean): Promise<CommandResult> =>
  withTimeout(context, (signal) => change({ ...context, signal }, pinned));

function change(context: CommandContext, pinned: boolean): Promise<CommandResult> {
  const { settings, signal } = context;
  return withStore(context, async (opened) => {
    const { cluster, store } = opened;
    const snapshots = await setPins(store, opened, settings.args, pinned, { signal });
    const done = pinned ? 'pinned' : 'unpinned';
    return {
      exitCode: 0,
      text: snapshots.map(({ id, changed }) => `${id}: ${changed ? done : `was ${done} before`}`).join('\n'),
      data: { cluster, store: store.url, pinned, snapshots },
    };
  });
}
