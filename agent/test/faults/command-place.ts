import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { exampleScripts } from '../command-scripts.ts';
import type { Sshd } from '../harness/sshd.ts';
import type { Place } from './place.ts';

/** A directory of a real sshd, written to by the example's plain sh scripts. */
export class CommandPlace implements Place, AsyncDisposable {
  /** Where the server keeps it. */
  readonly path: string;
  readonly #server: Sshd;

  private constructor(server: Sshd, path: string) {
    this.#server = server;
    this.path = path;
  }

  static async make(server: Sshd): Promise<CommandPlace> {
    const path = join(server.directory, `command-${randomBytes(4).toString('hex')}`);
    await mkdir(path);
    return new CommandPlace(server, path);
  }

  get store(): string {
    return this.through(this.#server.port);
  }

  /** For `--store`, by way of a proxy on a port of 127.0.0.1. */
  through(port: number): string {
    const { username, host, credentialsDirectory } = this.#server;
    const env = { SSH_TARGET: `${username}@${host}`, SSH_PORT: String(port), SSH_DIRECTORY: this.path };
    return JSON.stringify({ command: { path: exampleScripts, env, credentialsDirectory } });
  }

  async keys(): Promise<string[]> {
    return (await this.#files()).filter((name) => !name.endsWith('.part'));
  }

  async unfinished(): Promise<string[]> {
    return (await this.#files()).filter((name) => name.endsWith('.part'));
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.path, key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }

  get(key: string): Promise<Buffer> {
    return readFile(join(this.path, key));
  }

  /** The server's directory goes with the server. */
  async [Symbol.asyncDispose](): Promise<void> {}

  async #files(): Promise<string[]> {
    const entries = await readdir(this.path, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.path, join(entry.parentPath, entry.name)))
      .sort();
  }
}
