import type { RestoreContext } from '../../control-plane/restore/restore.ts';
import type { CommandContext } from '../cli/command.ts';

export const waitingOf = ({ settings, progress, signal, log }: CommandContext): RestoreContext => ({
  progress,
  signal,
  log,
  limit: settings.duration('wait', '--wait') ?? 600_000,
});
