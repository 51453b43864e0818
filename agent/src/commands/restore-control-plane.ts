import type { Command } from '../command.ts';
import { refuseOwnProcessNamespace } from '../control-plane/processes.ts';
import { AgentError, ExitCode } from '../errors.ts';
import { execute } from './control-plane-execute.ts';
import { plan } from './control-plane-plan.ts';
import { undoRestore } from './control-plane-undo.ts';
import { verify } from './control-plane-verify.ts';

const modes = { plan, undo: undoRestore, verify } as const;

export const run: Command = async (context) => {
  const { settings } = context;
  const asked = (['plan', 'stop', 'undo', 'verify'] as const).filter((mode) => settings.flag(mode));
  if (asked.length > 1) {
    throw new AgentError(ExitCode.usage, `${asked.map((mode) => `--${mode}`).join(' and ')}: give one`);
  }
  await refuseOwnProcessNamespace();
  const [mode] = asked;
  if (mode === undefined || mode === 'stop') return execute(context, mode === 'stop' ? 'stopped' : 'done');
  return modes[mode](context);
};
