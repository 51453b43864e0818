import { AgentError, ExitCode } from '../lib/errors.ts';
import { Budget } from '../lib/limits/budget.ts';
import { unlessAborted } from '../lib/limits/unless-aborted.ts';
import type { CallOptions, Store } from './store.ts';

/** Longest time in milliseconds that a run waits in total for a store's clock that fails. */
const CLOCK_LIMIT = 10_000;

/**
 * Limits the wait for the store's clock: most of a run can do without it. Once the limit is used up, the next calls fail at
 * once. With `--timeout`, one wait is at most a quarter of the time that is left.
 */
export function limitClock(store: Store, budget = new Budget(), limit = CLOCK_LIMIT): Store {
  const read = store.now.bind(store);
  let left = limit;
  let failure: unknown;
  const now = async ({ signal }: CallOptions = {}): Promise<Date | undefined> => {
    signal?.throwIfAborted();
    if (left <= 0) throw failure;
    const begun = performance.now();
    const patience = budget.wait(left).signal;
    const within = signal ? AbortSignal.any([patience, signal]) : patience;
    try {
      return await unlessAborted(read({ signal: within }), within);
    } catch (error) {
      signal?.throwIfAborted();
      const waited = performance.now() - begun;
      budget.extend(waited);
      left = patience.aborted ? 0 : left - waited;
      failure = patience.aborted ? notAnswered(store, waited / 1000) : error;
      throw failure;
    }
  };
  return Object.assign(store, { now });
}

const notAnswered = ({ url }: Store, seconds: number) =>
  new AgentError(
    ExitCode.storeUnreachable,
    `${url}: \`now\`, which reads the store's clock, did not answer within ${Math.round(seconds)} s`,
  );

/** Reads the clock of a store for work that can do without it. Undefined if it cannot be read, whatever the reason. */
export async function clockOf(store: Store, options: CallOptions): Promise<Date | undefined> {
  try {
    return await store.now(options);
  } catch {
    options.signal?.throwIfAborted();
    return undefined;
  }
}

/** The time by the store's clock or, if that cannot be read, by this machine's. */
export const timeAt = async (store: Store, options: CallOptions): Promise<Date> =>
  (await clockOf(store, options)) ?? new Date();
