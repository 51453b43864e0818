import { stringify } from 'yaml';
import { isVerified } from '../backup/catalog.ts';
import type { Command } from '../command.ts';
import { askedFor, withStore } from './store-run.ts';

export const run: Command = (context) =>
  withStore(context, async (opened) => {
    const { store } = opened;
    const entry = await askedFor(opened, context);
    const { manifest, verification, pinned, restoredAs } = entry;
    const data = {
      store: store.url,
      verified: isVerified(entry),
      pinned,
      restoredAs,
      manifest,
      ...(verification && { verification }),
    };
    return { exitCode: 0, text: stringify(data).trimEnd(), data };
  });
