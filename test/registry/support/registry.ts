import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { authorityIn, certify } from './authority';

export interface RegistryOptions {
  /** For its files. */
  readonly directory: string;
  /** Directory of the certificate authority. */
  readonly authority: string;
  /** Address of this machine that the nodes reach. */
  readonly address: string;
  /** Where everyone pulls, and where the publisher pushes. */
  readonly ports: { readonly pull: number; readonly push: number };
}

/** A request that it answered. */
export interface Request {
  readonly from: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/**
 * Two docker-registry over TLS with the same files: one takes images from who has the password, the other serves them to everyone
 * and takes none, as ghcr.io does under one name.
 */
export class Registry {
  static async start({ directory, authority, address, ports }: RegistryOptions): Promise<Registry> {
    mkdirSync(join(directory, 'images'), { recursive: true });
    const ca = await authorityIn(authority);
    await certify(authority, directory, [address, '127.0.0.1']);
    const password = randomBytes(20).toString('hex');
    const { stdout } = await promisify(execFile)('htpasswd', ['-nbB', 'publisher', password]);
    writeFileSync(join(directory, 'htpasswd'), stdout.trim());
    const registry = new Registry(directory, address, ports, ca, password);
    await registry.#serve('push', { auth: { htpasswd: { realm: 'push', path: join(directory, 'htpasswd') } } });
    await registry.#serve('pull', {}, { maintenance: { readonly: { enabled: true } } });
    return registry;
  }

  readonly user = 'publisher';
  readonly #processes: ChildProcess[] = [];
  readonly #directory: string;
  readonly #address: string;
  readonly #ports: RegistryOptions['ports'];

  private constructor(
    directory: string,
    address: string,
    ports: RegistryOptions['ports'],
    /** File of the authority that signed its certificate. */
    readonly ca: string,
    readonly password: string,
  ) {
    this.#directory = directory;
    this.#address = address;
    this.#ports = ports;
  }

  /** Name of the registry for who pulls. */
  get forAll(): string {
    return `${this.#address}:${this.#ports.pull}`;
  }

  get forPublisher(): string {
    return `${this.#address}:${this.#ports.push}`;
  }

  /** Requests of those who pull. */
  requests(): Request[] {
    const log = readFileSync(join(this.#directory, 'pull.log'), 'utf8');
    const line = /^(\S+) - - \[[^\]]*\] "(\S+) (\S+) [^"]*" (\d+) /gm;
    return [...log.matchAll(line)].map(([, from, method, path, status]) => ({
      ...{ from: from!, method: method!, path: path!, status: Number(status) },
    }));
  }

  async end(): Promise<void> {
    await Promise.all(
      this.#processes.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }),
    );
  }

  async #serve(name: 'push' | 'pull', settings: object, storage: object = {}): Promise<void> {
    const file = (more: string) => join(this.#directory, more);
    const config = {
      version: '0.1',
      log: { level: 'warn', accesslog: { disabled: false } },
      storage: { filesystem: { rootdirectory: file('images') }, ...storage },
      http: {
        addr: `${this.#address}:${this.#ports[name]}`,
        tls: { certificate: file('tls.crt'), key: file('tls.key') },
      },
      ...settings,
    };
    writeFileSync(file(`${name}.yml`), JSON.stringify(config));
    const log = openSync(file(`${name}.log`), 'w');
    const child = spawn('docker-registry', ['serve', file(`${name}.yml`)], { stdio: ['ignore', log, log] });
    this.#processes.push(child);
    await this.#answers(name, child);
  }

  async #answers(name: 'push' | 'pull', child: ChildProcess): Promise<void> {
    const options = { host: this.#address, port: this.#ports[name], ca: readFileSync(this.ca) };
    const connects = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(options, () => resolve(true)).on('error', () => resolve(false));
        socket.on('secureConnect', () => socket.destroy());
      });
    for (let tries = 0; tries < 50 && child.exitCode === null; tries++) {
      if (await connects()) return;
      await sleep(200);
    }
    const log = readFileSync(join(this.#directory, `${name}.log`), 'utf8');
    throw new Error(`docker-registry does not answer at ${options.host}:${options.port}: ${log}`);
  }
}
