const MIB = 1024 * 1024;
const EVERY = 4 * MIB;
const SLACK = 12 * MIB;

let since = 0;
/** The fewest bytes outside V8's heap since the last full collection. */
let fewest = Number.POSITIVE_INFINITY;

/**
 * Counts bytes that stream in, and now and then frees the chunks that they came in. V8 sees little of what lies outside
 * its heap and lets some 64 MiB of dead chunks pile up, more than a small container has. A young collection takes well
 * below a millisecond and keeps the memory in the caches; chunks that outlive two of them, as some do where the store is
 * slow, need a full one. Only with `node --expose-gc`; otherwise it does nothing.
 */
export function garbageCounter(): (bytes: number) => void {
  return (bytes) => {
    since += bytes;
    if (since < EVERY || !globalThis.gc) return;
    since = 0;
    // Looked at before the young collection, which frees in the background.
    const { arrayBuffers } = process.memoryUsage();
    if (arrayBuffers > fewest + SLACK) return freeBuffers();
    fewest = Math.min(fewest, arrayBuffers);
    globalThis.gc({ type: 'minor' });
  };
}

/** Counts calls to a store, and frees now and then what they leave: V8 would let it fill a small container. */
export function callCounter(every: number): () => void {
  let calls = 0;
  return () => {
    calls++;
    if (calls % every === 0) freeBuffers();
  };
}

/** Frees large buffers that have just gone out of use, before the next large thing begins. Needs the same flag. */
export function freeBuffers(): void {
  globalThis.gc?.();
  fewest = Number.POSITIVE_INFINITY;
}
