import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { Place } from './place.ts';

/** A directory. */
export class DirectoryPlace implements Place, AsyncDisposable {
  readonly path: string;

  protected constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<DirectoryPlace> {
    return new DirectoryPlace(await DirectoryPlace.newPath());
  }

  protected static newPath(): Promise<string> {
    return mkdtemp(join(tmpdir(), 'faults-'));
  }

  get store(): string {
    return `file://${this.path}`;
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

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  async #files(): Promise<string[]> {
    const entries = await readdir(this.path, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.path, join(entry.parentPath, entry.name)))
      .sort();
  }
}
