import type { CommandContext } from './command.ts';
import { Deadline } from './deadline.ts';
import { AgentError, ExitCode } from './errors.ts';

const MIB = 1024 * 1024;
const BASE = 60_000;

/** Runs within `--timeout`, or within 60 s and one more second per MiB once `grow` has told a size. */
export async function withTimeout<T>(
  { settings, signal }: CommandContext,
  work: (signal: AbortSignal, grow: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const given = settings.duration('timeout', '--timeout');
  const deadline = new Deadline(
    given ?? BASE,
    (seconds) => new AgentError(ExitCode.timedOut, `not done after ${Math.round(seconds)}s; give more with --timeout`),
  );
  try {
    return await work(AbortSignal.any([signal, deadline.signal]), (bytes) => {
      if (given === undefined) deadline.set(BASE + (bytes / MIB) * 1000);
    });
  } finally {
    deadline.clear();
  }
}
