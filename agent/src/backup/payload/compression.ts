import { pipeline } from 'node:stream';
import { constants, createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { PayloadCompression } from '../catalog/manifest.ts';
import { decoded } from './decoding.ts';
import { splitFrames } from './zstd-frames.ts';

type Bytes = AsyncIterable<Uint8Array>;

export const extensions: Record<PayloadCompression, string> = { none: '.db', gzip: '.db.gz', zstd: '.db.zst' };

// zlib's default is 16 KiB, and every chunk costs the later steps a fixed time.
const chunkSize = 120 * 1024;
const fastest = { chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export function compress(compression: PayloadCompression, source: Bytes): Bytes {
  if (compression === 'none') return source;
  // The default levels, 6 and 3, need two to three times the CPU and save at most a tenth of the size.
  return through(source, compression === 'gzip' ? createGzip({ level: 1, chunkSize }) : createZstdCompress(fastest));
}

/** Throws `verificationFailed` if the bytes are not in this compression. */
export function decompress(compression: PayloadCompression, source: Bytes): Bytes {
  if (compression === 'none') return source;
  return decoded(compression, source, (watched) =>
    compression === 'gzip'
      ? through(watched, createGunzip({ chunkSize }))
      : through(splitFrames(watched), createZstdDecompress({ chunkSize })),
  );
}

function through(source: Bytes, transform: NodeJS.ReadWriteStream): Bytes {
  // pipeline destroys the transform with the source's error, so iterating over it throws that error.
  return pipeline(source, transform, () => {}) as unknown as Bytes;
}
