import { compressions, type PayloadCompression } from '../../../src/backup/catalog/manifest.ts';
import { decompress } from '../../../src/backup/payload/compression.ts';
import { decrypt } from '../../../src/backup/payload/encryption.ts';
import { splitFrames } from '../../../src/backup/payload/zstd-frames.ts';
import { corpusFile } from '../corpus.ts';
import type { Target } from '../target.ts';

/** Bytes after which our reader stops, because it knows the length of the content. */
const ENOUGH = 4 * 1024 * 1024;

/** Yields the input in pieces of any length, which may end within a header. */
async function* pieces(input: Buffer): AsyncGenerator<Buffer> {
  const size = 1 + (((input[4] ?? 0) * 7 + input.length) % 5_000);
  for (let at = 0; at < input.length; at += size) yield input.subarray(at, at + size);
}

async function drained(source: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > ENOUGH) break;
  }
  return bytes;
}

const compressed = (compression: PayloadCompression): Target => ({
  name: `payload-${compression}`,
  about: `a payload that is said to be ${compression}`,
  kind: 'bytes',
  corpus: [compression],
  run: (input) => drained(decompress(compression, pieces(input))),
});

const identities = (): string[] =>
  corpusFile('age-identity/one')
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('AGE-'));

export const payloads: readonly Target[] = [
  ...compressions.filter((each) => each !== 'none').map(compressed),
  {
    name: 'zstd-frames',
    about: 'the splitter of frames: passes on every byte, or throws an Error, which means damage',
    kind: 'bytes',
    corpus: ['zstd'],
    anyError: true,
    async run(input) {
      const bytes = await drained(splitFrames(pieces(input)));
      if (bytes !== input.length) throw new TypeError(`${bytes} of ${input.length} bytes were passed on`);
    },
  },
  {
    name: 'payload-age',
    about: 'a payload that is said to be encrypted with age',
    kind: 'bytes',
    corpus: ['age'],
    get secrets() {
      return identities().map((line) => line.slice('AGE-SECRET-KEY-1'.length));
    },
    run: (input) => drained(decrypt(identities(), pieces(input))),
  },
];
