import { pino } from 'pino';
import { advising, said } from '../../src/commands/advice/advice.ts';
import { buildProgram, type Invocation } from '../../src/commands/cli/program.ts';
import type { CommandResult } from '../../src/commands/cli/result.ts';
import { Settings } from '../../src/commands/cli/settings.ts';
import { commands } from '../../src/commands/commands.ts';
import { AgentError } from '../../src/lib/errors.ts';
import { Budget } from '../../src/lib/limits/budget.ts';

export interface Ran extends CommandResult {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it as they please
  readonly data: any;
  /** Log lines with a warning or worse. */
  readonly log: string[];
  /** Names of the phases that were shown. */
  readonly phases: string[];
}

/** Runs a command of the agent in this process, and returns the same result as a started agent. */
export async function runHere(...args: string[]): Promise<Ran> {
  const log: string[] = [];
  const phases: string[] = [];
  const lines = advising(pino({ level: 'warn' }, { write: (line) => log.push(JSON.parse(line).msg) }));
  let result: CommandResult | undefined;
  await buildProgram(async (invocation) => {
    result = await execute(invocation, lines, phases).catch((error) => {
      if (!(error instanceof AgentError)) throw error;
      const text = said(error);
      return { exitCode: error.exitCode, text, data: { error: text } };
    });
  }).parseAsync(args, { from: 'user' });
  if (!result) throw new Error(`${args[0]} gave no result`);
  return { ...result, data: JSON.parse(JSON.stringify(result.data)), log, phases };
}

async function execute(invocation: Invocation, log: pino.Logger, phases: string[]): Promise<CommandResult> {
  const settings = await Settings.load(invocation);
  const { run } = await commands[invocation.command]();
  const progress = { phase: (name: string) => void phases.push(name), bytes() {}, end() {} };
  const budget = new Budget();
  return run({ settings, log, progress, signal: budget.signal, budget });
}
