import type { CommandContext } from '../command.ts';
import type { RestoreContext } from '../control-plane/restore.ts';

export const waitingOf = ({ settings, progress, signal, log }: CommandContext): RestoreContext => ({
  progress,
  signal,
  log,
  limit: settings.duration('wait', '--wait') ?? 600_000,
});
