import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpListener, type ListenOptions, send, sendFile } from '../lib/http/http-listener.ts';
import type { Log } from '../lib/log.ts';
import { sendMetrics } from '../lib/metrics/render.ts';
import type { Sample } from '../lib/metrics/sample.ts';
import type { AgentStatus } from '../protocol/agent-status.ts';
import { acceptedClients } from './accepted-clients.ts';
import { agentSamples } from './agent-metrics.ts';

export interface Readiness {
  readonly ready: boolean;
  /** Shown by a probe that fails. */
  readonly why: string;
}

/** A file for clients with a member's certificate or, without TLS, with the token. */
export interface GuardedFile {
  readonly file: string;
  /** Hex. */
  readonly tokenSha256: string;
}

interface StatusServerOptions extends Omit<ListenOptions, 'clients'> {
  /** Directory with the `ca.crt` of the members, and their `ca.crl` if there is one. */
  readonly peerTlsDir?: string;
  readonly dataDir: string;
  readonly log: Log;
  readonly status: StatusServer['status'];
}

/** HTTP server of gate and sidecar. Read-only: answers GET requests and changes nothing. */
export class StatusServer {
  /** Called for each request. */
  status: () => AgentStatus | Promise<AgentStatus>;
  ready: () => Readiness | Promise<Readiness> = () => ({ ready: false, why: 'etcd is not running yet' });
  metrics: () => Promise<readonly Sample[]> = async () => agentSamples(await this.status(), { now: Date.now() });
  salvage?: GuardedFile;
  readonly #listener: HttpListener;

  private constructor({ peerTlsDir, dataDir, log, status, ...options }: StatusServerOptions) {
    const clients = peerTlsDir === undefined ? {} : { clients: acceptedClients(peerTlsDir, dataDir) };
    this.#listener = new HttpListener({ ...options, ...clients }, log, (request, response) =>
      this.#answer(request, response),
    );
    this.status = status;
  }

  /** Starts listening. `status` can be replaced later. */
  static async listen(options: StatusServerOptions): Promise<StatusServer> {
    const server = new StatusServer(options);
    await server.#listener.listen();
    return server;
  }

  get port(): number {
    return this.#listener.port;
  }

  close(): Promise<void> {
    return this.#listener.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://agent');
    switch (pathname) {
      case '/status':
        return send(response, 200, JSON.stringify(await this.status()), 'application/json');
      case '/readyz': {
        const { ready, why } = await this.ready();
        return send(response, ready ? 200 : 503, `${why}\n`);
      }
      case '/livez':
        return send(response, 200, 'ok\n');
      case '/metrics':
        return sendMetrics(response, await this.metrics());
      case '/salvage':
        return this.#sendFile(request, response);
      default:
        return send(response, 404, 'not found; available: /status, /readyz, /livez and /metrics\n');
    }
  }

  async #sendFile(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { salvage } = this;
    if (!salvage) return send(response, 404, 'there is no salvaged snapshot\n');
    const refusal = await this.#listener.refusalOf(request, salvage.tokenSha256);
    if (refusal !== undefined) return send(response, 401, refusal);
    await sendFile(response, salvage.file);
  }
}
