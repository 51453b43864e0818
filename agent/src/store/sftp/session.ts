import type { Socket } from 'node:net';
import type { Client, SFTPWrapper } from 'ssh2';
import { AgentError, ExitCode } from '../../lib/errors.ts';

type Done<T> = (error: Error | null | undefined, value?: T) => void;
export type Send<T> = (sftp: SFTPWrapper, done: Done<T>) => void;

/** How much longer than any other answer a sync may take: it waits for the server's disk, and others wait for it. */
const SYNC_PATIENCE = 10;

/**
 * One connection that is logged in. It is lost for good with the first thing that breaks it: every request that waits
 * then fails, and every later one.
 */
export class SftpSession {
  readonly #client: Client;
  readonly #sftp: SFTPWrapper;
  readonly #socket: Socket;
  readonly #server: string;
  readonly #idleTimeout: number;
  readonly #waiting = new Set<(error: Error) => void>();
  #syncs = 0;
  #lastSign = 0;
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

  /** Sends a request and waits for its answer: the error of a server that says no has the code of SFTP. */
  request<T = void>(send: Send<T>): Promise<T> {
    if (this.#lost) return Promise.reject(this.#lost);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (this.#waiting.size === 0) this.#watch();
    this.#waiting.add(reject);
    const answered = (settle: () => void) => {
      // What ssh2 tells of requests without an answer is less than we know.
      if (!this.#waiting.delete(reject)) return;
      this.#lastSign = performance.now();
      if (this.#waiting.size === 0) clearTimeout(this.#watchdog);
      settle();
    };
    try {
      send(this.#sftp, (error, value) => answered(() => (error ? reject(error) : resolve(value as T))));
    } catch (error) {
      // ssh2 throws at once when the server lacks an extension.
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
    this.#lastSign = performance.now();
    const look = () => {
      const patience = this.#idleTimeout * (this.#syncs > 0 ? SYNC_PATIENCE : 1);
      const left = this.#lastSign + patience - performance.now();
      if (left <= 0) this.#lose(`no answer for ${patience / 1000} s`);
      else this.#watchdog = setTimeout(look, left);
    };
    this.#watchdog = setTimeout(look, this.#idleTimeout);
  }

  #lose(why: string): void {
    if (this.#lost) return;
    clearTimeout(this.#watchdog);
    this.#lost = new AgentError(ExitCode.storeUnreachable, `lost ${this.#server}: ${why}; try again`);
    for (const reject of this.#waiting) reject(this.#lost);
    this.#waiting.clear();
    this.#socket.destroySoon();
    setTimeout(() => this.#socket.destroy(), 1_000).unref();
  }
}
