import { createHash } from 'node:crypto';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** A Maintenance.Snapshot with faults that a real etcd does not show on demand. */
export interface FakeSnapshot {
  readonly database: Buffer;
  /** Bytes of the database and trailer together that are sent before the stream ends or stalls. Default: all. */
  readonly bytes?: number;
  /** What follows these bytes. Default: an orderly end. */
  readonly ending?: 'end' | 'stall' | 'empty frames' | 'reset' | 'status 13';
  /** Replaces the trailer. */
  readonly trailer?: Buffer;
  /** False number of remaining bytes in the first message. */
  readonly remaining?: number;
  readonly extra?: Buffer;
}

export interface FakeEtcd extends AsyncDisposable {
  readonly endpoint: string;
}

const MESSAGE = 32 * 1024;

export function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** Serves only Maintenance.Snapshot, on a loopback port. */
export async function fakeEtcd(snapshot: FakeSnapshot): Promise<FakeEtcd> {
  const server = createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': snapshot.ending === 'status 13' ? 13 : 0 }));
    void send(stream, snapshot);
  });
  server.on('session', (session) => session.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

async function send(stream: ServerHttp2Stream, snapshot: FakeSnapshot): Promise<void> {
  const { database, extra = Buffer.alloc(0), ending = 'end' } = snapshot;
  const all = Buffer.concat([database, snapshot.trailer ?? sha256(database), extra]);
  const end = snapshot.bytes ?? all.length;
  const boundaries = [...Array(Math.ceil(database.length / MESSAGE)).keys()].map((n) => n * MESSAGE);
  for (const [index, from] of [...boundaries, database.length].entries()) {
    const to = Math.min(end, index < boundaries.length ? Math.min(from + MESSAGE, database.length) : all.length);
    if (to <= from) break;
    const remaining = index === 0 ? (snapshot.remaining ?? database.length - to) : Math.max(0, database.length - to);
    stream.write(frame(message(remaining, all.subarray(from, to))));
  }
  if (ending === 'reset') return stream.close(2);
  if (ending === 'stall') return;
  if (ending === 'empty frames') {
    const timer = setInterval(() => stream.write(frame(message(0, Buffer.alloc(0)))), 2);
    stream.on('close', () => clearInterval(timer));
    return;
  }
  stream.end();
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

function message(remaining: number, blob: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x10]), varint(remaining), Buffer.from([0x1a]), varint(blob.length), blob]);
}

function frame(payload: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(payload.length, 1);
  return Buffer.concat([header, payload]);
}
