import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Forwards requests to a server unchanged, and counts them. */
export class CountingProxy implements AsyncDisposable {
  readonly endpoint: string;
  readonly #server: Server;
  #requests = 0;

  private constructor(server: Server, count: () => void) {
    const { port } = server.address() as AddressInfo;
    this.#server = server;
    this.endpoint = `http://127.0.0.1:${port}`;
    server.on('request', count);
  }

  static async start(target: string): Promise<CountingProxy> {
    const { hostname, port } = new URL(target);
    const server = createServer((incoming, outgoing) => {
      const { method, url, headers } = incoming;
      const onward = request({ hostname, port, method, path: url, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.rawHeaders);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy: CountingProxy = new CountingProxy(server, () => {
      proxy.#requests++;
    });
    return proxy;
  }

  /** Number of requests since the last call. */
  take(): number {
    const requests = this.#requests;
    this.#requests = 0;
    return requests;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
