import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { open } from '../harness/http-exchange.ts';

export interface Exchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
}

/** An HTTP proxy in front of an S3 server that alters requests and answers. */
export class AlteringProxy implements AsyncDisposable {
  /** Bytes that the server receives. */
  request = (_: Exchange, body: Buffer): Buffer => body;
  /** Bytes that the client receives, of the same length. Undefined ends the connection without an answer. */
  answer = (_: Exchange, body: Buffer): Buffer | undefined => body;
  readonly #server: Server;
  readonly #target: URL;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    this.#server.keepAliveTimeout = 0;
  }

  static async start(target: string): Promise<AlteringProxy> {
    const proxy = new AlteringProxy(new URL(target));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = { method: request.method!, path: request.url! };
    const answer = await open(this.#target, request, this.request(exchange, await buffer(request)));
    const body = this.answer(exchange, await buffer(answer));
    if (!body) return void request.socket.destroy();
    response.writeHead(answer.statusCode!, answer.rawHeaders).end(body);
  }
}

/** Returns the same bytes, except for one bit in the middle. */
export function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1]! ^= 1;
  return copy;
}
