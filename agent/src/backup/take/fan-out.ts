import { createHash } from 'node:crypto';
import type { SnapshotStream, SnapshotSums } from '../../etcd/snapshot-stream.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { LONGEST } from '../../lib/limits/budget.ts';
import type { PayloadCompression } from '../catalog/manifest.ts';
import { compress } from '../payload/compression.ts';
import { encrypt } from '../payload/encryption.ts';

type Bytes = AsyncIterable<Uint8Array>;
type Next = IteratorResult<Uint8Array>;

/**
 * Gives the same bytes to several readers in step. The next chunk is read from the source when every active reader waits for
 * one, so the slowest reader sets the pace and no data accumulate. A reader that stops is no longer waited for; the source
 * is closed when the last reader stops. A reader that has kept the others waiting for more than `patience` milliseconds in
 * total is dropped: its next read throws.
 */
export function fanOut(source: Bytes, readers: number, patience: () => number = () => LONGEST): Bytes[] {
  const iterator = source[Symbol.asyncIterator]();
  const live = new Set<number>(Array.from({ length: readers }, (_, reader) => reader));
  const waiting = new Map<number, PromiseWithResolvers<Next>>();
  const delays = new Map<number, number>();
  let pulling = false;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;

  const missing = () => [...live].filter((id) => !waiting.has(id));
  const delayOf = (id: number) => (delays.get(id) ?? 0) + performance.now() - since;
  const watch = () => {
    const left = Math.min(...missing().map((id) => patience() - delayOf(id)));
    timer = setTimeout(dropSlow, Math.min(Math.max(left, 1), LONGEST));
  };
  const dropSlow = () => {
    for (const id of missing()) if (delayOf(id) >= patience()) live.delete(id);
    if (missing().length > 0) watch();
    else pull();
  };
  const deliver = (act: (waiter: PromiseWithResolvers<Next>) => void) => {
    const waiters = [...waiting.values()];
    waiting.clear();
    pulling = false;
    for (const waiter of waiters) act(waiter);
  };
  const pull = () => {
    if (pulling || live.size === 0 || waiting.size < live.size) return;
    clearTimeout(timer);
    pulling = true;
    iterator.next().then(
      (next) => deliver(({ resolve }) => resolve(next)),
      (error) => deliver(({ reject }) => reject(error)),
    );
  };
  const arrive = (id: number) => {
    if (waiting.size > 0) delays.set(id, delayOf(id));
    else since = performance.now();
    const waiter = Promise.withResolvers<Next>();
    waiting.set(id, waiter);
    if (waiting.size === 1 && live.size > 1) watch();
    pull();
    return waiter.promise;
  };
  const reader = (id: number): AsyncIterator<Uint8Array> => ({
    async next() {
      if (live.has(id)) return arrive(id);
      const seconds = Math.round((delays.get(id) ?? patience()) / 1000);
      const message = `too slow: it kept the other stores waiting for ${seconds} s`;
      throw new AgentError(ExitCode.storeUnreachable, message, { finding: { kind: 'slowStore' } });
    },
    async return() {
      if (live.delete(id)) {
        waiting.get(id)?.resolve({ done: true, value: undefined });
        waiting.delete(id);
        if (live.size === 0) {
          clearTimeout(timer);
          await iterator.return?.();
        } else pull();
      }
      return { done: true, value: undefined };
    },
  });
  return [...live].map((id) => ({ [Symbol.asyncIterator]: () => reader(id) }));
}

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
