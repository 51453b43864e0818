import { Deadline } from './deadline.ts';
import { AgentError, ExitCode } from './errors.ts';

const MIB = 1024 * 1024;
const BASE = 60_000;

interface Run {
  readonly settings: { duration(name: string, flag: string): number | undefined };
  readonly signal: AbortSignal;
}

/** Give the run of a signal more milliseconds. */
const limits = new WeakMap<AbortSignal, (milliseconds: number) => void>();

/**
 * Runs within `--timeout`, or within 60 s for each store, one more second per MiB once `grow` has told a size, and what
 * `moreTime` adds.
 */
export async function withTimeout<T>(
  { settings, signal }: Run,
  work: (signal: AbortSignal, grow: (bytes: number) => void, limit: () => number) => Promise<T>,
  stores = 1,
): Promise<T> {
  const given = settings.duration('timeout', '--timeout');
  let base = BASE * stores;
  let sized = 0;
  const deadline = new Deadline(
    given ?? base,
    (seconds) => new AgentError(ExitCode.timedOut, `not done after ${Math.round(seconds)}s; give more with --timeout`),
  );
  const set = () => {
    if (given === undefined) deadline.set(base + sized);
  };
  const limited = AbortSignal.any([signal, deadline.signal]);
  limits.set(limited, (milliseconds) => {
    base += milliseconds;
    set();
  });
  try {
    const grow = (bytes: number) => {
      sized = (bytes / MIB) * 1000;
      set();
    };
    return await work(limited, grow, () => deadline.limit);
  } finally {
    deadline.clear();
  }
}

/** A run whose time the store has used up says which one. */
export async function namingStore<T>({ url }: { readonly url: string }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.timedOut) throw error;
    if (error.message.includes(url)) throw error;
    throw new AgentError(ExitCode.timedOut, `${url}: ${error.message}`, { cause: error });
  }
}

/** For work that no size in bytes tells; where `--timeout` is given, that holds. */
export function moreTime(signal: AbortSignal | undefined, seconds: number): void {
  if (signal && seconds > 0) limits.get(signal)?.(seconds * 1000);
}

/** Whether the signal was aborted because the run reached its time limit. */
export const isTimeout = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof AgentError && reason.exitCode === ExitCode.timedOut;
