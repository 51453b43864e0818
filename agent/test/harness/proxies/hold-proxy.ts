import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { cutRequest, cutResponse, open, pass, reply } from '../http-exchange.ts';

export interface ProxiedRequest {
  /** Counts from 1, in the order of arrival. */
  readonly n: number;
  readonly method: string;
  /** With its query. */
  readonly path: string;
}

/** Number of a request, or a condition that selects it. */
export type Match = number | ((request: ProxiedRequest) => boolean);

type Handler = (record: ProxiedRequest, request: IncomingMessage, response: ServerResponse) => Promise<void>;

interface Rule {
  readonly match: Match;
  readonly handle: Handler;
  readonly holds?: boolean;
}

/** An HTTP proxy in front of an S3 server that can pause at one exact request. */
export class HoldProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: URL;
  #requests: ProxiedRequest[] = [];
  #rules: Rule[] = [];
  #waiting: (() => void)[] = [];
  #held = Promise.withResolvers<ProxiedRequest>();

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
    // A connection closed for being idle would make clients repeat requests.
    this.#server.keepAliveTimeout = 0;
    this.#server.requestTimeout = 0;
  }

  static async start(target: string): Promise<HoldProxy> {
    const proxy = new HoldProxy(new URL(target));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.#server.unref();
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  get requests(): readonly ProxiedRequest[] {
    return this.#requests;
  }

  /** Resolves when a request is held; after a release, when the next one is held. */
  get held(): Promise<ProxiedRequest> {
    return this.#held.promise;
  }

  /** The server receives the request only after the release, and never if its client has disconnected by then. */
  holdBefore(match: Match): void {
    this.#rules.push({ match, holds: true, handle: (...exchange) => this.#holdBefore(...exchange) });
  }

  /**
   * The server has executed the request and has answered, but the client receives the answer only after the release.
   */
  holdAfter(match: Match): void {
    this.#rules.push({ match, holds: true, handle: (...exchange) => this.#holdAfter(...exchange) });
  }

  /** Answers in the server's place. */
  answer(match: Match, answer: { status: number; body?: string; headers?: Record<string, string> }): void {
    const handle: Handler = async (_, request, response) => {
      await buffer(request);
      response.writeHead(answer.status, answer.headers).end(answer.body);
    };
    this.#rules.push({ match, handle });
  }

  /** Ends both connections when the server has the request's head and this many bytes of its body. */
  cutRequest(match: Match, bytes: number): void {
    this.#rules.push({ match, handle: (_, request) => cutRequest(this.#target, request, bytes) });
  }

  /** Ends the client's connection after the answer's head and this many bytes of its body. */
  cutResponse(match: Match, bytes: number): void {
    this.#rules.push({ match, handle: (_, request, response) => cutResponse(this.#target, request, response, bytes) });
  }

  /** Releases everything that is held, and holds nothing more until it is asked to. */
  async release(): Promise<void> {
    // First notice the disconnection of a client that was just killed.
    await sleep(50);
    this.#rules = this.#rules.filter(({ holds }) => !holds);
    this.#held = Promise.withResolvers();
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Clears rules and requests, and counts from 1 again. */
  reset(): void {
    this.#rules = [];
    this.#requests = [];
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const record = { n: this.#requests.length + 1, method: request.method!, path: request.url! };
    this.#requests.push(record);
    const rule = this.#rules.find(({ match }) => (typeof match === 'number' ? match === record.n : match(record)));
    if (rule) return rule.handle(record, request, response);
    await pass(this.#target, request, response);
  }

  async #holdBefore(record: ProxiedRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Continue to read while holding: only this shows that the client has disconnected. Our buffers may already hold
    // its whole body.
    const body = buffer(request);
    body.catch(() => undefined);
    await this.#hold(record);
    if (request.socket.destroyed) return;
    await reply(await open(this.#target, request, await body), response);
  }

  async #holdAfter(record: ProxiedRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await open(this.#target, request, await buffer(request));
    const body = await buffer(answer);
    await this.#hold(record);
    response.writeHead(answer.statusCode!, answer.rawHeaders).end(body);
  }

  #hold(record: ProxiedRequest): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push(go);
      this.#held.resolve(record);
    });
  }
}
