import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export type Way = 'cut' | 'reset' | 'stall' | 'slow';

export interface Fault {
  readonly by: Way;
  /** `up` is towards the server. */
  readonly direction: 'up' | 'down';
  /** Number of bytes that all connections together pass on first. */
  readonly after: number;
}

const SLOW_BYTES_PER_SECOND = 3_000_000;

/** Breaks the network between the agent and a store from a certain byte on, permanently and for every connection. */
export class NetworkFault implements AsyncDisposable {
  happened = false;
  readonly #server: Server;
  readonly #target: URL;
  readonly #fault: Fault;
  readonly #sockets = new Set<Socket>();
  #passed = 0;

  private constructor(target: URL, fault: Fault) {
    this.#target = target;
    this.#fault = fault;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#serve(client));
  }

  static async before(target: string, fault: Fault): Promise<NetworkFault> {
    const network = new NetworkFault(new URL(target), fault);
    network.#server.listen(0, '127.0.0.1');
    await once(network.#server, 'listening');
    network.#server.unref();
    return network;
  }

  /** The target's URL with another port. */
  get url(): string {
    const { port } = this.#server.address() as { port: number };
    return `${this.#target.protocol}//${this.#target.hostname}:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  #serve(client: Socket): void {
    const server = connect({ host: '127.0.0.1', port: Number(this.#target.port), allowHalfOpen: true });
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    }
    if (this.happened) this.#break();
    for (const [from, to, direction] of [
      [client, server, 'up'],
      [server, client, 'down'],
    ] as const) {
      pipeline(from, (chunks: AsyncIterable<Buffer>) => this.#pass(chunks, direction), to).catch(() => {
        from.destroy();
        to.destroy();
      });
    }
  }

  async *#pass(chunks: AsyncIterable<Buffer>, direction: Fault['direction']): AsyncGenerator<Buffer> {
    const { by, after, direction: counted } = this.#fault;
    for await (const chunk of chunks) {
      if (direction === counted) this.#passed += chunk.length;
      if (this.#passed > after && !this.happened) {
        this.happened = true;
        this.#break();
      }
      if (this.happened && by === 'stall') await new Promise(() => {});
      if (this.happened && by === 'slow') await sleep((chunk.length / SLOW_BYTES_PER_SECOND) * 1_000);
      yield chunk;
    }
  }

  #break(): void {
    const { by } = this.#fault;
    if (by === 'cut') for (const socket of this.#sockets) socket.destroy();
    if (by === 'reset') for (const socket of this.#sockets) socket.resetAndDestroy();
  }
}
