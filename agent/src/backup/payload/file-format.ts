import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { PayloadCompression } from '../catalog/manifest.ts';

/** Bytes from which a format is recognized: a tar archive has its name after its first file's. */
export const HEAD = 512;

/** bbolt's magic number in its first meta page, after the page's header. */
const DATABASE = { at: 16, bytes: Buffer.from('edda0ced', 'hex') };

export type FileFormat =
  | PayloadCompression
  | 'age'
  /** A format of other tools: what it is, and how the snapshot gets out of it. */
  | { readonly what: string; readonly unpack: string };

const OURS: readonly (readonly [at: number, magic: string, format: PayloadCompression | 'age'])[] = [
  [0, '1f8b', 'gzip'],
  [0, '28b52ffd', 'zstd'],
  // The skippable frame that `pzstd` begins with.
  [0, '502a4d18', 'zstd'],
  [0, Buffer.from('age-encryption.org/').toString('hex'), 'age'],
];

const text = (magic: string) => Buffer.from(magic).toString('hex');

const OTHERS: readonly (readonly [at: number, magic: string, what: string, unpack: string])[] = [
  [0, '504b0304', 'a zip archive', '`unzip`'],
  [0, 'fd377a585a00', 'compressed with xz', '`xz -d`'],
  [0, '425a68', 'compressed with bzip2', '`bzip2 -d`'],
  [0, '04224d18', 'compressed with lz4', '`lz4 -d`'],
  [0, '02214c18', 'compressed with lz4', '`lz4 -d`'],
  [0, '894c5a4f', 'compressed with lzop', '`lzop -d`'],
  [0, '4c5a4950', 'compressed with lzip', '`lzip -d`'],
  [0, '5d00008000', 'compressed with lzma', '`xz -d --format=lzma`'],
  [0, '5d00000004', 'compressed with lzma', '`xz -d --format=lzma`'],
  [0, 'ff060000734e61507059', 'compressed with snappy', '`snzip -d`'],
  [0, '1f9d', 'compressed with compress', '`uncompress`'],
  [0, '377abcaf271c', 'a 7z archive', '`7z x`'],
  [0, '7801', 'compressed with zlib', '`zlib-flate -uncompress`'],
  [0, '789c', 'compressed with zlib', '`zlib-flate -uncompress`'],
  [0, '78da', 'compressed with zlib', '`zlib-flate -uncompress`'],
  [257, text('ustar'), 'a tar archive', '`tar -x`'],
  [0, text('Salted__'), 'encrypted with openssl', '`openssl enc -d`'],
  [0, text('-----BEGIN PGP MESSAGE'), 'encrypted with gpg', '`gpg -d`'],
  [0, '8c0d04', 'encrypted with gpg', '`gpg -d`'],
  [0, '8501', 'encrypted with gpg', '`gpg -d`'],
  [0, '8502', 'encrypted with gpg', '`gpg -d`'],
  [0, text('-----BEGIN AGE ENCRYPTED FILE'), 'an armored age file', '`age -d`'],
];

const has = (head: Buffer, at: number, magic: Buffer) => head.subarray(at, at + magic.length).equals(magic);

/** Recognizes what a file is by its first bytes, whatever its name says. Undefined if it is nothing known. */
export function formatOf(head: Buffer): FileFormat | undefined {
  // Before the database: a compressor may leave its magic number as it is, at the same place.
  const ours = OURS.find(([at, magic]) => has(head, at, Buffer.from(magic, 'hex')));
  if (ours) return ours[2];
  if (has(head, DATABASE.at, DATABASE.bytes)) return 'none';
  const other = OTHERS.find(([at, magic]) => has(head, at, Buffer.from(magic, 'hex')));
  return other && { what: other[2], unpack: other[3] };
}

/** A file that may hold a snapshot, once it is unpacked. */
export class PackedError extends AgentError {
  constructor(key: string, why: string) {
    super(ExitCode.verificationFailed, `${key}: ${why}`);
  }
}

/** Says how a snapshot gets out of a format that is not read here. */
export const unpackText = ({ what, unpack }: { readonly what: string; readonly unpack: string }): string =>
  `it is ${what}, which is not read here; unpack it with ${unpack}, and adopt the snapshot inside`;

/** Reads the first bytes of a source, and returns them and the whole source. */
export async function peek(
  source: AsyncIterable<Uint8Array>,
): Promise<{ readonly head: Buffer; readonly whole: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  while (length < HEAD && !ended) {
    const next = await iterator.next();
    ended = next.done === true;
    if (next.done) break;
    chunks.push(next.value);
    length += next.value.length;
  }
  const whole = async function* () {
    try {
      yield* chunks;
      while (!ended) {
        const next = await iterator.next();
        ended = next.done === true;
        if (!next.done) yield next.value;
      }
    } finally {
      if (!ended) await iterator.return?.();
    }
  };
  return { head: Buffer.concat(chunks).subarray(0, HEAD), whole: whole() };
}

/** Reads the first bytes of a source, and closes it. */
export async function headOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const { head, whole } = await peek(source);
  for await (const _ of whole) break;
  return head;
}
