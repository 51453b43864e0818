import { setPins } from '../backup/pin.ts';
import type { Command, CommandContext } from '../command.ts';
import type { CommandResult } from '../result.ts';
import { withStore } from './store-run.ts';

export const run: Command = (context) => changePins(context, true);

export function changePins(context: CommandContext, pinned: boolean): Promise<CommandResult> {
  const { settings, signal } = context;
  return withStore(context, async ({ cluster, store, entries }) => {
    const snapshots = await setPins(store, cluster, entries, settings.args, pinned, { signal });
    const done = pinned ? 'pinned' : 'unpinned';
    return {
      exitCode: 0,
      text: snapshots.map(({ id, changed }) => `${id}: ${changed ? done : `was ${done} before`}`).join('\n'),
      data: { cluster, store: store.url, pinned, snapshots },
    };
  });
}
