import { pino } from 'pino';
import { advising, said } from '../../src/commands/advice/advice.ts';
import { buildProgram, type Invocation } from '../../src/commands/cli/program.ts';
import type { CommandResult } from '../../src/commands/cli/result.ts';
import { Settings } from '../../src/commands/cli/settings.ts';
import { commands } from '../../src/commands/commands.ts';
import { AgentError, ExitCode } from '../../src/lib/errors.ts';
import { Budget } from '../../src/lib/limits/budget.ts';

export interface RunUntil {
  /** The whole log, and the result. */
  readonly output: string[];
  /** Resolves with the log line of the phase. */
  phase(name: string): Promise<void>;
  /** SIGTERM. */
  stop(): void;
  readonly finished: Promise<CommandResult>;
}

/** Runs a command that ends only by a signal, in this process. `stopAt` sends the signal at the start of a phase. */
export function runUntil(args: readonly string[], stopAt?: string): RunUntil {
  const controller = new AbortController();
  const output: string[] = [];
  const phases = new Map<string, PromiseWithResolvers<void>>();
  const reached = (name: string) => {
    const known = phases.get(name) ?? Promise.withResolvers<void>();
    phases.set(name, known);
    return known;
  };
  const stop = () => controller.abort(new AgentError(ExitCode.terminated, 'stopped by SIGTERM'));
  const progress = {
    phase(name: string, message: string) {
      output.push(`${name} ${message}`);
      if (name === stopAt) stop();
      reached(name).resolve();
    },
    bytes() {},
    end() {},
  };
  const log = advising(pino({ level: 'info' }, { write: (line) => output.push(line) }));
  const finished = execute(args, log, progress, controller.signal).then((result) => {
    output.push(JSON.stringify(result));
    for (const each of phases.values()) each.reject(new Error(result.text));
    return result;
  });
  return { output, stop, finished, phase: (name) => reached(name).promise };
}

async function execute(
  args: readonly string[],
  log: pino.Logger,
  progress: { phase(name: string, message: string): void; bytes(): void; end(): void },
  signal: AbortSignal,
): Promise<CommandResult> {
  let invocation: Invocation | undefined;
  await buildProgram(async (found) => {
    invocation = found;
  }).parseAsync(args, { from: 'user' });
  try {
    const settings = await Settings.load(invocation!);
    const { run } = await commands[invocation!.command]();
    return await run({ settings, log, progress, signal, budget: new Budget({ signal }) });
  } catch (error) {
    const reason = signal.aborted ? signal.reason : error;
    if (!(reason instanceof AgentError)) throw error;
    const text = said(reason);
    return { exitCode: reason.exitCode, text, data: { error: text } };
  }
}
