import { stat, writeFile } from 'node:fs/promises';
import { passedOverData, passedOverLines } from '../../backup/catalog/passed-over.ts';
import { readExtra } from '../../backup/payload/extra.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { cannotWrite } from '../../lib/files/file-faults.ts';
import { withTimeout } from '../../lib/limits/budget.ts';
import { formatBytes } from '../../lib/terminal/progress.ts';
import { refuseInContainer } from '../../store/container-path.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import { askedFor, passedOverFor, withStore } from '../shared/store-run.ts';

export const run: Command = (context) => withTimeout(context, restore);

async function restore(context: CommandContext): Promise<CommandResult> {
  const { settings, signal } = context;
  const file = settings.required('to', '--to', 'is missing; name the tar file to write');
  await refuseInContainer('to', file);
  const identities = await settings.identities();
  return withStore(context, async (opened) => {
    const { store } = opened;
    const entry = await askedFor(opened, context);
    const passed = await passedOverFor(opened, entry, context);
    const { id, manifest } = entry;
    if (await stat(file).catch(() => undefined)) throw exists(file);
    const tar = await readExtra(store, manifest, { signal, identities });
    await writeFile(file, tar, { flag: 'wx', mode: 0o600 }).catch((error) => {
      throw codeOf(error) === 'EEXIST' ? exists(file) : cannotWrite(file, error, 'to');
    });
    const paths = manifest.extra?.paths ?? [];
    return {
      exitCode: 0,
      text: [
        `${file}: ${paths.join(', ')} of ${manifest.host?.nodeName ?? 'the machine of the backup'}, ${formatBytes(tar.length)} (${id})`,
        ...passedOverLines(passed),
      ].join('\n'),
      data: {
        ...{ store: store.url, id, file, paths, nodeName: manifest.host?.nodeName, sizeBytes: tar.length },
        ...passedOverData(passed),
      },
    };
  });
}

const exists = (file: string) =>
  new AgentError(ExitCode.refused, `--to: ${file} already exists; name another file, or remove this one`);
