import { readFile } from 'node:fs/promises';
import { GrpcChannel } from '../../../src/etcd/grpc.ts';
import type { TlsMaterial } from '../../../src/etcd/tls.ts';
import { messageOf } from '../../../src/lib/errors.ts';
import type { TlsFiles } from '../../harness/certificates.ts';

/** How a client reaches a cluster. */
export interface Target {
  readonly endpoints: readonly string[];
  readonly tls?: TlsFiles | undefined;
}

/** The call failed. `applied` is true if it may have taken effect nevertheless. */
export class CallFailed extends Error {
  readonly applied: 'no' | 'unknown';

  constructor(applied: 'no' | 'unknown', cause: unknown) {
    super(messageOf(cause), { cause });
    this.applied = applied;
  }
}

/**
 * Errors of etcd that prove that a write was not tried. Every other error is ambiguous, even "space exceeded": etcd
 * applies the write that crosses the quota, and returns this error.
 */
const REFUSED = /not supported for learner|permission denied|too many requests|request is too large/;

/**
 * Time-out of a connection in ms. Longer than that of an attempt, because a TLS handshake is slow on a busy machine.
 */
const dialTimeout = 5_000;

/** One client with every endpoint: it stays with an endpoint that answers, and otherwise goes to the next. */
export class KvClient {
  readonly #target: Target;
  #at: number;
  readonly #channels = new Map<string, Promise<GrpcChannel>>();

  constructor(target: Target, first = 0) {
    this.#target = target;
    this.#at = first;
  }

  get endpoint(): string {
    return this.#target.endpoints[this.#at % this.#target.endpoints.length]!;
  }

  /** Makes one attempt, within this number of milliseconds. */
  async call(method: string, request: Uint8Array, deadline: number): Promise<Uint8Array> {
    const { endpoint } = this;
    const started = performance.now();
    const channel = await within(deadline, this.#connected(endpoint)).catch((error: unknown) => {
      this.moveOn();
      throw new CallFailed('no', error);
    });
    try {
      return await channel.unary(method, request, {
        deadline: Math.max(1, deadline - (performance.now() - started)),
      });
    } catch (error) {
      if (!/did not answer/.test(messageOf(error))) this.#drop(endpoint);
      this.moveOn();
      throw new CallFailed(REFUSED.test(messageOf(error)) ? 'no' : 'unknown', error);
    }
  }

  /** A call with a stream of answers. */
  async *stream(method: string, request: Uint8Array, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { endpoint } = this;
    try {
      const channel = await this.#connected(endpoint);
      yield* channel.stream(method, request, { signal });
    } finally {
      this.#drop(endpoint);
      this.moveOn();
    }
  }

  /** Makes the next call use the next endpoint. */
  moveOn(): void {
    this.#at++;
  }

  /** The existing connection, or the one that is being opened. */
  #connected(endpoint: string): Promise<GrpcChannel> {
    const known = this.#channels.get(endpoint);
    if (known) return known;
    const dialed = this.#dial(endpoint);
    this.#channels.set(endpoint, dialed);
    dialed.catch(() => this.#forget(endpoint, dialed));
    return dialed;
  }

  async #dial(endpoint: string): Promise<GrpcChannel> {
    // A client that knows both schemes may get its certificate later.
    const tls = endpoint.startsWith('https:') ? await tlsOf(this.#target.tls) : undefined;
    return GrpcChannel.connect(endpoint, { dialTimeout, ...(tls && { tls }) });
  }

  #forget(endpoint: string, channel: Promise<GrpcChannel>): void {
    if (this.#channels.get(endpoint) === channel) this.#channels.delete(endpoint);
  }

  #drop(endpoint: string): void {
    const channel = this.#channels.get(endpoint);
    if (!channel) return;
    this.#channels.delete(endpoint);
    channel.then(
      (made) => made.close(),
      () => undefined,
    );
  }

  close(): void {
    for (const endpoint of [...this.#channels.keys()]) this.#drop(endpoint);
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no connection yet')), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Read for each connection: certificates are replaced while clients run. */
export async function tlsOf(files: TlsFiles | undefined): Promise<TlsMaterial | undefined> {
  if (!files) return undefined;
  const [ca, cert, key] = await Promise.all(
    [files.ca, files.client.cert, files.client.key].map((path) => readFile(path)),
  );
  return { ca: ca!, cert: cert!, key: key! };
}
