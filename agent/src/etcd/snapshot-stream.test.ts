import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type FakeSnapshot, fakeEtcd, sha256 } from '../../test/support/fake-etcd.ts';
import { ExitCode } from '../lib/errors.ts';
import { GrpcChannel } from './grpc.ts';
import { openSnapshot } from './snapshot-stream.ts';

const database = randomBytes(300_000);
const whole = database.length + 32;

async function read(snapshot: Partial<FakeSnapshot>, idleTimeout = 300) {
  await using etcd = await fakeEtcd({ database, ...snapshot });
  const channel = await GrpcChannel.connect(etcd.endpoint, { dialTimeout: 1_000 });
  try {
    const stream = await openSnapshot(channel, { idleTimeout });
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream.body) chunks.push(chunk);
    return { bytes: Buffer.concat(chunks), sums: stream.sums(), expectedBytes: stream.expectedBytes };
  } finally {
    channel.close();
  }
}

test('a complete stream yields the database and the trailer, and their checksums', async () => {
  const { bytes, sums, expectedBytes } = await read({});

  expect(bytes.subarray(0, -32).equals(database)).toBe(true);
  expect(expectedBytes).toBe(whole);
  expect(sums).toEqual({
    sizeBytes: whole,
    trailerSha256: sha256(database).toString('hex'),
    sha256: sha256(bytes).toString('hex'),
  });
});

describe('an incomplete stream is never accepted', () => {
  const cuts = [1, 32 * 1024, whole / 2, database.length - 1, database.length, whole - 16, whole - 1].map(Math.floor);
  test.each(cuts)('cut after %d bytes with an orderly end', async (bytes) => {
    await expect(read({ bytes })).rejects.toMatchObject({ exitCode: ExitCode.etcdUnavailable });
  });

  test.each(['reset', 'stall', 'empty frames', 'status 13'] as const)('half of it, then %s', async (ending) => {
    await expect(read({ bytes: whole >> 1, ending })).rejects.toMatchObject({ exitCode: ExitCode.etcdUnavailable });
  });

  test('all of it, then a bad status', async () => {
    await expect(read({ ending: 'status 13' })).rejects.toMatchObject({ exitCode: ExitCode.etcdUnavailable });
  });

  test.each([
    [
      'a message that is not percent-encoded, as a proxy sends it',
      { 'grpc-status': '14', 'grpc-message': '100% full' },
    ],
    ['no number', { 'grpc-status': 'p' }],
    ['an empty one', { 'grpc-status': '' }],
  ])('a bad status: %s', async (_, headers) => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/grpc', ...headers });
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const channel = await GrpcChannel.connect(`http://127.0.0.1:${port}`, { dialTimeout: 1_000 });
    try {
      await expect(channel.unary('Maintenance/Status', Buffer.alloc(0))).rejects.toThrow(/100% full|gRPC status 2$/);
    } finally {
      channel.close();
      server.close();
    }
  });

  test('nothing at all', async () => {
    await expect(read({ bytes: 0 })).rejects.toMatchObject({ exitCode: ExitCode.etcdUnavailable });
  });

  test('more than was announced', async () => {
    await expect(read({ extra: Buffer.from('x') })).rejects.toThrow(/more than/);
  });

  test('fewer than were announced', async () => {
    await expect(read({ remaining: database.length })).rejects.toThrow(/ended the snapshot after/);
  });

  test('a trailer that is not the database’s', async () => {
    await expect(read({ trailer: randomBytes(32) })).rejects.toMatchObject({ exitCode: ExitCode.verificationFailed });
  });
});

test('a slow reader does not count as an idle etcd', async () => {
  await using etcd = await fakeEtcd({ database });
  const channel = await GrpcChannel.connect(etcd.endpoint, { dialTimeout: 1_000 });
  const stream = await openSnapshot(channel, { idleTimeout: 50 });
  let bytes = 0;
  for await (const chunk of stream.body) {
    if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 200));
    bytes += chunk.length;
  }
  channel.close();

  expect(bytes).toBe(whole);
});

test('stopping in the middle cancels the call', async () => {
  await using etcd = await fakeEtcd({ database, ending: 'stall', bytes: whole >> 1 });
  const channel = await GrpcChannel.connect(etcd.endpoint, { dialTimeout: 1_000 });
  const controller = new AbortController();
  const stream = await openSnapshot(channel, { idleTimeout: 60_000, signal: controller.signal });
  const reason = new Error('stop');
  setTimeout(() => controller.abort(reason), 50);

  await expect(async () => {
    for await (const _ of stream.body);
  }).rejects.toBe(reason);
  channel.close();
});
