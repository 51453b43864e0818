import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { bearerRefusal } from './bearer.ts';
import { type AcceptedClients, TlsServer } from './tls-server.ts';

export interface ListenOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Directory with `tls.crt` and `tls.key`. Default: plain HTTP. */
  readonly serverTlsDir?: string;
  /** With TLS: whose certificates clients may present. Nobody has to: probes have none. */
  readonly clients?: AcceptedClients;
}

export type Respond = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * A server that answers only GET. With TLS, every connection uses the certificate that the directory holds at that
 * time.
 */
export class HttpListener {
  readonly #server: Server;
  readonly #tls: TlsServer<HttpsServer> | undefined;
  readonly #options: ListenOptions;

  constructor(options: ListenOptions, log: Log, answer: Respond) {
    this.#options = options;
    const listener: RequestListener = (request, response) => void guarded(request, response, log, answer);
    const { serverTlsDir: directory, clients } = options;
    this.#tls =
      directory === undefined
        ? undefined
        : new TlsServer({ directory, clients }, log, (tls) => createTlsServer(tls, listener));
    this.#server = this.#tls?.server ?? createServer(listener);
    // Probes and polls are short. Hanging requests must not pile up.
    this.#server.requestTimeout = 30_000;
    this.#server.headersTimeout = 10_000;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Why a client may not read a file for members: with TLS it needs their certificate, without TLS the token. */
  async refusalOf(request: IncomingMessage, tokenSha256: string): Promise<string | undefined> {
    if (!this.#tls || !this.#options.clients) return bearerRefusal(request, tokenSha256);
    const refusal = await this.#tls.refusalOf(request.socket as TLSSocket);
    return refusal && `${refusal.why}\n`;
  }

  async listen(): Promise<void> {
    const { host, port } = this.#options.listen;
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    this.#server.on('error', () => {});
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

async function guarded(request: IncomingMessage, response: ServerResponse, log: Log, answer: Respond): Promise<void> {
  try {
    if (request.method !== 'GET') {
      response.writeHead(405, { allow: 'GET' }).end('GET only\n');
      return;
    }
    await answer(request, response);
  } catch (error) {
    log.warn(`GET ${request.url}: ${messageOf(error)}`);
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end(`${messageOf(error)}\n`);
  }
}

export function send(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}

/** Sends a file with its length. */
export async function sendFile(response: ServerResponse, file: string): Promise<void> {
  const { size } = await stat(file);
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': size,
    'cache-control': 'no-store',
  });
  await pipeline(createReadStream(file), response);
}
