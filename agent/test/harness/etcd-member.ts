import { request as http } from 'node:http';
import { request as https } from 'node:https';
import type { EtcdBinaries } from './etcd-binaries.ts';
import { ServerProcess } from './server-process.ts';

export interface MemberOptions {
  readonly binaries: EtcdBinaries;
  readonly name: string;
  readonly dataDir: string;
  readonly clientUrl: string;
  /** URL that the member advertises to clients: its client URL, or that of a proxy. */
  readonly advertisedUrl: string;
  readonly peerUrl: string;
  readonly log: string;
  readonly args: string[];
  /** A client's certificate and key, PEM, for the health check over TLS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
}

/** One etcd process, which can be killed and restarted on its data directory. */
export class EtcdMember {
  readonly #options: MemberOptions;
  #process: ServerProcess | undefined;

  constructor(options: MemberOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get dataDir(): string {
    return this.#options.dataDir;
  }

  get clientUrl(): string {
    return this.#options.clientUrl;
  }

  get advertisedUrl(): string {
    return this.#options.advertisedUrl;
  }

  get peerUrl(): string {
    return this.#options.peerUrl;
  }

  get pid(): number | undefined {
    return this.#process?.running ? this.#process.pid : undefined;
  }

  /** Starts the process without waiting: it becomes healthy only with a quorum. */
  async spawn(): Promise<void> {
    const { binaries, name, dataDir, clientUrl, advertisedUrl, peerUrl, log, args } = this.#options;
    this.#process = await ServerProcess.spawn(
      `etcd ${binaries.version} (${name})`,
      binaries.etcd,
      [
        ...['--name', name, '--data-dir', dataDir, '--logger', 'zap'],
        ...['--listen-client-urls', clientUrl, '--advertise-client-urls', advertisedUrl],
        ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
        ...args,
      ],
      log,
    );
  }

  async start(): Promise<void> {
    await this.spawn();
    await this.healthy();
  }

  /** Resolves when the member answers and knows a leader. */
  async healthy(): Promise<void> {
    if (!this.#process) throw new Error(`${this.name} was not started`);
    await this.#process.until(() => isHealthy(`${this.clientUrl}/health`, this.#options.tls));
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#process?.kill(signal);
  }
}

function isHealthy(url: string, tls: MemberOptions['tls']): Promise<boolean> {
  const send = tls ? https : http;
  return new Promise((resolve, reject) => {
    // The server's certificate may be expired on purpose.
    const request = send(url, { ...tls, rejectUnauthorized: false, agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy(new Error('timed out')));
    request.on('error', reject);
    request.end();
  });
}
