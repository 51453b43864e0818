/** A run's time limit that can be moved while it runs, as an AbortSignal. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #startedAt = Date.now();
  readonly #reason: (seconds: number) => Error;
  #timer: NodeJS.Timeout | undefined;
  #limit = 0;

  constructor(milliseconds: number, reason: (seconds: number) => Error) {
    this.#reason = reason;
    this.set(milliseconds);
  }

  /** Milliseconds from the start of the run. */
  get limit(): number {
    return this.#limit;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Counted from the start of the run. */
  set(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#limit = milliseconds;
    const left = Math.max(0, this.#startedAt + milliseconds - Date.now());
    // setTimeout fires at once for more than 24 days.
    this.#timer = setTimeout(
      () => this.#controller.abort(this.#reason(milliseconds / 1000)),
      Math.min(left, 2 ** 31 - 1),
    );
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
