import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

interface Limits {
  readonly cutAfter?: number;
  readonly stallAfter?: number;
  readonly bytesPerSecond?: number;
}

/** A TCP proxy that disturbs what the server sends. Each connection is counted separately. */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: URL;
  readonly #sockets = new Set<Socket>();
  #limits: Limits = {};

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#serve(client));
  }

  /** Forwards everything to the URL `target` until another method is called. */
  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(target));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.#server.unref();
    return proxy;
  }

  /** The target's URL with the proxy's port. */
  get url(): string {
    const { port } = this.#server.address() as { port: number };
    return `${this.#target.protocol}//127.0.0.1:${port}`;
  }

  /** Ends a connection after exactly this many bytes from the server. */
  cutAfter(bytes: number): void {
    this.#limits = { cutAfter: bytes };
  }

  /** Sends this many bytes to the client and then no more, and keeps the connection open. */
  stallAfter(bytes: number): void {
    this.#limits = { stallAfter: bytes };
  }

  slow(bytesPerSecond: number): void {
    this.#limits = { bytesPerSecond };
  }

  /** Forwards everything again. A stalled connection remains stalled. */
  mend(): void {
    this.#limits = {};
  }

  /** Ends every open connection. New ones are forwarded. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((done) => this.#server.close(done));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #serve(client: Socket): void {
    const server = connect({ host: this.#target.hostname, port: Number(this.#target.port), allowHalfOpen: true });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroySoon();
      });
    }
    // Read and drop what the client still sends: closing with unread bytes would discard bytes that were sent.
    const cut = () => client.unpipe(server).resume();
    client.pipe(server);
    server.pipe(new Spoiler(() => this.#limits, cut)).pipe(client);
  }
}

class Spoiler extends Transform {
  readonly #limits: () => Limits;
  readonly #cut: () => void;
  #passed = 0;

  constructor(limits: () => Limits, cut: () => void) {
    super();
    this.#limits = limits;
    this.#cut = cut;
  }

  override async _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): Promise<void> {
    const { cutAfter, stallAfter, bytesPerSecond } = this.#limits();
    const room = Math.max(0, (cutAfter ?? stallAfter ?? Number.POSITIVE_INFINITY) - this.#passed);
    const passing = chunk.subarray(0, room);
    this.#passed += passing.length;
    if (bytesPerSecond) await this.#trickle(passing, bytesPerSecond);
    else this.push(passing);
    if (chunk.length < room) return done();
    // Without the callback, nothing more is read: the connection stalls.
    if (cutAfter === undefined) return;
    this.#cut();
    this.push(null);
  }

  async #trickle(bytes: Buffer, bytesPerSecond: number): Promise<void> {
    const step = Math.max(1, Math.floor(bytesPerSecond / 10));
    for (let at = 0; at < bytes.length; at += step) {
      await sleep(100);
      this.push(bytes.subarray(at, at + step));
    }
  }
}
