import type { Sshd } from '../harness/sshd.ts';
import { DirectoryPlace } from './directory-place.ts';
import type { Place } from './place.ts';

/** A directory on a real sshd. */
export class SftpPlace implements Place, AsyncDisposable {
  readonly #server: Sshd;
  readonly #files: DirectoryPlace;
  readonly #options: Readonly<Record<string, string>>;

  private constructor(server: Sshd, files: DirectoryPlace, options: Readonly<Record<string, string>>) {
    this.#server = server;
    this.#files = files;
    this.#options = options;
  }

  static async make(server: Sshd, { legacyAlgorithms = false } = {}): Promise<SftpPlace> {
    return new SftpPlace(server, await DirectoryPlace.make(), legacyAlgorithms ? { legacyAlgorithms: 'true' } : {});
  }

  get store(): string {
    return this.through(this.#server.endpoint);
  }

  /** For `--store`, by way of a proxy: its URL with scheme, host and port. */
  through(endpoint: string): string {
    const { credentialsDirectory } = this.#server;
    return `${endpoint}${this.path}?${new URLSearchParams({ credentialsDirectory, ...this.#options })}`;
  }

  /** Where the server keeps the files. */
  get path(): string {
    return this.#files.path;
  }

  keys(): Promise<string[]> {
    return this.#files.keys();
  }

  unfinished(): Promise<string[]> {
    return this.#files.unfinished();
  }

  put(key: string, bytes: Uint8Array): Promise<void> {
    return this.#files.put(key, bytes);
  }

  get(key: string): Promise<Buffer> {
    return this.#files.get(key);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#files[Symbol.asyncDispose]();
  }
}
