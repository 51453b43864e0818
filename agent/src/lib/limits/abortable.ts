/**
 * Yields the items of a source. An abort rejects at once, even if the source is stuck. The source is then closed
 * without waiting for it.
 */
export async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  if (!signal) return yield* source;
  const iterator = source[Symbol.asyncIterator]();
  // One listener serves all items: racing the same promise repeatedly would keep every item in memory.
  let reject: (reason: unknown) => void = () => {};
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  let ended = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<T>>((resolve, rejectNext) => {
        reject = rejectNext;
        iterator.next().then(resolve, rejectNext);
      });
      if (next.done) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (!ended) await close(iterator, signal);
  }
}

async function close(iterator: AsyncIterator<unknown>, signal: AbortSignal): Promise<void> {
  const closing = Promise.resolve(iterator.return?.());
  if (signal.aborted) closing.catch(() => {});
  else await closing;
}
