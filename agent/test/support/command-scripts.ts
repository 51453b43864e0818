import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { CommandSpec } from '../../src/store/spec.ts';

/** The scripts of the example. */
export const exampleScripts = join(import.meta.dirname, '../../../examples/command-store');

/** Writes executables into a new directory. */
export async function scriptDirectory(root: string, scripts: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(root, 'scripts-'));
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(join(directory, name), text);
    await chmod(join(directory, name), 0o755);
  }
  return directory;
}

/** The example's scripts on a directory of this machine: instead of ssh a shell runs what they would run on a server. */
export class LocalScripts implements AsyncDisposable {
  readonly directory: string;
  readonly spec: CommandSpec;
  readonly #root: string;

  private constructor(root: string, ssh: string) {
    this.#root = root;
    this.directory = join(root, 'files');
    const PATH = [ssh, process.env.PATH].join(delimiter);
    this.spec = {
      path: exampleScripts,
      env: { SSH_TARGET: 'nobody@localhost', SSH_DIRECTORY: this.directory, PATH },
      credentialsDirectory: join(root, 'credentials'),
    };
  }

  static async make(): Promise<LocalScripts> {
    const root = await mkdtemp(join(tmpdir(), 'command-'));
    await mkdir(join(root, 'credentials'));
    await writeFile(join(root, 'credentials/privateKey'), 'a-private-key\n');
    const ssh = '#!/bin/sh\nfor command; do :; done\nexec sh -c "$command"\n';
    return new LocalScripts(root, await scriptDirectory(root, { ssh }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }
}
