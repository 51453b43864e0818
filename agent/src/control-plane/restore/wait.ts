import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../lib/log.ts';

export interface Waiting {
  /** Milliseconds that each wait may take. */
  readonly limit: number;
  readonly signal: AbortSignal;
  readonly log: Log;
}

const POLL = 300;
const TELL_EVERY = 10_000;

/** Asks until nothing is in the way any more; gives back what still was when the time was up. */
export async function waitUntilClear(
  look: () => Promise<string | undefined>,
  { limit, signal, log }: Waiting,
): Promise<string | undefined> {
  const end = Date.now() + limit;
  let told = 0;
  let last: string | undefined;
  while (true) {
    signal.throwIfAborted();
    const reason = await look();
    if (reason === undefined || Date.now() >= end) return reason;
    if (reason !== last || Date.now() - told > TELL_EVERY) {
      log.warn(`waiting: ${reason}`);
      [last, told] = [reason, Date.now()];
    }
    await sleep(POLL, undefined, { signal });
  }
}
