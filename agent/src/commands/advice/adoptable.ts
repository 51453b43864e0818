import { folderOf } from '../../backup/catalog/identity/folder.ts';
import { quoted } from '../../lib/quoted.ts';
import type { CommandContext } from '../cli/command.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { told } from './advice.ts';
import { sameStore } from './flags.ts';

/** Says how many files of other tools the folder has, if it has no snapshot. A hint never changes the outcome of a command. */
export async function adoptableText(opened: OpenedStore, context: CommandContext): Promise<string> {
  try {
    const entries = await opened.readAnswering(() => context.budget.wait());
    if (entries.length > 0) return '';
    const [{ findAdoptable, isEncrypted }, { adoptContext }] = await Promise.all([
      import('../../backup/adopt/adopt.ts'),
      import('../shared/adopt-key.ts'),
    ]);
    const { found, skipped } = await findAdoptable(await adoptContext(opened, context, entries), context);
    const [first] = skipped;
    if (found.length === 0 && first) {
      const others = skipped.length === 1 ? '' : `, and ${skipped.length - 1} more`;
      return `; ${folderOf(opened)} has ${quoted(first.key)}, but ${told({ message: first.why, finding: first.finding })}${others}`;
    }
    if (found.length === 0) return '';
    const identity = found.some(({ object }) => isEncrypted(object.key)) ? ' --age-identity-file=FILE' : '';
    const count = found.length === 1 ? '1 file' : `${found.length} files`;
    return `; ${count} in ${folderOf(opened)} could be adopted: \`etcd-agent adopt ${sameStore(opened)}${identity}\``;
  } catch {
    context.signal.throwIfAborted();
    return '';
  }
}
