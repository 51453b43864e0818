import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Store } from '../../store/store.ts';
import { compressions, type SnapshotManifest } from '../catalog/manifest.ts';
import { compress } from './compression.ts';
import { readContent } from './read-payload.ts';

const database = Buffer.concat([randomBytes(100_000), Buffer.alloc(400_000)]);
const snapshot = Buffer.concat([database, createHash('sha256').update(database).digest()]);

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 10_000) yield bytes.subarray(at, at + 10_000);
}

const holding = (bytes: Uint8Array, get = async () => chunks(bytes)) => ({ url: 'file:///x', get }) as unknown as Store;

const read = async (manifest: SnapshotManifest, stored: Uint8Array) => buffer(readContent(holding(stored), manifest));
const refused = (manifest: SnapshotManifest, stored: Uint8Array, message: RegExp) =>
  expect(read(manifest, stored)).rejects.toMatchObject({
    exitCode: ExitCode.verificationFailed,
    message: expect.stringMatching(message),
  });

describe.each(compressions)('stored with %s', (compression) => {
  let stored: Buffer;
  let manifest: SnapshotManifest;
  const describing = (bytes: Buffer) => manifestOf(snapshot, bytes, { object: { compression } });
  beforeAll(async () => {
    stored = await buffer(compress(compression, chunks(snapshot)));
    manifest = describing(stored);
  });

  test('it is read as etcd sent it', async () => {
    expect((await read(manifest, stored)).equals(snapshot)).toBe(true);
  });

  test.each([0, 1, 1_000, -40, -32, -1])('cut to %d bytes it is refused', async (end) => {
    const cut = stored.subarray(0, end);
    await refused(manifest, cut, /bytes, not/);
    await refused(describing(cut), cut, /shorter or longer than|not a complete|sha256/);
  });

  test('with a bit flipped it is refused', async () => {
    const flipped = Buffer.from(stored);
    flipped[stored.length >> 1]! ^= 1;
    await refused(manifest, flipped, /those that were stored \(sha256 differs\)/);
  });

  test('damaged bytes are named as such, even if they cannot be decoded long before the last one', async () => {
    const broken = Buffer.from(stored).fill(0xff, 20, 60);
    const slow = async function* () {
      yield broken.subarray(0, 1_000);
      await sleep(100);
      yield broken.subarray(1_000);
    };
    const reading = buffer(
      readContent(
        holding(broken, async () => slow()),
        manifest,
      ),
    );
    await expect(reading).rejects.toThrow(/those that were stored \(sha256 differs\)/);
  });

  test('another, intact snapshot is refused', async () => {
    const other = Buffer.from(database);
    other[0]! ^= 1;
    const whole = Buffer.concat([other, createHash('sha256').update(other).digest()]);
    const bytes = await buffer(compress(compression, chunks(whole)));
    await refused(describing(bytes), bytes, /not what etcd sent/);
  });

  test('a snapshot whose own trailer is wrong is refused, though all our sums are right', async () => {
    const wrong = Buffer.from(snapshot);
    wrong[7]! ^= 1;
    const bytes = await buffer(compress(compression, chunks(wrong)));
    await refused(manifestOf(wrong, bytes, { object: { compression } }), bytes, /its own sha256 trailer/);
  });
});

test('a change of the stored bytes is reported, even if the content is not changed', async () => {
  const stored = await buffer(compress('gzip', chunks(snapshot)));
  const manifest = manifestOf(snapshot, stored, { object: { compression: 'gzip' } });
  // The time stamp in gzip's header.
  stored[4]! ^= 1;
  await refused(manifest, stored, /the bytes in file:\/\/\/x are not those that were stored/);
});

test('content that is longer than the content that etcd sent is not decompressed to its end', async () => {
  const bomb = await buffer(compress('zstd', chunks(Buffer.alloc(50_000_000))));
  const manifest = manifestOf(snapshot, bomb, { object: { compression: 'zstd' } });
  let bytes = 0;
  const reading = (async () => {
    for await (const chunk of readContent(holding(bomb), manifest)) bytes += chunk.length;
  })();

  await expect(reading).rejects.toMatchObject({ exitCode: ExitCode.verificationFailed });
  expect(bytes).toBeLessThanOrEqual(snapshot.length);
});

test("the store's own error passes through: it says nothing about the snapshot", async () => {
  const away = new AgentError(ExitCode.storeUnreachable, 'away');
  const failing = async function* () {
    yield Buffer.from('x');
    throw away;
  };
  for (const compression of compressions) {
    const manifest = manifestOf(snapshot, snapshot, { object: { compression } });
    const reading = buffer(
      readContent(
        holding(snapshot, async () => failing()),
        manifest,
      ),
    );
    await expect(reading).rejects.toBe(away);
  }
});
