import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Settings } from '../cli/settings.ts';

/** `--sha256`: of the plain snapshot. */
export const sha256Flag = (settings: Settings): string | undefined => {
  const given = settings.text('sha256');
  return given === undefined ? undefined : sha256('--sha256', given);
};

export function sha256(flag: string, given: string): string {
  const text = given.toLowerCase();
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new AgentError(ExitCode.usage, `${flag}: must be 64 hex digits`);
}
