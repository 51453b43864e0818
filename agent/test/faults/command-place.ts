import type { Sshd } from '../harness/sshd.ts';
import { exampleScripts } from '../support/command-scripts.ts';
import { DirectoryPlace } from './directory-place.ts';

/** A directory of a real sshd, used through the example's plain sh scripts. */
export class CommandPlace extends DirectoryPlace {
  readonly #server: Sshd;

  private constructor(server: Sshd, path: string) {
    super(path);
    this.#server = server;
  }

  static async on(server: Sshd): Promise<CommandPlace> {
    return new CommandPlace(server, await CommandPlace.newPath());
  }

  override get store(): string {
    return this.through(this.#server.port);
  }

  /** For `--store`, through a proxy on a port of 127.0.0.1. */
  through(port: number): string {
    const { username, host, credentialsDirectory } = this.#server;
    const env = { SSH_TARGET: `${username}@${host}`, SSH_PORT: String(port), SSH_DIRECTORY: this.path };
    return JSON.stringify({ command: { path: exampleScripts, env, credentialsDirectory } });
  }
}
