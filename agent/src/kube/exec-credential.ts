import { spawn } from 'node:child_process';
import { messageOf } from '../lib/errors.ts';

/** `exec` of a user in a kubeconfig: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins */
export interface ExecConfig {
  readonly command: string;
  readonly apiVersion?: string;
  readonly args?: readonly string[] | null;
  readonly env?: ReadonlyArray<{ readonly name: string; readonly value: string }> | null;
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
  readonly provideClusterInfo?: boolean;
  readonly installHint?: string;
}

export interface Credential {
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
  readonly expirationTimestamp?: string;
}

/** Milliseconds for a plugin that can ask nobody, and for one at whose terminal a person logs in. */
const limits = { alone: 60_000, asking: 600_000 };

/** The credential that a plugin prints, until it expires. Runs the plugin once, however many ask. */
export class ExecCredential {
  readonly #config: ExecConfig;
  readonly #cluster: object | undefined;
  readonly #signal: AbortSignal | undefined;
  #credential: Promise<Credential> | undefined;
  #until = 0;

  /** `cluster`: what a plugin with `provideClusterInfo` is given. `signal`: ends a plugin that runs. */
  constructor(config: ExecConfig, cluster: object, signal?: AbortSignal) {
    this.#config = config;
    this.#signal = signal;
    this.#cluster = config.provideClusterInfo ? cluster : undefined;
  }

  read(): Promise<Credential> {
    if (this.#credential && Date.now() < this.#until) return this.#credential;
    this.#until = Number.POSITIVE_INFINITY;
    const running = this.#run();
    this.#credential = running;
    running.then(
      ({ expirationTimestamp }) => {
        this.#until = expirationTimestamp === undefined ? Number.MAX_VALUE : Date.parse(expirationTimestamp) || 0;
      },
      () => {
        this.#until = 0;
      },
    );
    return running;
  }

  /** The API server has refused it. One that is being made is another. */
  forget(): void {
    if (Number.isFinite(this.#until)) this.#until = 0;
  }

  async #run(): Promise<Credential> {
    const { apiVersion, interactiveMode = 'IfAvailable', command, installHint } = this.#config;
    const interactive = interactiveMode !== 'Never' && process.stdin.isTTY === true;
    if (interactiveMode === 'Always' && !interactive)
      throw new Error(`${command} must ask, and standard input is not a terminal`);
    const spec = { interactive, cluster: this.#cluster };
    const info = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
    const output = await this.#output(info, interactive).catch((error) => {
      const hint = error.code === 'ENOENT' && installHint ? `; ${installHint}` : '';
      throw new Error(`${messageOf(error)}${hint}`);
    });
    return statusOf(command, output);
  }

  /** Standard error goes to the person: it has the address to log in at, or the reason of a failure. */
  #output(info: string, interactive: boolean): Promise<string> {
    this.#signal?.throwIfAborted();
    const { command, args, env } = this.#config;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const own = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const child = spawn(command, args ?? [], {
      env: { ...process.env, ...own, KUBERNETES_EXEC_INFO: info },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    });
    const limit = interactive ? limits.asking : limits.alone;
    const end = (why: string): void => {
      child.kill('SIGKILL');
      // A grandchild may hold it open.
      child.stdout.destroy();
      reject(new Error(`${command} ${why}`));
    };
    const timer = setTimeout(() => end(`has not ended within ${limit / 1000} s`), limit);
    const stop = () => end('was stopped');
    this.#signal?.addEventListener('abort', stop);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', reject).on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ended with ${code ?? signal}`));
    });
    return promise.finally(() => {
      clearTimeout(timer);
      this.#signal?.removeEventListener('abort', stop);
    });
  }
}

/** No message has any of the output: it is a credential. */
function statusOf(command: string, output: string): Credential {
  try {
    const { kind, status } = JSON.parse(output);
    if (kind === 'ExecCredential' && (status?.token || (status?.clientCertificateData && status.clientKeyData)))
      return status;
  } catch {}
  throw new Error(`${command} printed no ExecCredential with a token or a certificate and its key`);
}
