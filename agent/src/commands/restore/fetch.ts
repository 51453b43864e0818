import { stateWord } from '../../backup/catalog/catalog.ts';
import { passedOverData, passedOverLines } from '../../backup/catalog/passed-over.ts';
import { fetchSnapshot } from '../../backup/restore/restore.ts';
import { withTimeout } from '../../lib/limits/budget.ts';
import { formatBytes, phaseOfBytes } from '../../lib/terminal/progress.ts';
import { refuseInContainer } from '../../store/container-path.ts';
import { orInstead } from '../advice/instead.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import { askedToRestore, passedOverFor, withStore } from '../shared/store-run.ts';
import { warnSwitches } from '../shared/warn-switches.ts';

export const run: Command = (context) => withTimeout(context, fetch);

async function fetch(context: CommandContext): Promise<CommandResult> {
  const { settings, progress, signal } = context;
  const file = settings.required('to', '--to', 'is missing; name the file to write');
  await refuseInContainer('to', file);
  const identities = await settings.identities();
  return withStore(context, async (opened) => {
    const { store } = opened;
    const entry = await askedToRestore(opened, context);
    const passed = await passedOverFor(opened, entry, context);
    const { id, manifest } = entry;
    context.budget.grow(manifest.content.sizeBytes);
    const onBytes = phaseOfBytes(progress, 'fetch', id, manifest.object.sizeBytes);
    const switches = await orInstead(entry, opened, context, () =>
      fetchSnapshot(store, manifest, file, { signal, identities, onBytes }),
    );
    const { sizeBytes, sha256 } = manifest.content;
    warnSwitches(id, switches, context.log);
    return {
      exitCode: 0,
      text: [`${file}: ${formatBytes(sizeBytes)}, ${stateWord(entry)} (${id})`, ...passedOverLines(passed)].join('\n'),
      data: { store: store.url, id, file, sizeBytes, sha256, ...passedOverData(passed) },
    };
  });
}
