const EVERY = 4 * 1024 * 1024;

/**
 * Counts bytes that stream by, and now and then frees the chunks that they came in. V8 sees little of what lies outside
 * its heap and lets some 64 MiB of dead chunks pile up, more than a small container has. A young collection takes well
 * below a millisecond and keeps the memory in the caches. Only with `node --expose-gc`; otherwise it does nothing.
 */
export function garbageCounter(): (bytes: number) => void {
  let since = 0;
  return (bytes) => {
    since += bytes;
    if (since < EVERY) return;
    since = 0;
    globalThis.gc?.({ type: 'minor' });
  };
}

/** Frees large buffers that have just gone out of use, before the next large thing begins. Needs the same flag. */
export function freeBuffers(): void {
  globalThis.gc?.();
}
