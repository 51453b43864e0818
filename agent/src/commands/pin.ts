import { setPins } from '../backup/catalog/pin.ts';
import { withTimeout } from '../lib/limits/budget.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { withStore } from './shared/store-run.ts';

export const pin: Command = (context) => withTimeout(context, (within) => change(within, true));

export const unpin: Command = (context) => withTimeout(context, (within) => change(within, false));

function change(context: CommandContext, pinned: boolean): Promise<CommandResult> {
  const { settings } = context;
  return withStore(context, async (opened) => {
    const { cluster, store } = opened;
    const snapshots = await setPins(opened.folder, settings.args, pinned);
    const done = pinned ? 'pinned' : 'unpinned';
    return {
      exitCode: 0,
      text: snapshots.map(({ id, changed }) => `${id}: ${changed ? done : `was already ${done}`}`).join('\n'),
      data: { cluster, store: store.url, pinned, snapshots },
    };
  });
}
