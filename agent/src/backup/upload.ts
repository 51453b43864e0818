import { createHash } from 'node:crypto';
import { AgentError } from '../errors.ts';
import type { SnapshotStream, SnapshotSums } from '../etcd/snapshot-stream.ts';
import type { PutResult, Store } from '../store/store.ts';
import { compress } from './compression.ts';
import { discard } from './discard.ts';
import { encrypt } from './encryption.ts';
import { fanOut } from './fan-out.ts';
import type { Compression } from './manifest.ts';

type Bytes = AsyncIterable<Uint8Array>;

export interface Uploaded {
  readonly content: SnapshotSums;
  /** Of what was stored, after compression and encryption. */
  readonly sizeBytes: number;
  readonly sha256: string;
  /** In the order of the stores: what the store said, or why it failed. */
  readonly outcomes: readonly (PutResult | Error)[];
}

/** What is done to a snapshot before it is stored. */
export interface Encoding {
  readonly compression: Compression;
  /** age recipients; none: it is not encrypted. */
  readonly recipients?: readonly string[];
}

/**
 * Streams one snapshot into several stores at once, at the pace of the slowest. A store that fails does not stop the
 * others; only when the stream itself fails, or all stores do, does this throw.
 */
export async function upload(
  stream: SnapshotStream,
  stores: readonly Store[],
  key: string,
  { compression, recipients = [] }: Encoding,
  options: { signal: AbortSignal; onBytes: (bytes: number) => void },
): Promise<Uploaded> {
  let streamFailure: unknown;
  const source = guard(count(stream.body, options.onBytes), (error) => {
    streamFailure = error;
  });
  const plain = compression === 'none' && recipients.length === 0;
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const stored = (async function* (): Bytes {
    for await (const chunk of encrypt(recipients, compress(compression, source))) {
      // The stream's own sums are then the object's.
      if (!plain) hash.update(chunk);
      sizeBytes += chunk.length;
      yield chunk;
    }
  })();
  const outcomes = await Promise.all(
    fanOut(stored, stores.length).map(async (branch, index) => {
      try {
        return await stores[index]!.put(key, branch, { signal: options.signal, sizeHint: stream.expectedBytes });
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error));
      } finally {
        // A store that failed before it read anything would hold up the others.
        await branch[Symbol.asyncIterator]().return?.();
      }
    }),
  );
  if (options.signal.aborted) {
    await Promise.all(stores.map((store, index) => outcomes[index] instanceof Error || discard(store, key)));
    throw options.signal.reason;
  }
  if (streamFailure !== undefined) throw streamFailure;
  const failures = outcomes.filter((outcome) => outcome instanceof Error);
  if (failures.length === stores.length) throw failures.find((error) => error instanceof AgentError) ?? failures[0];
  const content = stream.sums();
  const sha256 = plain ? content.sha256 : hash.digest('hex');
  return { content, sizeBytes, sha256, outcomes };
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
