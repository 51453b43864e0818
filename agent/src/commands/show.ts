import { stringify } from 'yaml';
import { isVerified, stateWord } from '../backup/catalog/catalog.ts';
import { withTimeout } from '../lib/limits/budget.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { askedFor, withStore } from './shared/store-run.ts';

export const run: Command = (context) => withTimeout(context, show);

const show = (context: CommandContext): Promise<CommandResult> =>
  withStore(context, async (opened) => {
    const { store } = opened;
    const entry = await askedFor(opened, context);
    const { manifest, verification, pinned, restoredAs } = entry;
    const data = {
      store: store.url,
      verified: isVerified(entry),
      state: stateWord(entry),
      pinned,
      restoredAs,
      manifest,
      verification,
    };
    return { exitCode: 0, text: stringify(data).trimEnd(), data };
  });
