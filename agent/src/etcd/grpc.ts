import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { AgentError, ExitCode } from '../lib/errors.ts';
import { connectionError, greetingError, statusError } from './grpc-errors.ts';
import { connectOptions, type TlsMaterial } from './tls.ts';

// Bytes. etcd sends 32 KiB of the database per message, so a much larger message cannot come from etcd.
const MAX_MESSAGE = 8 * 1024 * 1024;
const WINDOW = 1024 * 1024;

export interface GrpcCallOptions {
  readonly signal?: AbortSignal;
  /** Time limit of the call in milliseconds. Default: none, for streams that watch their own progress. */
  readonly deadline?: number;
}

/** The status that the server returned. It is the cause of the AgentError that a call throws. */
export class GrpcStatus extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'GrpcStatus';
    this.code = code;
  }
}

/** The server has not answered a call within its time limit. */
export class NoAnswerError extends AgentError {
  constructor(message: string) {
    super(ExitCode.etcdUnavailable, message);
  }
}

/** gRPC over one HTTP/2 connection to one etcd member. */
export class GrpcChannel {
  readonly endpoint: string;
  readonly #session: ClientHttp2Session;
  #failure: Error | undefined;
  /** etcd's auth token, sent with every call when set. */
  token: string | undefined;

  private constructor(endpoint: string, session: ClientHttp2Session) {
    this.endpoint = endpoint;
    this.#session = session;
    session.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  static async connect(
    endpoint: string,
    options: { tls?: TlsMaterial; dialTimeout: number; signal?: AbortSignal },
  ): Promise<GrpcChannel> {
    const { tls, dialTimeout, signal } = options;
    signal?.throwIfAborted();
    const session = connect(endpoint, {
      ...connectOptions(tls ?? {}),
      settings: { initialWindowSize: WINDOW, enablePush: false },
    });
    const channel = new GrpcChannel(endpoint, session);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () =>
        reject(
          new AgentError(ExitCode.etcdUnavailable, `etcd at ${endpoint} did not answer within ${dialTimeout / 1000}s`, {
            finding: { kind: 'short', limit: 'dialTimeout' },
          }),
        ),
      dialTimeout,
    );
    const abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    // Wait for 'remoteSettings', not for 'connect': a server that rejects the client's certificate or does not use
    // HTTP/2 never sends its settings.
    session.once('remoteSettings', () => resolve());
    session.once('error', (error) => reject(greetingError(endpoint, error)));
    // With TLS 1.3, the server checks the client's certificate after the handshake. Only the socket receives its alert.
    let socket: { destroy(): unknown } | undefined;
    session.once('connect', (_, connected) => {
      socket = connected.once('error', (error) => reject(greetingError(endpoint, error)));
    });
    session.once('close', () => reject(greetingError(endpoint, channel.#failure)));
    try {
      await promise;
      session.setLocalWindowSize(WINDOW);
      return channel;
    } catch (error) {
      session.destroy();
      // After a TLS alert the session leaves its socket open.
      socket?.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Calls a method that returns one message. */
  async unary(method: string, request: Uint8Array, options: GrpcCallOptions = {}): Promise<Uint8Array> {
    let answer: Uint8Array | undefined;
    for await (const message of this.stream(method, request, options)) answer = message;
    if (!answer)
      throw new AgentError(
        ExitCode.etcdUnavailable,
        `etcd at ${this.endpoint} returned an empty response to ${method}`,
      );
    return answer;
  }

  /** Calls a method that returns a stream of messages. Ending the iteration early cancels the call. */
  async *stream(method: string, request: Uint8Array, options: GrpcCallOptions = {}): AsyncGenerator<Uint8Array> {
    const { signal, deadline } = options;
    signal?.throwIfAborted();
    if (this.#session.closed || this.#session.destroyed) throw connectionError(this.endpoint, this.#failure);
    const call = this.#session.request({
      ':method': 'POST',
      ':path': `/etcdserverpb.${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...(this.token && { token: this.token }),
    });
    let timedOut = false;
    const cancel = () => call.close(constants.NGHTTP2_CANCEL);
    const timer =
      deadline === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            cancel();
          }, deadline);
    signal?.addEventListener('abort', cancel, { once: true });
    const status = grpcStatus(call);
    try {
      call.end(frame(request));
      yield* messages(call);
      signal?.throwIfAborted();
      if (timedOut) throw new Error('deadline exceeded');
      const { code, message } = await status;
      if (code !== 0) throw withCause(statusError(this.endpoint, code, message), new GrpcStatus(code, message));
    } catch (error) {
      signal?.throwIfAborted();
      if (timedOut) {
        const limit = `${(deadline ?? 0) / 1000}s`;
        throw new NoAnswerError(`etcd at ${this.endpoint} did not answer ${method} within ${limit}`);
      }
      if (error instanceof AgentError) throw error;
      throw connectionError(this.endpoint, this.#failure ?? error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      cancel();
    }
  }

  /** Calls the listener when the connection can no longer be used: the server ended it, or it was lost. */
  onClose(listener: () => void): void {
    if (this.#session.closed || this.#session.destroyed) listener();
    else this.#session.once('close', listener).once('goaway', listener);
  }

  close(): void {
    this.#session.destroy();
  }
}

const withCause = (error: AgentError, cause: Error): AgentError => Object.assign(error, { cause });

/** A message as gRPC sends it, not compressed. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}

/** Reads the grpc-status of a call from the trailers, or from the headers if etcd sends nothing else. */
function grpcStatus(call: ClientHttp2Stream): Promise<{ code: number; message: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number; message: string }>();
  const read = (headers: Record<string, unknown>) => {
    const status = headers['grpc-status'];
    if (status === undefined) return;
    // A status that is not a number, or empty, must not count as success: 2 is UNKNOWN.
    const code = /^\d+$/.test(String(status)) ? Number(status) : 2;
    resolve({ code, message: decoded(String(headers['grpc-message'] ?? '')) });
  };
  call.on('response', (headers) => {
    if (headers[':status'] !== 200)
      resolve({ code: 14, message: `HTTP status ${headers[':status']}, this is not a gRPC server` });
    read(headers);
  });
  call.on('trailers', read);
  call.on('close', () => resolve({ code: 14, message: 'connection closed before the call ended' }));
  return promise;
}

/** Decodes a percent-encoded message. Some proxies send it unencoded; it is then returned unchanged. */
function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

async function* messages(call: ClientHttp2Stream): AsyncGenerator<Uint8Array> {
  let buffered: Buffer[] = [];
  let length = 0;
  let wanted = 5;
  let inHeader = true;
  for await (const chunk of call as AsyncIterable<Buffer>) {
    buffered.push(chunk);
    length += chunk.length;
    if (length < wanted) continue;
    let bytes = buffered.length === 1 ? chunk : Buffer.concat(buffered, length);
    while (bytes.length >= wanted) {
      const part = bytes.subarray(0, wanted);
      bytes = bytes.subarray(wanted);
      if (inHeader) {
        wanted = part.readUInt32BE(1);
        if (part[0] !== 0 || wanted > MAX_MESSAGE) {
          throw new AgentError(
            ExitCode.etcdUnavailable,
            'the response is not a gRPC message of etcd; check the endpoint',
          );
        }
      } else {
        yield part;
        wanted = 5;
      }
      inHeader = !inHeader;
    }
    buffered = bytes.length > 0 ? [bytes] : [];
    length = bytes.length;
  }
  if (length > 0 || !inHeader) throw new Error('the stream ended within a message');
}
