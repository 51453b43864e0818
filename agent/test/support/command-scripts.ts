import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
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

/** The example's scripts for a directory of this machine: instead of ssh, a shell runs the commands for the server. */
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

  /**
   * The same, but this script hangs for a key that matches the shell pattern. Its output on stderr is a sign of life.
   */
  async hanging(script: string, pattern: string): Promise<CommandSpec> {
    const hang = `case "$1" in ${pattern}) while :; do echo waiting >&2; sleep 1; done;; esac`;
    return this.replacing(script, `#!/bin/sh\n${hang}\nexec "\${0%/*}/real-${script}" "$@"\n`);
  }

  /** The same, but with another text for this script, which finds the original beside it with the prefix `real-`. */
  async replacing(script: string, text: string): Promise<CommandSpec> {
    const path = await scriptDirectory(this.#root, { [script]: text });
    for (const name of await readdir(exampleScripts))
      await symlink(join(exampleScripts, name), join(path, name === script ? `real-${name}` : name));
    return { ...this.spec, path };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }
}
