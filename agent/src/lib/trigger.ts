import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds to wait after a change for more changes, because they come in groups. */
const debounce = 200;

/** Makes a loop run its next pass at once. */
export class Trigger {
  #pending = false;
  #resolve: () => void = () => {};

  now(): void {
    this.#pending = true;
    this.#resolve();
  }

  /** Waits for a change. Returns soon if there was one since the last call. */
  readonly wait = async (signal: AbortSignal): Promise<void> => {
    if (!this.#pending) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
    }
    if (signal.aborted) return;
    await sleep(debounce, undefined, { signal });
    this.#pending = false;
  };
}

interface Pausing {
  readonly signal: AbortSignal;
  readonly wake?: ((signal: AbortSignal) => Promise<unknown>) | undefined;
}

/** Returns true if something changed meanwhile. */
export async function pause({ signal, wake }: Pausing, ms: number): Promise<boolean> {
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const over = async (wait: Promise<unknown>, changed: boolean) => wait.catch(() => {}).then(() => changed);
  const waits = [over(sleep(ms, undefined, { signal: either }), false), ...(wake ? [over(wake(either), true)] : [])];
  const changed = await Promise.race(waits);
  ended.abort();
  return changed;
}
