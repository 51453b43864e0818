import type { Budget } from '../../lib/limits/budget.ts';
import type { Log } from '../../lib/log.ts';
import type { Progress } from '../../lib/terminal/progress.ts';
import type { CommandResult } from './result.ts';
import type { Settings } from './settings.ts';

export interface CommandContext {
  readonly settings: Settings;
  readonly log: Log;
  readonly progress: Progress;
  /** Without a time limit, except within `withTimeout`. */
  readonly budget: Budget;
  /** Of the budget: aborted by SIGTERM, SIGINT and the time limit. */
  readonly signal: AbortSignal;
  /** What lists the snapshots for whoever reads the errors, instead of `list`. */
  readonly list?: string;
}

/** A command of the agent. Its module is loaded when the command runs. */
export type Command = (context: CommandContext) => Promise<CommandResult>;
