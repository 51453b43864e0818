import { createHash } from 'node:crypto';
import type { SnapshotStream, SnapshotSums } from '../../etcd/snapshot-stream.ts';
import type { PayloadCompression } from '../catalog/manifest.ts';
import { compress } from '../payload/compression.ts';
import { encrypt } from '../payload/encryption.ts';
import { fanOut } from './fan-out.ts';

type Bytes = AsyncIterable<Uint8Array>;

export interface Uploaded {
  readonly content: SnapshotSums;
  /** Size of the stored object, after compression and encryption. */
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** How a snapshot is encoded before it is stored. */
export interface Encoding {
  readonly compression: PayloadCompression;
  /** age recipients. If empty, the snapshot is not encrypted. */
  readonly recipients?: readonly string[];
}

/** One snapshot, streamed into several stores at once. */
export interface SharedStream {
  /** One body for each store, at the pace of the slowest. */
  readonly bodies: readonly Bytes[];
  /** Only after a body was read to its end. */
  uploaded(): Uploaded;
  /** Why the snapshot stream failed, or undefined. */
  failure(): unknown;
}

export function shareStream(
  stream: SnapshotStream,
  { compression, recipients = [] }: Encoding,
  readers: number,
  options: { onBytes: (bytes: number) => void; patience: () => number },
): SharedStream {
  let failure: unknown;
  const source = guard(count(stream.body, options.onBytes), (error) => {
    failure = error;
  });
  const plain = compression === 'none' && recipients.length === 0;
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const stored = (async function* (): Bytes {
    for await (const chunk of encrypt(recipients, compress(compression, source))) {
      // If nothing encodes the stream, its own checksums are those of the object.
      if (!plain) hash.update(chunk);
      sizeBytes += chunk.length;
      yield chunk;
    }
  })();
  return {
    bodies: fanOut(stored, readers, options.patience),
    uploaded: () => {
      const content = stream.sums();
      return { content, sizeBytes, sha256: plain ? content.sha256 : hash.copy().digest('hex') };
    },
    failure: () => failure,
  };
}

async function* count(source: Bytes, onBytes: (bytes: number) => void): Bytes {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    onBytes(bytes);
    yield chunk;
  }
}

async function* guard(source: Bytes, onError: (error: unknown) => void): Bytes {
  try {
    yield* source;
  } catch (error) {
    onError(error);
    throw error;
  }
}
