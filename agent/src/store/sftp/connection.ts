import type { SftpSpec } from '../spec.ts';
import { readLogin } from './credentials.ts';
import { openSession, type SftpTuning } from './login.ts';
import type { SftpSession } from './session.ts';

const defaults: SftpTuning = { idleTimeout: 60_000, loginTimeout: 30_000 };

/** The one session of a store: opened when it is first needed, and anew after it was lost. */
export class SftpConnection {
  readonly #spec: SftpSpec;
  readonly #tuning: SftpTuning;
  #session: SftpSession | undefined;
  #opening: Promise<SftpSession> | undefined;
  #closed = false;

  constructor(spec: SftpSpec, tuning: Partial<SftpTuning> = {}) {
    this.#spec = spec;
    this.#tuning = { ...defaults, ...tuning };
  }

  async session(): Promise<SftpSession> {
    if (this.#session && !this.#session.isLost) return this.#session;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  close(): void {
    this.#closed = true;
    this.#session?.close();
  }

  async #open(): Promise<SftpSession> {
    const session = await openSession(this.#spec, await readLogin(this.#spec), this.#tuning);
    // It was closed while it was being opened.
    if (this.#closed) session.close();
    this.#session = session;
    return session;
  }
}
