import { type Command, Option } from 'commander';
import type { Exit } from './exit.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

/** A verb of the plugin: its part of the command line, and what it does. */
export interface Verb {
  readonly name: string;
  /** In the notation of commander: `<reason>`, `[name]`. */
  readonly args?: string;
  readonly about: string;
  readonly options?: readonly Option[];
  run(call: VerbCall): Promise<Exit>;
}

/** One call of a verb. */
export interface VerbCall {
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
  /** What follows `--`. */
  readonly rest: readonly string[];
  readonly terminal: Terminal;
  /** The command line itself. */
  readonly program: Command;
  /** Reads the kubeconfig. Does not call the API server yet. */
  connect(): Promise<Session>;
}

export const option = (flags: string, about: string): Option => new Option(flags, about);

export const outputOption = option('-o, --output <format>', 'format of the result')
  .choices(['text', 'json'])
  .default('text');
export const dryRunOption = option('--dry-run', 'print what would be sent to the API server, and change nothing');
export const yesOption = option('--yes', 'do not ask');
