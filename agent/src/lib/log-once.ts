import type { Log } from './log.ts';

/** The current problems, one line for each subject. Logs a problem once, when it appears or changes. */
export class LogOnce {
  readonly #log: Log;
  readonly #lines = new Map<string, string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Sets the problem of a subject; undefined clears it. */
  report(subject: string, message: string | undefined): void {
    if (this.#lines.get(subject) === message) return;
    if (message === undefined) {
      this.#lines.delete(subject);
      return;
    }
    this.#lines.set(subject, message);
    this.#log.warn(message);
  }

  get all(): string[] {
    return [...this.#lines.values()];
  }
}
