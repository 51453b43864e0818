import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { said } from '../advice/advice.ts';

export interface RepeatedReadOptions<T> {
  readonly read: (signal: AbortSignal) => Promise<T>;
  /** Milliseconds from the beginning of one read to that of the next. */
  readonly interval: number;
  /** Milliseconds that a read may take. */
  readonly limit: number;
  /** Called after each read: with why it failed, or undefined if it worked. */
  readonly onEnd: (problem: string | undefined) => void;
}

/** Reads something again and again, one read at a time, and keeps the result of the last one that worked. */
export class RepeatedRead<T> {
  readonly #options: RepeatedReadOptions<T>;
  #isUp: boolean | undefined;
  #last: { readonly value: T; readonly at: number } | undefined;
  /** A read is in progress, perhaps beyond its limit. */
  #isReading = false;

  constructor(options: RepeatedReadOptions<T>) {
    this.#options = options;
  }

  /** Whether the last read worked. Undefined before the first one has ended, or has reached its limit. */
  get isUp(): boolean | undefined {
    return this.#isUp;
  }

  /** Result of the last read that worked, and when it ended, ms. */
  get last(): { readonly value: T; readonly at: number } | undefined {
    return this.#last;
  }

  /** Reads until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begun = performance.now();
      await this.#once(signal);
      const rest = Math.max(0, this.#options.interval - (performance.now() - begun));
      await sleep(rest, undefined, { signal }).catch(() => {});
    }
  }

  async #once(signal: AbortSignal): Promise<void> {
    const limited = new AbortController();
    const stop = () => limited.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const timer = setTimeout(() => limited.abort(tooLate(this.#options.limit)), this.#options.limit);
    try {
      if (this.#isReading) throw stillReading();
      const value = await unlessAborted(this.#read(limited.signal), limited.signal);
      this.#last = { value, at: Date.now() };
      this.#end(undefined);
    } catch (error) {
      if (!signal.aborted) this.#end(said(error));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  async #read(signal: AbortSignal): Promise<T> {
    this.#isReading = true;
    try {
      return await this.#options.read(signal);
    } finally {
      this.#isReading = false;
    }
  }

  #end(problem: string | undefined): void {
    this.#isUp = problem === undefined;
    this.#options.onEnd(problem);
  }
}

const tooLate = (limit: number): AgentError =>
  new AgentError(ExitCode.timedOut, `not read after ${Math.round(limit / 1000)}s; allow more with --timeout`);

const stillReading = (): AgentError =>
  new AgentError(ExitCode.timedOut, 'an earlier read hangs and cannot be ended; no other begins before it has');
