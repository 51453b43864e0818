import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../lib/log.ts';
import type { Progress } from '../../lib/terminal/progress.ts';

export interface Waiting {
  /** Time-out of each wait, in ms. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** What the steps of a restore need while they wait. */
export interface RestoreContext extends Waiting {
  readonly progress: Progress;
}

const POLL = 300;
const LOG_INTERVAL = 10_000;

/** Polls until `check` returns undefined. Returns the last reason if the time is up before. */
export async function waitUntilClear(
  check: () => Promise<string | undefined>,
  { limit, signal, log }: Waiting,
): Promise<string | undefined> {
  const end = performance.now() + limit;
  let loggedAt = 0;
  let last: string | undefined;
  while (true) {
    signal.throwIfAborted();
    const reason = await check();
    if (reason === undefined || performance.now() >= end) return reason;
    if (reason !== last || performance.now() - loggedAt > LOG_INTERVAL) {
      log.warn(`waiting: ${reason}`);
      [last, loggedAt] = [reason, performance.now()];
    }
    await sleep(POLL, undefined, { signal });
  }
}
