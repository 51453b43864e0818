import { once } from 'node:events';
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { messageOf } from '../../../lib/errors.ts';
import { TlsServer } from '../../../lib/http/tls-server.ts';
import type { Log } from '../../../lib/log.ts';
import { LogOnce } from '../../../lib/log-once.ts';
import { garbageCounter } from '../../../lib/memory.ts';
import { acceptedClients } from '../../accepted-clients.ts';
import type { BackupConfig, MemberConfig } from '../../member-config.ts';
import { Answer } from './answer.ts';
import { checkCaller, isOf } from './caller.ts';
import { type AllowedCall, callAt, memberList, withBackupUrls } from './calls.ts';
import { connectAsRoot } from './etcd-link.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { Places } from './places.ts';
import { readRequest } from './request.ts';
import { Refused, Status, statusOf } from './status.ts';

export type BackupPortConfig = Pick<MemberConfig, 'clientUrl' | 'listenClientUrls' | 'dataDir'> & {
  readonly serverTlsDir: string;
  readonly backup: BackupConfig;
};

/** Time for callers to hear that the agent stops, in ms. */
const farewell = 500;

/**
 * Lets backups ask the etcd of this pod what only its user root may ask, and nothing else: the certificate of backups is
 * outside the members' pods, and that of root is not.
 */
export class BackupPort {
  readonly #config: BackupPortConfig;
  readonly #log: Log;
  readonly #refusals: LogOnce;
  readonly #limits: Limits;
  readonly #tls: TlsServer<Http2SecureServer>;
  readonly #sockets = new Set<Socket>();
  readonly #places: Places;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #closing = new AbortController();
  #calls = 0;
  #snapshots = 0;

  private constructor(config: BackupPortConfig, log: Log, limits: Limits) {
    this.#config = config;
    this.#log = log;
    this.#refusals = new LogOnce(log);
    this.#limits = limits;
    this.#places = new Places(limits);
    this.#tls = this.#secureServer();
  }

