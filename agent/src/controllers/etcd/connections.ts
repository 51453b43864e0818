import { GrpcChannel, GrpcStatus } from '../../etcd/grpc.ts';
import type { TlsMaterial } from '../../etcd/tls.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';

/** gRPC code of a server that cannot answer now. Also used for a lost connection. */
const unavailable = 14;

export interface ConnectionOptions {
  /** Called for every new connection, so that replaced certificates are used. */
  readonly tls?: () => TlsMaterial | undefined | Promise<TlsMaterial | undefined>;
  /** Milliseconds. */
  readonly dialTimeout: number;
}

interface Connection {
  readonly channel: Promise<GrpcChannel>;
  users: number;
  dropped: boolean;
}

/** Keeps one connection to each endpoint while it works. */
export class Connections {
  readonly #options: ConnectionOptions;
  readonly #open = new Map<string, Connection>();
  readonly #closing = new AbortController();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async use<T>(endpoint: string, work: (channel: GrpcChannel, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const connection = this.#open.get(endpoint) ?? this.#connect(endpoint);
    connection.users++;
    try {
      const channel = await connection.channel;
      return await work(channel, signal);
    } catch (error) {
      if (!hasAnswered(error)) this.#drop(endpoint, connection);
      throw asRefusal(endpoint, error);
    } finally {
      connection.users--;
      release(connection);
    }
  }

  /** Closes the connections to all other endpoints. */
  keep(endpoints: readonly string[]): void {
    for (const [endpoint, connection] of this.#open) {
      if (!endpoints.includes(endpoint)) this.#drop(endpoint, connection);
    }
  }

  close(): void {
    this.#closing.abort(new AgentError(ExitCode.interrupted, 'the connections to etcd were closed'));
    for (const [endpoint, connection] of this.#open) this.#drop(endpoint, connection);
  }

  #connect(endpoint: string): Connection {
    const connection: Connection = { channel: this.#dial(endpoint), users: 0, dropped: false };
    this.#open.set(endpoint, connection);
    connection.channel.then(
      (channel) => channel.onClose(() => this.#drop(endpoint, connection)),
      () => undefined,
    );
    return connection;
  }

  async #dial(endpoint: string): Promise<GrpcChannel> {
    const tls = endpoint.startsWith('https:') ? await this.#options.tls?.() : undefined;
    const { dialTimeout } = this.#options;
    return GrpcChannel.connect(endpoint, { tls, dialTimeout, signal: this.#closing.signal });
  }

  /** New calls no longer use the connection. It is closed when the running calls have ended, because one may take long. */
  #drop(endpoint: string, connection: Connection): void {
    connection.dropped = true;
    if (this.#open.get(endpoint) === connection) this.#open.delete(endpoint);
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

/** Whoever is refused may have another certificate by the next connection. */
const hasAnswered = (error: unknown): boolean =>
  error instanceof AgentError &&
  error.cause instanceof GrpcStatus &&
  error.cause.code !== unavailable &&
  !isRefusal(error.cause.message);

/** etcd's words for a caller who is nobody, is not one of its users, or may not do this. */
export const isRefusal = (message: string): boolean =>
  /user name is empty|user name not found|permission denied/.test(message);

/** Says which certificate the reconciler lacks if etcd has refused it. Other errors stay as they are. */
export function asRefusal(endpoint: string, error: unknown): unknown {
  const cause = error instanceof AgentError ? error.cause : undefined;
  if (!(cause instanceof GrpcStatus) || !isRefusal(cause.message)) return error;
  const message = `etcd at ${endpoint} requires authentication, for which the reconciler needs the certificate of root in spec.tls.rootSecret (${cause.message})`;
  return new AgentError(ExitCode.usage, message, { cause });
}
