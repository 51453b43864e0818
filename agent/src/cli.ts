#!/usr/local/bin/node --expose-gc
import './lib/node-version.ts';
import './lib/partial-chains.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommanderError } from 'commander';
import { advising, said } from './commands/advice/advice.ts';
import { buildProgram, type Invocation } from './commands/cli/program.ts';
import { type CommandResult, resultJson, writeTerminationMessage } from './commands/cli/result.ts';
import { Settings } from './commands/cli/settings.ts';
import { commands } from './commands/commands.ts';
import { endProcess } from './lib/end-process.ts';
import { AgentError, codeOf, ExitCode, messageOf } from './lib/errors.ts';
import { Budget } from './lib/limits/budget.ts';
import { unlessAborted } from './lib/limits/unless-aborted.ts';
import { withinGrace } from './lib/limits/within-grace.ts';
import { createLog } from './lib/log.ts';
import { PhaseTimes } from './lib/terminal/phase-times.ts';
import { printable } from './lib/terminal/printable.ts';
import { createProgress } from './lib/terminal/progress.ts';

// Hide deprecation warnings of packages: a reader of the log can do nothing about them.
process.noDeprecation = true;

// Ignore a closed pipe (as with `head`): the run continues without an error message.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (codeOf(error) === 'EPIPE') return;
    process.exitCode = ExitCode.unexpected;
    if (stream === process.stdout) process.stderr.write(`etcd-agent: cannot write the result: ${messageOf(error)}\n`);
  });
}

/** Milliseconds that a run may still use after its result, for example to close connections. */
const CLOSING = 5_000;

function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (name: string, exitCode: ExitCode) =>
    process.on(name, () => controller.abort(new AgentError(exitCode, `stopped by ${name}`)));
  stop('SIGTERM', ExitCode.terminated);
  stop('SIGINT', ExitCode.interrupted);
  return controller.signal;
}

async function execute(invocation: Invocation): Promise<void> {
  const log = advising(createLog(process.stderr));
  const progress = new PhaseTimes(createProgress(log, process.stderr));
  const signal = stopSignal();
  let json = invocation.flags.output === 'json';
  let named = namedBy((name) => invocation.flags[name]);
  let metricsFile = invocation.flags.metricsFile as string | undefined;
  let result: CommandResult;
  const work = async () => {
    const settings = await Settings.load(invocation);
    json = settings.oneOf('output', '--output', ['text', 'json']) === 'json';
    const { run } = await commands[invocation.command]();
    named = namedBy((name) => settings.text(name));
    metricsFile = settings.text('metricsFile');
    return run({ settings, log, progress, signal, budget: new Budget({ signal }) });
  };
  try {
    result = await withinGrace(work(), signal);
  } catch (error) {
    // Every failure after a signal is a consequence of the signal. With its exit code, it also says what was done before.
    const saysMore = error instanceof AgentError && error.exitCode === signal.reason?.exitCode;
    result = failure(signal.aborted && !saysMore ? signal.reason : error);
  }
  progress.end();
  const phases = progress.seconds;
  if (Object.keys(phases).length > 0) result = { ...result, data: { ...result.data, phases } };
  if (metricsFile) {
    const ended = { command: invocation.command, named, result, phases };
    const writing = import('./commands/cli/metrics-file.ts').then(({ writeRun }) => writeRun(metricsFile!, ended));
    await unlessAborted(writing, AbortSignal.timeout(CLOSING)).catch((error) =>
      log.error(`--metrics-file: ${messageOf(error)}`),
    );
  }
  const asJson = resultJson(invocation.command, result);
  const terminationLog = process.env.ETCD_AGENT_TERMINATION_LOG;
  writeTerminationMessage(asJson, terminationLog);
  // A pod's log combines two pipes. Wait until stderr has been read, so that the result is the last line of the log.
  if (terminationLog) await sleep(100);
  process.exitCode = result.exitCode;
  if (json) await written(process.stdout, asJson);
  else if (result.data.error) await written(process.stderr, `etcd-agent: ${printable(result.text)}`);
  else await written(process.stdout, printable(result.text));
  // The log, too.
  await new Promise<void>((resolve) => process.stderr.write('', () => resolve()));
  // A timer that keeps no process alive: it ends one whose file system or store still owes it an answer.
  setTimeout(() => endProcess(Number(process.exitCode)), CLOSING).unref();
}

/** Resolves when a line was written, however slowly it is read, or cannot be written. */
const written = (stream: NodeJS.WriteStream, line: string): Promise<void> =>
  new Promise((resolve) => stream.write(`${line}\n`, () => resolve()));

const namedBy = (flag: (name: string) => unknown) => ({
  cluster: String(flag('cluster') ?? ''),
  namespace: String(flag('namespace') ?? ''),
});

function failure(error: unknown): CommandResult {
  const message = said(error);
  if (error instanceof AgentError) return { exitCode: error.exitCode, text: message, data: { error: message } };
  const stack = error instanceof Error ? error.stack : undefined;
  return {
    exitCode: ExitCode.unexpected,
    text: `unexpected: ${stack ?? message}`,
    data: { error: `unexpected: ${message}`, stack },
  };
}

try {
  await buildProgram(execute).parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? ExitCode.done : ExitCode.usage;
}
