import { fetchSnapshot } from '../backup/restore.ts';
import type { Command, CommandContext } from '../command.ts';
import { formatBytes } from '../progress.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import { askedFor, withStore } from './store-run.ts';

export const run: Command = (context) => withTimeout(context, (signal, grow) => fetch({ ...context, signal }, grow));

async function fetch(context: CommandContext, grow: (bytes: number) => void): Promise<CommandResult> {
  const { settings, progress, signal } = context;
  const file = settings.required('to', '--to', 'name the file to write');
  const identities = await settings.identities();
  return withStore(context, async (opened) => {
    const { store } = opened;
    const { id, manifest } = await askedFor(opened, context, grow);
    grow(manifest.content.sizeBytes);
    progress.phase('fetch', id);
    await fetchSnapshot(store, manifest, file, {
      signal,
      identities,
      onBytes: (bytes) => progress.bytes(bytes, manifest.object.sizeBytes),
    });
    const { sizeBytes, sha256 } = manifest.content;
    return {
      exitCode: 0,
      text: `${file}: ${formatBytes(sizeBytes)}, verified (${id})`,
      data: { store: store.url, id, file, sizeBytes, sha256 },
    };
  });
}
