import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** What happens to the snapshot after this many bytes of its messages. */
export interface Spoiling {
  readonly after: number;
  /** The connection ends; no more data comes; empty messages come forever; it ends as if complete; one bit is wrong. */
  readonly by: 'cut' | 'stall' | 'empty messages' | 'end' | 'flip';
}

const EMPTY_MESSAGE = Buffer.alloc(5);

/** A proxy in front of an etcd that breaks the stream of Maintenance.Snapshot and forwards every other call. */
export class SnapshotProxy implements AsyncDisposable {
  spoiling: Spoiling | undefined;
  /** Size of the messages of the last snapshot, in bytes. */
  bytes = 0;
  readonly #server: Http2Server;
  readonly #target: string;
  readonly #sessions = new Set<ServerHttp2Session | ClientHttp2Session>();

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer();
    this.#server.on('session', (session) => this.#serve(session));
  }

  static async start(target: string): Promise<SnapshotProxy> {
    const proxy = new SnapshotProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) session.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  #serve(client: ServerHttp2Session): void {
    const etcd = connect(this.#target);
    for (const [session, other] of [
      [client, etcd],
      [etcd, client],
    ] as const) {
      this.#sessions.add(session);
      session.on('error', () => {});
      session.on('close', () => {
        this.#sessions.delete(session);
        other.destroy();
      });
    }
    client.on('stream', (stream, headers) => void this.#pass(stream, headers, etcd).catch(() => stream.destroy()));
  }

  async #pass(down: ServerHttp2Stream, headers: IncomingHttpHeaders, etcd: ClientHttp2Session): Promise<void> {
    const { ':method': method, ':path': path, ':scheme': _, ':authority': __, ...rest } = headers;
    const up = etcd.request({ ...rest, ':method': method, ':path': path });
    up.on('error', () => down.destroy());
    down.on('error', () => {});
    down.on('close', () => up.close(constants.NGHTTP2_CANCEL));
    down.pipe(up);
    let trailers: IncomingHttpHeaders = {};
    up.on('trailers', (received) => {
      trailers = received;
    });
    down.on('wantTrailers', () => down.sendTrailers(trailers));
    const [response, flags] = await once(up, 'response');
    if (flags & constants.NGHTTP2_FLAG_END_STREAM) return down.respond(response, { endStream: true });
    down.respond(response, { waitForTrailers: true });
    const spoiling = path === '/etcdserverpb.Maintenance/Snapshot' ? this.spoiling : undefined;
    if (spoiling?.by === 'end') trailers = { 'grpc-status': '0' };
    await pipeline(this.#spoiled(up, down, spoiling), down);
  }

  async *#spoiled(up: ClientHttp2Stream, down: ServerHttp2Stream, spoiling?: Spoiling): AsyncGenerator<Buffer> {
    const { after, by } = spoiling ?? { after: Number.POSITIVE_INFINITY };
    let passed = 0;
    for await (const chunk of up as AsyncIterable<Buffer>) {
      const room = Math.max(0, after - passed);
      passed += chunk.length;
      if (chunk.length <= room) {
        yield chunk;
        continue;
      }
      if (by === 'flip') {
        if (room < chunk.length && passed - chunk.length <= after) chunk[room]! ^= 1;
        yield chunk;
        continue;
      }
      yield chunk.subarray(0, room);
      if (by === 'end') return;
      if (by === 'cut') down.session?.destroy();
      if (by === 'stall') await once(down, 'close');
      while (by === 'empty messages' && !down.destroyed) {
        yield EMPTY_MESSAGE;
        await sleep(5);
      }
      return;
    }
    this.bytes = passed;
  }
}
