import { once } from 'node:events';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { frame } from '../../../etcd/grpc.ts';

const { NGHTTP2_NO_ERROR } = constants;
const head = { ':status': 200, 'content-type': 'application/grpc' } as const;

/** The answer to one call. */
export class Answer {
  readonly #stream: ServerHttp2Stream;
  #end: { 'grpc-status': number; 'grpc-message'?: string } = { 'grpc-status': 0 };

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  /** Sends a message. Resolves when the caller may take the next one. */
  async send(message: Uint8Array, signal: AbortSignal): Promise<void> {
    const stream = this.#stream;
    if (!stream.headersSent) {
      stream.once('wantTrailers', () => stream.sendTrailers(this.#end));
      stream.respond(head, { waitForTrailers: true });
    }
    if (!stream.write(frame(message))) await once(stream, 'drain', { signal });
  }

  end(code: number, message: string): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    this.#end = { 'grpc-status': code, ...(message !== '' && { 'grpc-message': encodeURIComponent(message) }) };
    if (stream.headersSent) {
      stream.end();
      return;
    }
    stream.respond({ ...head, ...this.#end }, { endStream: true });
    // The caller need not send the rest of its request.
    if (!stream.readableEnded) stream.close(NGHTTP2_NO_ERROR);
  }

  /** Of a request that is not gRPC. */
  notGrpc(): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    stream.respond({ ':status': 415 }, { endStream: true });
    if (!stream.readableEnded) stream.close(NGHTTP2_NO_ERROR);
  }
}
