import { AgentError, ExitCode } from '../errors.ts';
import type { Finding } from '../finding.ts';
import { type Call, TimedOutError } from './timed-out-error.ts';
import { withinGrace } from './within-grace.ts';

const MIB = 1024 * 1024;
/** Milliseconds for each store. */
const BASE = 60_000;
/** Longest time in milliseconds without an answer for what a run can do without. */
export const ANSWER = 15_000;
/** Milliseconds. A hint is not worth a longer wait. */
export const HINT = 5_000;
/** In total, a run waits for answers so many times the time of one, and as long as they may take. */
const WHOLE = 4;
/** Milliseconds. setTimeout fires at once for more, which are 24 days. */
export const LONGEST = 2 ** 31 - 1;

/** A wait for what a run can do without. */
export interface Wait {
  /** Aborted when the wait or the run is over. */
  readonly signal: AbortSignal;
  /** The store has answered, which may take so many milliseconds. */
  answered(worth: number): void;
}

interface Limits {
  /** Ends the run. */
  readonly signal?: AbortSignal;
  /** Milliseconds that the work may extend. Default: no limit. */
  readonly base?: number;
  /** Milliseconds of `--timeout`, which nothing extends. */
  readonly given?: number | undefined;
  /** What the run is doing. */
  readonly progress?: { readonly step?: string | undefined } | undefined;
}

/**
 * The time of a run: until when it lasts, how long it waits for one answer, and why it has ended. Follows a monotonic clock,
 * because the time of day may be set meanwhile. All times are in milliseconds.
 */
export class Budget {
  /** Aborted by the time limit, or by a signal of the process. */
  readonly signal: AbortSignal;
  /** The calls of stores that the run waits for, the one that has waited longest first. */
  readonly owed = new Set<Call>();
  readonly #late = new AbortController();
  readonly #begun = performance.now();
  readonly #given: number | undefined;
  readonly #progress: Limits['progress'];
  #base: number;
  #sized = 0;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor({ signal, base = Number.POSITIVE_INFINITY, given, progress }: Limits = {}) {
    this.signal = signal ? AbortSignal.any([signal, this.#late.signal]) : this.#late.signal;
    this.#base = base;
    this.#given = given;
    this.#progress = progress;
    this.#set();
  }

  /** Counted from the start of the run. */
  get limit(): number {
    return this.#given ?? this.#base + this.#sized;
  }

  /** Rest of `--timeout`. Infinity without that flag: such a run can be extended. */
  get left(): number {
    return this.#given === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.#rest);
  }

  get #rest(): number {
    return this.#begun + this.limit - performance.now();
  }

  /** Time for one answer: with `--timeout`, at most one of so many parts of the time that is left. */
  patience(most: number, parts = 4): number {
    return Math.min(most, this.left / parts);
  }

  /**
   * Time for which one of several stores may keep the run waiting, so that all stores but one can hang and together use at
   * most half of its time. Unlimited for a single store.
   */
  share(stores: number): number {
    return stores < 2 ? Number.POSITIVE_INFINITY : this.limit / (2 * (stores - 1));
  }

  /** Adds a second for each MiB that the run reads or writes. */
  grow(bytes: number): void {
    this.#sized = (bytes / MIB) * 1000;
    this.#set();
  }

  /** Adds time for work that has no size in bytes. */
  extend(time: number): void {
    this.#base += time;
    this.#set();
  }

  /** Does work of at most this time, which does not count. */
  async apart<T>(most: number, work: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    this.extend(most);
    try {
      return await work();
    } finally {
      this.extend(performance.now() - begun - most);
    }
  }

  wait(most = HINT): Wait {
    const late = new AbortController();
    setTimeout(() => late.abort(unanswered('does not answer in time')), this.patience(most)).unref();
    return { signal: AbortSignal.any([this.signal, late.signal]), answered() {} };
  }

  /**
   * Waits as long as the store keeps answering, each time for at most this long. That extends the run. With `--timeout`, the
   * wait takes at most half of what is left.
   */
  answers(most = ANSWER): Wait {
    const late = new AbortController();
    const each = this.patience(most);
    const half = this.patience(Number.POSITIVE_INFINITY, 2);
    const begun = performance.now();
    let last = begun;
    let worth = 0;
    const timer = setTimeout(() => late.abort(unanswered('does not answer in time')), each).unref();
    this.extend(each);
    const answered = (time: number) => {
      if (late.signal.aborted) return;
      worth += time;
      const now = performance.now();
      if (now - begun > Math.min(WHOLE * each + worth, half)) {
        clearTimeout(timer);
        late.abort(unanswered('answers too slowly', { kind: 'short', limit: 'timeout' }));
        return;
      }
      timer.refresh();
      this.extend(now - last);
      last = now;
    };
    return { signal: AbortSignal.any([this.signal, late.signal]), answered };
  }

  /** Later work, such as that of a call which hangs, has no time limit, and keeps no timer. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #set(): void {
    clearTimeout(this.#timer);
    if (this.#isOver || this.limit === Number.POSITIVE_INFINITY) return;
    const late = () => this.#late.abort(new TimedOutError(this.limit, this.#progress?.step, [...this.owed]));
    this.#timer = setTimeout(late, Math.min(Math.max(0, this.#rest), LONGEST));
  }
}

interface Run extends Pick<Limits, 'progress'> {
  readonly settings: { duration(name: string): number | undefined };
  readonly signal: AbortSignal;
}

/**
 * Runs work within `--timeout`. Without that flag the limit is 60 s for each store, plus what the work adds. After the limit or
 * a signal, work has a grace period to clean up.
 */
export async function withTimeout<C extends Run, T>(
  context: C,
  work: (context: C & { readonly budget: Budget }) => Promise<T>,
  stores = 1,
): Promise<T> {
  const { settings, signal, progress } = context;
  const budget = new Budget({ signal, base: BASE * stores, given: settings.duration('timeout'), progress });
  try {
    return await withinGrace(work({ ...context, signal: budget.signal, budget }), budget.signal);
  } finally {
    budget.end();
  }
}

const unanswered = (why: string, finding?: Finding) =>
  new AgentError(ExitCode.storeUnreachable, `the store ${why}`, { finding });
