import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { memberList } from '../../../src/controllers/etcd/cluster-calls.ts';
import { alarms, leaseGrant } from '../../../src/controllers/etcd/maintenance-calls.ts';
import { GrpcChannel } from '../../../src/etcd/grpc.ts';
import { hashKV, header, status } from '../../../src/etcd/maintenance.ts';
import { fieldsOf } from '../../../src/etcd/protobuf.ts';
import { openSnapshot } from '../../../src/etcd/snapshot-stream.ts';
import { parseEtcdMetrics } from '../../../src/member/sidecar/etcd-metrics.ts';
import { eachOf, ownRangeError, refused, type Target } from '../target.ts';

/** A channel whose server answers every call with this one message. */
const answering = (message: Uint8Array): GrpcChannel =>
  ({ endpoint: 'http://etcd:2379', unary: async () => message }) as unknown as GrpcChannel;

/** Messages, each after the five bytes of gRPC's header. */
function messagesIn(stream: Buffer): { readonly at: number; readonly message: Buffer }[] {
  const found: { at: number; message: Buffer }[] = [];
  for (let at = 0; at + 5 <= stream.length; ) {
    const end = at + 5 + stream.readUInt32BE(at + 1);
    found.push({ at, message: stream.subarray(at + 5, end) });
    at = end;
  }
  return found;
}

/** The last message of a snapshot holds the sha256 of the blobs before it. */
function withTrailer(stream: Buffer): Buffer {
  const copy = Buffer.from(stream);
  const hash = createHash('sha256');
  const messages = messagesIn(copy);
  for (const [n, { message }] of messages.entries()) {
    if (n === messages.length - 1) {
      if (message.length >= 32) hash.digest().copy(message, message.length - 32);
      break;
    }
    try {
      for (const [field, value] of fieldsOf(message))
        if (field === 3 && value instanceof Uint8Array) hash.update(value);
    } catch {
      return stream;
    }
  }
  return copy;
}

/** A gRPC server that answers with the bytes of the input, and then with an orderly end. */
class LyingServer {
  readonly #server: Http2Server;
  #channel: Promise<GrpcChannel> | undefined;
  #answer: Buffer = Buffer.alloc(0);

  constructor() {
    this.#server = createServer();
    this.#server.on('session', (session) => session.on('error', () => {}));
    this.#server.on('stream', (stream) => this.#send(stream));
    this.#server.listen(0, '127.0.0.1').unref();
  }

