import type { Log } from './log.ts';

/** What is wrong now, one line a subject; the log gets each of them once. */
export class Complaints {
  readonly #log: Log;
  readonly #lines = new Map<string, string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Without a message all is well again. */
  say(subject: string, message: string | undefined): void {
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
