import type { Sshd } from '../harness/sshd.ts';
import { DirectoryPlace } from './directory-place.ts';

/** A directory on a real sshd. */
export class SftpPlace extends DirectoryPlace {
  readonly #server: Sshd;
  readonly #options: Readonly<Record<string, string>>;

  private constructor(server: Sshd, path: string, options: Readonly<Record<string, string>>) {
    super(path);
    this.#server = server;
    this.#options = options;
  }

  static async on(server: Sshd, { legacyAlgorithms = false } = {}): Promise<SftpPlace> {
    return new SftpPlace(server, await SftpPlace.newPath(), legacyAlgorithms ? { legacyAlgorithms: 'true' } : {});
  }

  override get store(): string {
    return this.through(this.#server.endpoint);
  }

  /** For `--store`, through a proxy: its URL with scheme, host and port. */
  through(endpoint: string): string {
    const { credentialsDirectory } = this.#server;
    return `${endpoint}${this.path}?${new URLSearchParams({ credentialsDirectory, ...this.#options })}`;
  }
}
