import type { Log } from '../../lib/log.ts';
import type { Progress } from '../../lib/terminal/progress.ts';
import type { CommandResult } from './result.ts';
import type { Settings } from './settings.ts';

export interface CommandContext {
  readonly settings: Settings;
  readonly log: Log;
  readonly progress: Progress;
  /** Aborted by SIGTERM and SIGINT. */
  readonly signal: AbortSignal;
}

/** One file in commands/ each, loaded when it is called. */
export type Command = (context: CommandContext) => Promise<CommandResult>;
