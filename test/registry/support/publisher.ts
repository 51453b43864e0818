import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { root } from '../../guides';
import type { Registry } from './registry';
import type { Rehearsal } from './settings';

/** The end of a program. */
export interface End {
  readonly code: number;
  /** Everything that it wrote. */
  readonly output: string;
}

const signsWith = (key: string) => [`--key=${key}`, '--use-signing-config=false', '--tlog-upload=false'];
const verifiesWith = (key: string) => [`--key=${key}`, '--insecure-ignore-tlog'];

/** Publishes as the workflow of a release does, with the lines of its steps. It signs with a key instead of GitHub's identity. */
export class Publisher {
  static async create(registry: Registry, rehearsal: Rehearsal): Promise<Publisher> {
    const publisher = new Publisher(registry, rehearsal);
    for (const name of ['bin', 'temporary']) mkdirSync(publisher.#file(name));
    await publisher.newKey('ours');
    const signs = [publisher.#cosign, '"$@"', ...signsWith(publisher.#file('ours.key'))].join(' ');
    // The flags after the image name GitHub's identity.
    const verifies = [publisher.#cosign, 'verify', ...verifiesWith(publisher.#file('ours.pub')), '"$2"'].join(' ');
    const script = `#!/bin/sh
case $1 in
  sign) exec ${signs} ;;
  verify) exec ${verifies} ;;
esac
exec ${publisher.#cosign} "$@"
`;
    writeFileSync(publisher.#file('bin/cosign'), script, { mode: 0o755 });
    return publisher;
  }

  readonly #registry: Registry;
  readonly #directory: string;
  readonly #cosign: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(registry: Registry, { directory, version, cosign, address }: Rehearsal) {
    this.#registry = registry;
    this.#directory = directory;
    this.#cosign = cosign;
    // Whatever asks another server than the registry fails: no log, no service of times, no list of trusted keys.
    const proxy = 'http://127.0.0.1:9';
    this.#env = {
      PATH: `${this.#file('bin')}:${process.env.PATH}`,
      ...{
        HOME: directory,
        TMPDIR: this.#file('temporary'),
        DOCKER_CONFIG: this.#file('docker'),
        REGISTRY_AUTH_FILE: this.#file('auth.json'),
      },
      ...{ SSL_CERT_FILE: registry.ca, SSL_CERT_DIR: this.#file('no-certificates'), COSIGN_PASSWORD: '' },
      ...{ HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NO_PROXY: address },
      ...{ TAG: `v${version}`, ACTOR: registry.user, TOKEN: registry.password },
    };
  }

  /** Runs a step of the workflow's job `images` for the registry, as GitHub does. `step` is its name. */
  async run(
    step: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<End & { outputs: Record<string, string> }> {
    const workflow = parse(readFileSync(join(root, '.github/workflows/images.yml'), 'utf8'));
    const found = workflow.jobs.images.steps.find(({ name }: { name?: string }) => name === step);
    if (!found?.run) throw new Error(`images.yml: the job images has no step '${step}' with lines to run`);
    const lines: string = found.run.replaceAll('ghcr.io', this.#registry.forPublisher);
    const file = this.#file('outputs');
    rmSync(file, { force: true });
    const end = await this.#end('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', lines], {
      ...{ GITHUB_OUTPUT: file, ...env },
    });
    const outputs = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    return { ...end, outputs: Object.fromEntries(outputs.map((line) => line.split(/=(.*)/s))) };
  }

  skopeo(...args: readonly string[]): Promise<End> {
    return this.#end('skopeo', args);
  }

  /** Makes a pair of keys under this name. */
  async newKey(name: string): Promise<void> {
    const { code, output } = await this.#end(this.#cosign, ['generate-key-pair', `--output-key-prefix=${name}`]);
    if (code !== 0) throw new Error(output);
  }

  /** Verifies the signature of an image by a public key. */
  verify(image: string, key = 'ours'): Promise<End> {
    return this.#end(this.#cosign, ['verify', ...verifiesWith(this.#file(`${key}.pub`)), image]);
  }

  #file(name: string): string {
    return join(this.#directory, name);
  }

  async #end(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<End> {
    const options = { cwd: this.#directory, env: { ...this.#env, ...env }, maxBuffer: 1024 ** 3, timeout: 600_000 };
    return promisify(execFile)(program, [...args], options).then(
      ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
      ({ code, stdout = '', stderr = '', message }) => ({
        code: typeof code === 'number' ? code : 1,
        output: stdout + stderr || message,
      }),
    );
  }
}
