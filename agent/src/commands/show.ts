import { stringify } from 'yaml';
import { isVerified, stateOf } from '../backup/catalog.ts';
import type { Command, CommandContext } from '../command.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import { askedFor, withStore } from './store-run.ts';

export const run: Command = (context) => withTimeout(context, (signal) => show({ ...context, signal }));

const show = (context: CommandContext): Promise<CommandResult> =>
  withStore(context, async (opened) => {
    const { store } = opened;
    const entry = await askedFor(opened, context);
    const { manifest, verification, pinned, restoredAs } = entry;
    const data = {
      store: store.url,
      verified: isVerified(entry),
      state: stateOf(entry),
      pinned,
      restoredAs,
      manifest,
      ...(verification && { verification }),
    };
    return { exitCode: 0, text: stringify(data).trimEnd(), data };
  });
