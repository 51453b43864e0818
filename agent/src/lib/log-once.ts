import type { Log } from './log.ts';

/** Current problems, one message per subject. Logs each message once. */
export class LogOnce {
  readonly #log: Log;
  readonly #lines = new Map<string, string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Sets the problem of a subject. Without a message the subject has no problem any more. */
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
