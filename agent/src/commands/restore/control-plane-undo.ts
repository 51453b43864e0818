import { Journal } from '../../control-plane/restore/journal.ts';
import { startCommand } from '../../control-plane/restore/restore.ts';
import { undo } from '../../control-plane/restore/undo.ts';
import type { CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import { placesOf } from './control-plane-request.ts';
import { waitingOf } from './control-plane-waiting.ts';

export async function undoRestore(context: CommandContext): Promise<CommandResult> {
  const { journalDir } = placesOf(context.settings);
  const journal = await Journal.newest(journalDir);
  if (!journal || journal.content.state === 'undone') {
    const text = `${journalDir}: no restore to undo; nothing done`;
    return { exitCode: 0, text, data: { undone: false } };
  }
  await undo(journal, waitingOf(context));
  const { node, id, manifestsDir } = journal.content;
  const outside = node.kind === 'static-pod' ? '' : `; now start etcd: ${startCommand(node.kind)}`;
  return {
    exitCode: 0,
    text: `${node.member.name}: the restore from ${id} is undone: ${node.member.dataDir} and ${manifestsDir} are as they were before${outside}`,
    data: { undone: true, id, journal: journal.folder },
  };
}
