import { setTimeout as sleep } from 'node:timers/promises';
import type { Remark } from '../../lib/finding.ts';
import type { Log } from '../../lib/log.ts';
import type { Progress } from '../../lib/terminal/progress.ts';

export interface WaitOptions {
  /** Time-out of each wait, in ms. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** What the steps of a restore need while they wait. */
export interface RestoreContext extends WaitOptions {
  readonly progress: Progress;
}

const POLL = 300;
const LOG_INTERVAL = 10_000;

/** Polls until `check` returns undefined. Returns the last reason if the time is up before. */
export async function waitUntilClear<R extends string | Remark>(
  check: () => Promise<R | undefined>,
  { limit, signal, log }: WaitOptions,
): Promise<R | undefined> {
  const end = performance.now() + limit;
  let loggedAt = 0;
  let last: string | undefined;
  while (true) {
    signal.throwIfAborted();
    const reason = await check();
    if (reason === undefined || performance.now() >= end) return reason;
    const { message, finding }: Remark = typeof reason === 'string' ? { message: reason } : reason;
    if (message !== last || performance.now() - loggedAt > LOG_INTERVAL) {
      log.warn({ finding }, `waiting: ${message}`);
      [last, loggedAt] = [message, performance.now()];
    }
    await sleep(POLL, undefined, { signal });
  }
}
