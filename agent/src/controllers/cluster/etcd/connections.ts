import { GrpcChannel, GrpcStatus } from '../../../etcd/grpc.ts';
import type { TlsMaterial } from '../../../etcd/tls.ts';
import { AgentError, ExitCode } from '../../../lib/errors.ts';

/** gRPC's code of a server that cannot answer just now; ours of a connection that was lost. */
const unavailable = 14;

export interface ConnectionOptions {
  /** Read again for every new connection, so that replaced certificates are used. */
  readonly tls?: () => TlsMaterial | undefined | Promise<TlsMaterial | undefined>;
  /** Milliseconds. */
  readonly dialTimeout: number;
}

interface Connection {
  readonly channel: Promise<GrpcChannel>;
  users: number;
  dropped: boolean;
}

/** One connection to each endpoint, kept while it works. */
export class Connections {
  readonly #options: ConnectionOptions;
  readonly #kept = new Map<string, Connection>();
  readonly #closing = new AbortController();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async use<T>(endpoint: string, work: (channel: GrpcChannel, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const connection = this.#kept.get(endpoint) ?? this.#connect(endpoint);
    connection.users++;
    try {
      const channel = await connection.channel;
      return await work(channel, signal);
    } catch (error) {
      if (!answered(error)) this.#drop(endpoint, connection);
      throw readable(error);
    } finally {
      connection.users--;
      release(connection);
    }
  }

  /** Of endpoints that are no more, the connections end. */
  keep(endpoints: readonly string[]): void {
    for (const [endpoint, connection] of this.#kept) {
      if (!endpoints.includes(endpoint)) this.#drop(endpoint, connection);
    }
  }

  close(): void {
    this.#closing.abort(new AgentError(ExitCode.interrupted, 'the connections to etcd were closed'));
    for (const [endpoint, connection] of this.#kept) this.#drop(endpoint, connection);
  }

  #connect(endpoint: string): Connection {
    const connection: Connection = { channel: this.#dial(endpoint), users: 0, dropped: false };
    this.#kept.set(endpoint, connection);
    connection.channel.then(
      (channel) => channel.onClose(() => this.#drop(endpoint, connection)),
      () => undefined,
    );
    return connection;
  }

  async #dial(endpoint: string): Promise<GrpcChannel> {
    const tls = endpoint.startsWith('https:') ? await this.#options.tls?.() : undefined;
    const { dialTimeout } = this.#options;
    return GrpcChannel.connect(endpoint, { ...(tls && { tls }), dialTimeout, signal: this.#closing.signal });
  }

  /** No new call uses it; it is closed when the running ones have ended: one of them may be a long one. */
  #drop(endpoint: string, connection: Connection): void {
    connection.dropped = true;
    if (this.#kept.get(endpoint) === connection) this.#kept.delete(endpoint);
    release(connection);
  }
}

function release({ dropped, users, channel }: Connection): void {
  if (!dropped || users > 0) return;
  channel.then(
    (open) => open.close(),
    () => undefined,
  );
}

const answered = (error: unknown): boolean =>
  error instanceof AgentError && error.cause instanceof GrpcStatus && error.cause.code !== unavailable;

/** The texts of errors name the flags of `backup`, which the reconciler does not have. */
function readable(error: unknown): unknown {
  if (!(error instanceof AgentError)) return error;
  const { cause } = error;
  if (cause instanceof GrpcStatus && /user name is empty/.test(cause.message)) {
    const at = error.message.replace(/ requires authentication.*/, '');
    return new AgentError(
      ExitCode.usage,
      `${at} has auth enabled, and the reconciler does not log in (${cause.message})`,
      {
        cause,
      },
    );
  }
  if (!error.message.includes('(--dial-timeout)')) return error;
  return new AgentError(error.exitCode, error.message.replace(' (--dial-timeout)', ''), { cause });
}
