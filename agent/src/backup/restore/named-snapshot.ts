import { AgentError, ExitCode } from '../../lib/errors.ts';

/**
 * A backup that comes in between would give the members different data under one cluster id. `missing` is what the command
 * would have to say so that all of them take the same snapshot; undefined when it does.
 */
export function requireNamedSnapshot(command: string, members: number, missing: string | undefined): void {
  if (members <= 1 || missing === undefined) return;
  throw new AgentError(
    ExitCode.usage,
    `all ${members} members must be restored from one snapshot: name it, such as \`${command} ${missing}\``,
  );
}
