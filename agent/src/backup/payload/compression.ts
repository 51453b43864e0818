import { pipeline } from 'node:stream';
import { constants, createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { Compression } from '../catalog/manifest.ts';
import { decoded } from './decoding.ts';
import { splitFrames } from './zstd-frames.ts';

type Bytes = AsyncIterable<Uint8Array>;

export const extensions: Record<Compression, string> = { none: '.db', gzip: '.db.gz', zstd: '.db.zst' };

// zlib hands on 16 KiB at a time otherwise, and each piece costs what follows a fixed time.
const chunkSize = 120 * 1024;
const fastest = { chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export function compress(compression: Compression, source: Bytes): Bytes {
  if (compression === 'none') return source;
  // The default levels, 6 and 3, cost two to three times the CPU for a tenth less, if that.
  return through(source, compression === 'gzip' ? createGzip({ level: 1, chunkSize }) : createZstdCompress(fastest));
}

/** Throws verificationFailed when the bytes are not what the compression says. */
export function decompress(compression: Compression, source: Bytes): Bytes {
  if (compression === 'none') return source;
  return decoded(compression, source, (watched) =>
    compression === 'gzip'
      ? through(watched, createGunzip({ chunkSize }))
      : through(splitFrames(watched), createZstdDecompress({ chunkSize })),
  );
}

function through(source: Bytes, transform: NodeJS.ReadWriteStream): Bytes {
  // The transform is destroyed with the source's error, so that iterating it throws just that.
  return pipeline(source, transform, () => {}) as unknown as Bytes;
}
