import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Settings } from '../cli/settings.ts';

export function bumpFlag(settings: Settings): number | undefined {
  const given = settings.text('bumpRevision');
  if (given === undefined) return undefined;
  const bump = Number(given);
  if (Number.isSafeInteger(bump) && bump >= 0) return bump;
  throw new AgentError(ExitCode.usage, '--bump-revision: must be a whole number, 0 or more');
}
