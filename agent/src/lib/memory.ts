const MIB = 1024 * 1024;
/** Bytes between two young collections. */
const EVERY = 4 * MIB;
/** Growth in bytes that triggers a full collection. */
const SLACK = 12 * MIB;

let since = 0;
/** Smallest number of bytes outside V8's heap since the last full collection. */
let fewest = Number.POSITIVE_INFINITY;

/**
 * Counts bytes that stream in and regularly frees the chunks that held them. V8 hardly notices memory outside its heap
 * and lets some 64 MiB of dead chunks accumulate, which is more than a small container has. A young collection takes
 * well below a millisecond and keeps the memory in the CPU's caches. Chunks that outlive two of them, as happens with a
 * slow store, need a full collection. Does nothing without `node --expose-gc`.
 */
export function garbageCounter(): (bytes: number) => void {
  return (bytes) => {
    since += bytes;
    if (since < EVERY || !globalThis.gc) return;
    since = 0;
    // Read before the young collection, because that one frees memory in the background.
    const { arrayBuffers } = process.memoryUsage();
    if (arrayBuffers > fewest + SLACK) return freeBuffers();
    fewest = Math.min(fewest, arrayBuffers);
    globalThis.gc({ type: 'minor' });
  };
}

/**
 * Counts calls to a store and frees their garbage after every `every` calls. V8 alone would let it fill a small
 * container.
 */
export function callCounter(every: number): () => void {
  let calls = 0;
  return () => {
    calls++;
    if (calls % every === 0) freeBuffers();
  };
}

/**
 * Frees large buffers that are no longer used, before more large ones are allocated. Does nothing without `--expose-
 * gc`.
 */
export function freeBuffers(): void {
  globalThis.gc?.();
  fewest = Number.POSITIVE_INFINITY;
}
