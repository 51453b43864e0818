import { setTimeout as sleep } from 'node:timers/promises';

/** Changes come in groups: how long after the first the rest is waited for, ms. */
const settle = 200;

/** Lets a loop go on before its time. */
export class Wake {
  #pending = false;
  #resolve: () => void = () => {};

  now(): void {
    this.#pending = true;
    this.#resolve();
  }

  /** Until something changed, since the last time too. */
  readonly wait = async (signal: AbortSignal): Promise<void> => {
    if (!this.#pending) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
    }
    if (signal.aborted) return;
    await sleep(settle, undefined, { signal });
    this.#pending = false;
  };
}
