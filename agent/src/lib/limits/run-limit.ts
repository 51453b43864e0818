import { AgentError, ExitCode } from '../errors.ts';
import { withinGrace } from './within-grace.ts';

const MIB = 1024 * 1024;
/** Milliseconds for each store. */
const BASE = 60_000;

interface Run {
  readonly settings: { duration(name: string): number | undefined };
  readonly signal: AbortSignal;
  /** Says what the run is doing. */
  readonly progress?: { readonly step?: string | undefined };
}

interface Limit {
  readonly extend: (milliseconds: number) => void;
  /** Milliseconds. */
  readonly whole: () => number;
  /** Milliseconds that are left of `--timeout`, or Infinity without that flag. */
  readonly left: () => number;
}

/** The limits of runs by their signals. */
const limits = new WeakMap<AbortSignal, Limit>();

/**
 * Runs work within the limit of `--timeout`. Without that flag the limit is 60 s for each store, plus a second per MiB
 * of the size that `grow` sets, plus what `moreTime` adds. After the limit or a signal, work has a grace period to clean up.
 */
export async function withTimeout<T>(
  { settings, signal, progress }: Run,
  work: (signal: AbortSignal, grow: (bytes: number) => void, limit: () => number) => Promise<T>,
  stores = 1,
): Promise<T> {
  const given = settings.duration('timeout');
  let base = BASE * stores;
  let sized = 0;
  const deadline = new Deadline(given ?? base, (seconds) => new TimedOutError(seconds, progress?.step));
  const set = () => {
    if (given === undefined) deadline.set(base + sized);
  };
  const limited = AbortSignal.any([signal, deadline.signal]);
  const extend = (milliseconds: number) => {
    base += milliseconds;
    set();
  };
  const left = () => (given === undefined ? Number.POSITIVE_INFINITY : deadline.left);
  limits.set(limited, { extend, whole: () => deadline.limit, left });
  try {
    const grow = (bytes: number) => {
      sized = (bytes / MIB) * 1000;
      set();
    };
    return await withinGrace(
      work(limited, grow, () => deadline.limit),
      limited,
    );
  } finally {
    deadline.clear();
  }
}

/** The time limit of a run was reached. */
class TimedOutError extends AgentError {
  readonly #seconds: number;
  readonly #step: string | undefined;

  constructor(seconds: number, step: string | undefined, options?: ErrorOptions & { readonly call?: string }) {
    const inStep = step === undefined ? '' : `, in the step '${step}'`;
    const call = options?.call?.trim();
    const waiting = call === undefined ? '' : `, waiting for \`${call}\``;
    super(ExitCode.timedOut, `not done after ${Math.round(seconds)}s${inStep}${waiting}`, {
      ...options,
      finding: { kind: 'timedOut', isWaiting: call !== undefined },
    });
    this.#seconds = seconds;
    this.#step = step;
  }

  in(step: string | undefined): TimedOutError {
    return new TimedOutError(this.#seconds, step, { cause: this });
  }

  waitingFor(call: string): TimedOutError {
    return new TimedOutError(this.#seconds, this.#step, { cause: this, call });
  }
}

/** Names in the error of a run that has timed out the call that the store had not answered, if that is known. */
export const waitingFor = (error: unknown, call: string | undefined): unknown =>
  error instanceof TimedOutError && call !== undefined ? error.waitingFor(call) : error;

/** Returns the error of a run that has timed out for a part of the run, which was in another step than the run. */
export const inStep = (error: unknown, step: string | undefined): unknown =>
  error instanceof TimedOutError ? error.in(step) : error;

/** Names the stores that the run has waited for. */
export class StoreTimedOutError extends AgentError {}

/**
 * Adds the store's URL to the error of a run that has timed out during work with this store. A store that knows whether
 * it owed an answer then is only named if it did.
 */
export async function namingStore<T>(
  store: { readonly url: string; readonly isLate?: boolean; readonly waitingFor?: string | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const { url } = store;
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.timedOut) throw error;
    if (error instanceof StoreTimedOutError || store.isLate === false) throw error;
    const late = waitingFor(error, store.waitingFor) as AgentError;
    throw new StoreTimedOutError(ExitCode.timedOut, `${url}: ${late.message}`, { cause: late });
  }
}

/** Extends the run of a signal for work that has no size in bytes. Has no effect if `--timeout` is given. */
export function moreTime(signal: AbortSignal | undefined, seconds: number): void {
  if (signal && seconds > 0) limits.get(signal)?.extend(seconds * 1000);
}

/**
 * Runs work that ends within these milliseconds and does not count towards the time limit of its run. Counts if `--timeout`
 * is given.
 */
export async function withOwnTime<T>(
  signal: AbortSignal | undefined,
  milliseconds: number,
  work: () => Promise<T>,
): Promise<T> {
  const extend = signal && limits.get(signal)?.extend;
  const begun = performance.now();
  extend?.(milliseconds);
  try {
    return await work();
  } finally {
    extend?.(performance.now() - begun - milliseconds);
  }
}

/** Milliseconds that the run of a signal may wait for something optional: at most a quarter of its time. */
export const patienceOf = (signal: AbortSignal | undefined, most: number): number =>
  Math.min(most, ((signal && limits.get(signal)?.whole()) ?? Number.POSITIVE_INFINITY) / 4);

/** Milliseconds that are left of the `--timeout` of a run. Infinity for a run without it: that can be extended. */
export const timeLeft = (signal: AbortSignal | undefined): number =>
  (signal && limits.get(signal)?.left()) ?? Number.POSITIVE_INFINITY;

/** Whether the signal was aborted because the run reached its time limit. */
export const isTimeout = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof AgentError && reason.exitCode === ExitCode.timedOut;

/** Time limit of a run as an AbortSignal. It can be changed during the run. */
class Deadline {
  readonly #controller = new AbortController();
  /** Not the time of day, which may be set meanwhile. */
  readonly #startedAt = performance.now();
  readonly #reason: (seconds: number) => Error;
  #timer: NodeJS.Timeout | undefined;
  #limit = 0;

  constructor(milliseconds: number, reason: (seconds: number) => Error) {
    this.#reason = reason;
    this.set(milliseconds);
  }

  /** Milliseconds until the limit. */
  get left(): number {
    return Math.max(0, this.#startedAt + this.#limit - performance.now());
  }

  /** Limit in milliseconds from the start of the run. */
  get limit(): number {
    return this.#limit;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sets the limit, counted from the start of the run. */
  set(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#limit = milliseconds;
    // For more than 24 days setTimeout would fire at once.
    this.#timer = setTimeout(
      () => this.#controller.abort(this.#reason(milliseconds / 1000)),
      Math.min(this.left, 2 ** 31 - 1),
    );
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
