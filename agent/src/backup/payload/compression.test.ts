import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { ExitCode } from '../../lib/errors.ts';
import { decompress } from './compression.ts';

const whole = Buffer.concat([randomBytes(400_000), Buffer.alloc(700_000), Buffer.from('end')]);
const parts = [whole.subarray(0, 300_000), whole.subarray(300_000, 300_001), whole.subarray(300_001)];

/** A frame that holds no data: pzstd puts one before each of its own. */
const skippable = (bytes: number) => {
  const frame = Buffer.alloc(8 + bytes, 1);
  frame.writeUInt32LE(0x184d2a50);
  frame.writeUInt32LE(bytes, 4);
  return frame;
};

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe.each([
  ['gzip', Buffer.concat(parts.map((part) => gzipSync(part)))],
  ['zstd', Buffer.concat(parts.map((part) => zstdCompressSync(part)))],
  [
    'zstd',
    Buffer.concat(parts.flatMap((part) => [skippable(4), zstdCompressSync(part), skippable(0), zstdCompressSync('')])),
  ],
] as const)('%s of several parts, one after the other', (compression, stored) => {
  test.each([1 << 30, 65_536, 977, 101].map((size) => [size]))(
    'in pieces of %d bytes is decoded to the end',
    async (size) => {
      expect(hash(await buffer(decompress(compression, pieces(stored, size))))).toBe(hash(whole));
    },
  );

  test.each([1, 3, 7])('cut by %d bytes is refused', async (bytes) => {
    const cut = stored.subarray(0, stored.length - bytes);
    await expect(buffer(decompress(compression, pieces(cut, 1 << 30)))).rejects.toMatchObject({
      exitCode: ExitCode.verificationFailed,
    });
  });

  test('with something else behind it is refused', async () => {
    const more = Buffer.concat([stored, Buffer.from('something else')]);
    await expect(buffer(decompress(compression, pieces(more, 1 << 30)))).rejects.toMatchObject({
      exitCode: ExitCode.verificationFailed,
    });
  });
});
