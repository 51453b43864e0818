import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { frame } from '../../src/etcd/grpc.ts';
import type { Certificates } from '../harness/certificates.ts';

export interface Asked {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  /** Common name of the caller. */
  readonly user: string;
  readonly request: Buffer;
}

/** A server that takes the calls of etcd. What it answers is up to the test. */
export class FakeEtcd implements AsyncDisposable {
  readonly asked: Asked[] = [];
  answer: (asked: Asked) => void = ({ stream }) => reply(stream, [Buffer.from('ok')]);
  readonly #server: Http2SecureServer;
  readonly #sockets = new Set<Socket>();

  private constructor({ ca, server }: Certificates) {
    const [cert, key, authority] = [server.cert, server.key, ca].map((file) => readFileSync(file));
    this.#server = createSecureServer({ cert, key, ca: authority, requestCert: true });
    this.#server
      .on('secureConnection', (socket: TLSSocket) => {
        this.#sockets.add(socket);
        socket.once('close', () => this.#sockets.delete(socket));
      })
      .on('session', (session) => session.on('error', () => {}))
      .on('stream', (stream, headers) => void this.#take(stream, headers));
  }

  static async listen(certificates: Certificates, port = 0): Promise<FakeEtcd> {
    const etcd = new FakeEtcd(certificates);
    etcd.#server.listen(port, '127.0.0.1');
    await once(etcd.#server, 'listening');
    return etcd;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  async #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    stream.on('error', () => {});
    const user = String((stream.session!.socket as TLSSocket).getPeerCertificate().subject.CN);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(stream, 'end');
    const request = Buffer.concat(chunks);
    const asked = { stream, headers, path: headers[':path'] ?? '', user, request };
    this.asked.push(asked);
    this.answer(asked);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}

/** Sends messages and a status. */
export function reply(stream: ServerHttp2Stream, messages: readonly Buffer[], code = 0, message = ''): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': code, 'grpc-message': message }));
  for (const each of messages) stream.write(frame(each));
  stream.end();
}
