import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { useFreshCertificate } from './fresh-certificate.ts';

export interface ListenOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Directory with `tls.crt` and `tls.key`. Default: plain HTTP. */
  readonly serverTlsDir?: string;
  /** With TLS: file of the authority whose certificates clients may present. Read the outcome from `isAuthorized`. */
  readonly clientAuthority?: string;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * A server that answers only GET. With TLS, every connection uses the certificate that the directory holds at that
 * time.
 */
export class HttpListener {
  readonly #server: Server | TlsServer;
  readonly #options: ListenOptions;

  constructor(options: ListenOptions, log: Log, answer: Answer) {
    this.#options = options;
    const listener: RequestListener = (request, response) => void guarded(request, response, log, answer);
    const { serverTlsDir } = options;
    this.#server =
      serverTlsDir === undefined ? createServer(listener) : tlsServer({ ...options, serverTlsDir }, log, listener);
    // Probes and polls are short. Hanging requests must not pile up.
    this.#server.requestTimeout = 30_000;
    this.#server.headersTimeout = 10_000;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
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

async function guarded(request: IncomingMessage, response: ServerResponse, log: Log, answer: Answer): Promise<void> {
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

type TlsOptions = ListenOptions & { readonly serverTlsDir: string };

function tlsServer(options: TlsOptions, log: Log, listener: RequestListener): TlsServer {
  const { serverTlsDir: directory, clientAuthority } = options;
  const server = createTlsServer({ requestCert: clientAuthority !== undefined, rejectUnauthorized: false }, listener);
  useFreshCertificate(server, { directory, clientAuthority }, log);
  return server;
}

/** True if the client of a server with `clientAuthority` presented a valid certificate. */
export const isAuthorized = ({ socket }: IncomingMessage): boolean => (socket as TLSSocket).authorized === true;

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