  #send(stream: ServerHttp2Stream): void {
    stream.on('error', () => {});
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
    // In pieces of any length.
    const piece = 1 + (((this.#answer[0] ?? 0) + this.#answer.length) % 40_000);
    for (let at = 0; at < this.#answer.length; at += piece) stream.write(this.#answer.subarray(at, at + piece));
    stream.end();
  }

  async call<T>(answer: Buffer, work: (channel: GrpcChannel) => Promise<T>): Promise<T> {
    this.#answer = answer;
    if (!this.#server.listening) await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    this.#channel ??= GrpcChannel.connect(`http://127.0.0.1:${port}`, { dialTimeout: 10_000 });
    const channel = await this.#channel;
    try {
      return await work(channel);
    } finally {
      // The rest of an abandoned call must not disturb the next input.
      channel.close();
      this.#channel = undefined;
    }
  }
}

/** A TCP server that sends the bytes of the input instead of HTTP/2, and then closes the connection. */
class RawServer {
  readonly #server: Server;
  #answer: Buffer = Buffer.alloc(0);

  constructor() {
    this.#server = createTcpServer((socket) => {
      socket.on('error', () => {});
      const answer = this.#answer;
      const greeting = greetingOf(answer);
      socket.write(answer.subarray(0, greeting));
      const received: Buffer[] = [];
      socket.on('data', (chunk) => {
        received.push(chunk);
        if (hasRequest(Buffer.concat(received))) socket.end(answer.subarray(greeting));
      });
      // A client that rejects the greeting sends no request.
      setTimeout(() => socket.end(answer.subarray(greeting)), 60).unref();
    });
    this.#server.listen(0, '127.0.0.1').unref();
  }

  async call(answer: Buffer): Promise<void> {
    this.#answer = answer;
    if (!this.#server.listening) await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    const channel = await GrpcChannel.connect(`http://127.0.0.1:${port}`, { dialTimeout: 1_000 });
    try {
      await status(channel, { deadline: 1_000 });
    } finally {
      channel.close();
    }
  }
}

const HEADERS = 1;
const PREFACE = 24;

function* http2Frames(bytes: Buffer, from = 0): Generator<{ readonly at: number; readonly type: number }> {
  for (let at = from; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) yield { at, type: bytes[at + 3]! };
}

/** Start of the first response: everything before it is sent at once. */
const greetingOf = (answer: Buffer): number =>
  [...http2Frames(answer)].find(({ type }) => type === HEADERS)?.at ?? answer.length;
const hasRequest = (received: Buffer): boolean =>
  [...http2Frames(received, PREFACE)].some(({ type }) => type === HEADERS);

const lying = once1(() => new LyingServer());
const raw = once1(() => new RawServer());

function once1<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

export const etcdWire: readonly Target[] = [
  {
    name: 'protobuf',
    about: 'any message: throws a RangeError for a malformed one',
    kind: 'protobuf',
    corpus: ['etcd-status', 'etcd-hash-kv', 'key-entry'],
    expects: ownRangeError,
    run: (input) => [...fieldsOf(input)],
  },
  {
    name: 'etcd-status',
    about: 'the answer of Maintenance.Status',
    kind: 'protobuf',
    corpus: ['etcd-status'],
    async run(input) {
      const found = await status(answering(input), {});
      for (const value of Object.values(found)) if (Number.isNaN(value)) throw new Error('NaN');
    },
  },
  {
    name: 'etcd-hash-kv',
    about: 'the answer of Maintenance.HashKV',
    kind: 'protobuf',
    corpus: ['etcd-hash-kv'],
    run: (input) => hashKV(answering(input), 1, {}),
  },
  {
    name: 'etcd-members',
    about: 'the answers of MemberList, Alarm and LeaseGrant',
    kind: 'protobuf',
    corpus: ['etcd-members'],
    run(input) {
      const channel = answering(input);
      const works = [() => memberList(channel, {}), () => alarms(channel, {}), () => leaseGrant(channel, 1, {})];
      return eachOf((error) => /without an id/.test(error.message), works);
    },
  },
  {
    name: 'etcd-header',
    about: 'the header of an answer: throws a RangeError',
    kind: 'protobuf',
    corpus: ['etcd-header'],
    expects: ownRangeError,
    run: (input) => header(input),
  },
  {
    name: 'etcd-snapshot',
    about: 'Maintenance.Snapshot over HTTP/2, of a server that sends what it likes',
    kind: 'bytes',
    corpus: ['etcd-snapshot'],
    repair: withTrailer,
    anchors: (input) =>
      messagesIn(input).flatMap(({ at }) => [at, at + 1, at + 4, at + 5, at + 6, at + 7, at + 8, at + 40]),
    run: (input) =>
      lying().call(input, async (channel) => {
        const stream = await openSnapshot(channel, { idleTimeout: 5_000 });
        for await (const _ of stream.body);
        return stream.sums();
      }),
  },
  {
    name: 'http2',
    about: 'HTTP/2 frames of an etcd that answers Status',
    kind: 'bytes',
    corpus: ['http2'],
    anchors: (input) =>
      [...http2Frames(input)].flatMap(({ at }) => [at, at + 2, at + 3, at + 4, at + 5, at + 8, at + 9, at + 10]),
    run: (input) => raw().call(input),
  },
  {
    name: 'etcd-metrics',
    about: "etcd's /metrics: undefined for those of another program",
    kind: 'text',
    corpus: ['etcd-metrics'],
    run: (input) => parseEtcdMetrics(input.toString()) ?? refused,
  },
];
