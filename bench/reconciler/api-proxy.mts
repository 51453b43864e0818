import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { createServer, Agent as HttpsAgent, request as requestHttps, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ApiAccess } from '../../agent/src/kube/api-client.ts';
import type { KeyPair } from '../../agent/test/harness/certificates.ts';

/** A request that changes something, except the renewal of the Lease. */
export interface Write {
  readonly what: string;
  readonly path: string;
  /** Of this process's clock, ms. */
  readonly at: number;
}

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Stands between the reconciler and the API server, and counts. */
export class ApiProxy implements AsyncDisposable {
  /** By verb and resource, such as `list pods`. */
  counts = new Map<string, number>();
  writes: Write[] = [];
  readonly #access: ApiAccess;
  readonly #server: Server;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #waiting = new Set<(write: Write) => void>();

  private constructor(access: ApiAccess, { cert, key }: KeyPair) {
    this.#access = access;
    const options = { keepAlive: true };
    this.#agent = access.server.protocol === 'http:' ? new HttpAgent(options) : new HttpsAgent(options);
    const certificate = { cert: readFileSync(cert), key: readFileSync(key) };
    this.#server = createServer(certificate, (request, response) => void this.#pass(request, response));
    // Do not end connections of a reconciler that waits for its next pass: a real API server keeps them, too.
    this.#server.keepAliveTimeout = 300_000;
  }

  static async listen(access: ApiAccess, pair: KeyPair): Promise<ApiProxy> {
    const proxy = new ApiProxy(access, pair);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  forget(): void {
    this.counts = new Map();
    this.writes = [];
  }

  /** The next write about this cluster. */
  nextWrite(cluster: string): Promise<Write> {
    const { promise, resolve } = Promise.withResolvers<Write>();
    const see = (write: Write) => {
      if (!write.path.split('/').some((part) => part === cluster || part.startsWith(`${cluster}-`))) return;
      this.#waiting.delete(see);
      resolve(write);
    };
    this.#waiting.add(see);
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#count(request);
    const { server } = this.#access;
    const { headers, ...options } = await this.#access.options();
    const send = server.protocol === 'http:' ? requestHttp : requestHttps;
    const upstream = send({
      ...{ agent: this.#agent, host: server.hostname, port: server.port },
      ...options,
      ...{ method: request.method, path: request.url },
      headers: { ...request.headers, ...headers, host: server.host },
    });
    response.on('close', () => upstream.destroy());
    upstream.on('error', () => response.destroy());
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
      answer.on('error', () => response.destroy()).pipe(response);
    });
    request.pipe(upstream);
  }

  #count({ method = 'GET', url = '/' }: IncomingMessage): void {
    const { pathname, searchParams } = new URL(url, 'http://api');
    const [, resource = pathname, name] = /\/namespaces\/[^/]+\/([^/]+)(?:\/([^/]+))?/.exec(pathname) ?? [];
    const read = searchParams.get('watch') === 'true' ? 'watch' : name === undefined ? 'list' : 'get';
    const what = `${verbs[method] ?? read} ${resource}`;
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
    if (method === 'GET' || resource === 'leases') return;
    const write = { what: `${what} ${name ?? ''}`, path: pathname, at: performance.now() };
    this.writes.push(write);
    for (const see of this.#waiting) see(write);
  }
}
