import type { Socket } from 'node:net';
import type { Client, SFTPWrapper } from 'ssh2';
import { AgentError, ExitCode } from '../../lib/errors.ts';

type Done<T> = (error: Error | null | undefined, value?: T) => void;
export type Send<T> = (sftp: SFTPWrapper, done: Done<T>) => void;

/**
 * Factor by which the idle time-out grows during a sync: a sync waits for the server's disk, and other requests wait
 * for it.
 */
const SYNC_FACTOR = 10;

/** A connection that is logged in. The first failure ends it for good: all waiting and all later requests then fail. */
export class SftpSession {
  readonly #client: Client;
  readonly #sftp: SFTPWrapper;
  readonly #socket: Socket;
  readonly #server: string;
  readonly #idleTimeout: number;
  readonly #waiting = new Set<(error: Error) => void>();
  #syncs = 0;
  #lastAnswer = 0;
  #watchdog: NodeJS.Timeout | undefined;
  #lost: Error | undefined;

  constructor(client: Client, sftp: SFTPWrapper, socket: Socket, server: string, idleTimeout: number) {
    this.#client = client;
    this.#sftp = sftp;
    this.#socket = socket;
    this.#server = server;
    this.#idleTimeout = idleTimeout;
    client.on('error', (error) => this.#lose(`the connection broke (${error.message})`));
    client.on('close', () => this.#lose('the server closed the connection'));
    sftp.on('error', (error: Error) => this.#lose(`the connection broke (${error.message})`));
    sftp.on('close', () => this.#lose('the server ended the session'));
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Sends a request and waits for the answer. If the server refuses, the error has the SFTP status as its `code`. */
  request<T = void>(send: Send<T>): Promise<T> {
    if (this.#lost) return Promise.reject(this.#lost);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#waiting.size === 0) this.#watch();
    this.#waiting.add(reject);
    const answered = (settle: () => void) => {
      // A lost session has already rejected this request, with a better reason than ssh2 gives.
      if (!this.#waiting.delete(reject)) return;
      this.#lastAnswer = performance.now();
      if (this.#waiting.size === 0) clearTimeout(this.#watchdog);
      settle();
    };
    try {
      send(this.#sftp, (error, value) => answered(() => (error ? reject(error) : resolve(value as T))));
    } catch (error) {
      // ssh2 throws synchronously if the server lacks an extension.
      answered(() => reject(error));
    }
    return promise;
  }

  async sync(handle: Buffer): Promise<void> {
    this.#syncs++;
    try {
      await this.request((sftp, done) => sftp.ext_openssh_fsync(handle, done));
    } finally {
      this.#syncs--;
    }
  }

  close(): void {
    this.#client.end();
    this.#lose('it was closed');
  }

  #watch(): void {
    this.#lastAnswer = performance.now();
    const check = () => {
      const timeout = this.#idleTimeout * (this.#syncs > 0 ? SYNC_FACTOR : 1);
      const left = this.#lastAnswer + timeout - performance.now();
      if (left <= 0) this.#lose(`no answer for ${timeout / 1000} s`);
      else this.#watchdog = setTimeout(check, left);
    };
    this.#watchdog = setTimeout(check, this.#idleTimeout);
  }

  #lose(why: string): void {
    if (this.#lost) return;
    clearTimeout(this.#watchdog);
    this.#lost = new AgentError(ExitCode.storeUnreachable, `lost the connection to ${this.#server}: ${why}; try again`);
    for (const reject of this.#waiting) reject(this.#lost);
    this.#waiting.clear();
    this.#socket.destroySoon();
    setTimeout(() => this.#socket.destroy(), 1_000).unref();
  }
}
