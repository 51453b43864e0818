import { withNodeLock } from '../../control-plane/node/node-lock.ts';
import { refuseOwnProcessNamespace } from '../../control-plane/node/processes.ts';
import { Journal } from '../../control-plane/restore/journal.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Command } from '../cli/command.ts';
import { execute } from './control-plane-execute.ts';
import { plan } from './control-plane-plan.ts';
import { placesOf } from './control-plane-request.ts';
import { undoRestore } from './control-plane-undo.ts';
import { verify } from './control-plane-verify.ts';

export const run: Command = async (context) => {
  const { settings } = context;
  const asked = (['plan', 'stop', 'undo', 'verify'] as const).filter((mode) => settings.flag(mode));
  if (asked.length > 1) {
    throw new AgentError(ExitCode.usage, `${asked.map((mode) => `--${mode}`).join(' and ')}: give one`);
  }
  await refuseOwnProcessNamespace();
  const [mode] = asked;
  if (mode === 'plan') return plan(context);
  if (mode === 'verify') return verify(context);
  const { journalDir } = placesOf(settings);
  return withNodeLock(journalDir, async () => {
    await Journal.tidy(journalDir);
    return mode === 'undo' ? undoRestore(context) : execute(context, mode === 'stop' ? 'stopped' : 'done');
  });
};