  static async listen(config: BackupPortConfig, log: Log, limits: Partial<Limits> = {}): Promise<BackupPort> {
    const port = new BackupPort(config, log, { ...defaultLimits, ...limits });
    const { host, port: number } = config.backup.listen;
    port.#tls.server.listen(number, host);
    await once(port.#tls.server, 'listening');
    port.#tls.server.on('error', () => {});
    return port;
  }

  get port(): number {
    return (this.#tls.server.address() as AddressInfo).port;
  }

  /** Tells the callers, and ends every connection soon. */
  async close(): Promise<void> {
    const closed = once(this.#tls.server, 'close');
    this.#closing.abort(new Refused(Status.unavailable, 'the agent stops'));
    this.#tls.server.close();
    for (const session of this.#sessions) session.close();
    const last = setTimeout(() => {
      for (const session of this.#sessions) session.destroy();
      for (const socket of this.#sockets) socket.destroy();
    }, farewell);
    await closed.finally(() => clearTimeout(last));
  }

  #secureServer(): TlsServer<Http2SecureServer> {
    const { serverTlsDir, dataDir } = this.#config;
    const { handshake, calls } = this.#limits;
    const files = { directory: serverTlsDir, clients: acceptedClients(serverTlsDir, dataDir) };
    const tls = new TlsServer(files, this.#log, (options) =>
      createSecureServer({
        ...{ ...options, rejectUnauthorized: true, handshakeTimeout: handshake },
        ...{ maxHeaderListPairs: 64, maxSettings: 16, maxSessionInvalidFrames: 16, maxOutstandingPings: 4 },
        // MiB of one connection.
        maxSessionMemory: 2,
        settings: { maxConcurrentStreams: calls, maxHeaderListSize: 8_192, enablePush: false },
      }),
    );
    const { server } = tls;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      this.#places.enter(socket);
      socket.once('close', () => this.#sockets.delete(socket)).setKeepAlive(true, 30_000);
    });
    server.on('tlsClientError', (_, socket) => socket.destroy());
    server.on('unknownProtocol', (socket) => socket.destroy());
    server.on('sessionError', () => {});
    server.on('session', (session) => this.#open(session));
    return tls;
  }

  /** A connection without a call is closed after a time. */
  #open(session: ServerHttp2Session): void {
    const socket = session.socket as TLSSocket;
    if (isOf(socket, this.#config.backup.user) && !this.#places.admit(socket)) {
      session.destroy();
      return;
    }
    let streams = 0;
    const idle = setTimeout(() => {
      if (streams === 0) session.destroy();
    }, this.#limits.idle);
    this.#sessions.add(session);
    session.once('close', () => {
      clearTimeout(idle);
      this.#sessions.delete(session);
    });
    session.on('stream', (stream, headers) => {
      streams++;
      stream.once('close', () => {
        streams--;
        idle.refresh();
      });
      // The error of a caller that goes away. Its stream is closed too.
      stream.on('error', () => {});
      void this.#answer(stream, headers, { session, socket });
    });
  }

  async #answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, caller: Caller): Promise<void> {
    const answer = new Answer(stream);
    const { ':method': verb, ':path': path, 'content-type': type = '' } = headers;
    if (verb !== 'POST' || !type.startsWith('application/grpc')) return answer.notGrpc();
    const left = new AbortController();
    stream.once('close', () => left.abort(new Error('the caller went away')));
    const signal = AbortSignal.any([left.signal, this.#closing.signal]);
    try {
      await this.#check(stream, caller);
      const call = callAt(path);
      if (!call) throw new Refused(Status.permissionDenied, `${path} is not a call of a backup`);
      using _ = this.#turn(call);
      const request = call.request(await readRequest(stream, this.#limits, signal));
      if (!request) throw new Refused(Status.permissionDenied, `${call.method} is served only as backups ask it`);
      await this.#passOn({ call, request, answer, signal, peer: caller.socket.remoteAddress ?? '' });
      answer.end(Status.ok, '');
    } catch (error) {
      const { code, message } = statusOf(error);
      if (error instanceof Refused && code !== Status.unavailable)
        this.#refusals.report('refused', `backup port: refused: ${message}`);
      answer.end(code, message);
    }
  }

  /** A caller that is refused whatever it asks loses its connection. */
  async #check(stream: ServerHttp2Stream, { session, socket }: Caller): Promise<void> {
    try {
      await checkCaller(this.#tls, socket, this.#config.backup.user);
    } catch (error) {
      if (error instanceof Refused && error.code === Status.permissionDenied) stream.once('close', () => end(session));
      throw error;
    }
  }

  /** Counts the call until it ends. */
  #turn({ pace }: AllowedCall): Disposable {
    const { calls, snapshots } = this.#limits;
    const isSnapshot = pace === 'stream';
    if (this.#calls >= calls || (isSnapshot && this.#snapshots >= snapshots))
      throw new Refused(
        Status.resourceExhausted,
        isSnapshot ? `this member already sends ${snapshots} snapshots; try again later` : 'too many calls at a time',
      );
    this.#calls++;
    if (isSnapshot) this.#snapshots++;
    return {
      [Symbol.dispose]: () => {
        this.#calls--;
        if (isSnapshot) this.#snapshots--;
      },
    };
  }

  async #passOn({ call, request, answer, signal: ended, peer }: Passing): Promise<void> {
    const { method, pace } = call;
    const patience = { short: this.#limits.short, long: this.#limits.long, stream: this.#limits.stalled }[pace];
    const late = new AbortController();
    const why = `${method} made no progress for ${patience / 1_000} s`;
    const timer = setTimeout(() => late.abort(new Refused(Status.unavailable, why)), patience);
    const signal = AbortSignal.any([ended, late.signal]);
    const passed = garbageCounter();
    let bytes = 0;
    try {
      const channel = await connectAsRoot({ ...this.#config, ...this.#config.backup }, signal);
      try {
        for await (const message of channel.stream(method, request, { signal })) {
          const sent = method === memberList ? this.#withBackupUrls(message) : message;
          await answer.send(sent, signal);
          bytes += sent.length;
          // What etcd sent, the message, and the frame.
          passed(3 * sent.length);
          timer.refresh();
        }
      } finally {
        channel.close();
      }
      if (pace === 'stream') this.#log.info({ peer, bytes }, 'backup port: sent a snapshot');
    } catch (error) {
      const cause = signal.aborted ? signal.reason : error;
      if (pace === 'stream')
        this.#log.warn({ peer, bytes }, `backup port: a snapshot ended early: ${messageOf(cause)}`);
      throw cause;
    } finally {
      clearTimeout(timer);
    }
  }

  #withBackupUrls(answer: Uint8Array): Uint8Array {
    return withBackupUrls(answer, { client: new URL(this.#config.clientUrl).port, backup: this.port });
  }
}

/** Lets the last answer out. */
function end(session: ServerHttp2Session): void {
  if (session.destroyed) return;
  session.close();
  const last = setTimeout(() => session.destroy(), farewell);
  session.once('close', () => clearTimeout(last));
}

interface Caller {
  readonly session: ServerHttp2Session;
  /** Outlives the session. */
  readonly socket: TLSSocket;
}

interface Passing {
  readonly call: AllowedCall;
  readonly request: Uint8Array;
  readonly answer: Answer;
  readonly signal: AbortSignal;
  /** Address of the caller. */
  readonly peer: string;
}
