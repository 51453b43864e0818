import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { AgentError, ExitCode as codes, type ExitCode } from '../../lib/errors.ts';

/** Environment variable of a process that reads once: the number of the store, or `etcd`. */
export const READ = 'ETCD_AGENT_EXPORTER_READ';

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE = 2_000;

/**
 * Reads in a process of its own, with the flags of this one: a file system or a name service that hangs would otherwise keep
 * a thread of this process, and no signal could end it. Settles only when that process has ended.
 */
export async function readInProcess<T>(what: string, signal: AbortSignal): Promise<T> {
  const args = [...process.execArgv, ...process.argv.slice(1), '--output=json'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, [READ]: what },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = text(child.stdout).catch(() => '');
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    // It ends the executables of its store, if it can.
    child.kill('SIGTERM');
    timer = setTimeout(() => {
      child.kill('SIGKILL');
      // Even one that cannot be killed keeps this process from ending no longer.
      child.unref();
      child.stdout.destroy();
    }, GRACE);
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const [code, by] = (await once(child, 'exit')) as [ExitCode | null, NodeJS.Signals | null];
    signal.throwIfAborted();
    return resultOf<T>(await output, code, by);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function resultOf<T>(output: string, code: ExitCode | null, by: NodeJS.Signals | null): T {
  const result = parsed(output.trim().split('\n').at(-1) ?? '');
  if (code === codes.done && result?.found !== undefined) return result.found as T;
  const why = result?.error ?? `the process that reads ended with ${by ?? `exit code ${code}`}, and no result`;
  throw new AgentError(code ?? codes.unexpected, String(why));
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
