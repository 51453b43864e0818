type Bytes = AsyncIterable<Uint8Array>;
type Next = IteratorResult<Uint8Array>;

/**
 * Gives each of several readers the same bytes, in step: a chunk is taken from the source when every reader that is
 * still there waits for one, so the slowest sets the pace and nothing piles up. A reader that leaves stops counting; the
 * source is closed when the last one has left.
 */
export function fanOut(source: Bytes, readers: number): Bytes[] {
  const iterator = source[Symbol.asyncIterator]();
  const live = new Set<number>(Array.from({ length: readers }, (_, reader) => reader));
  const waiting = new Map<number, PromiseWithResolvers<Next>>();
  let pulling = false;
  const deliver = (act: (waiter: PromiseWithResolvers<Next>) => void) => {
    const waiters = [...waiting.values()];
    waiting.clear();
    pulling = false;
    for (const waiter of waiters) act(waiter);
  };
  const pull = () => {
    if (pulling || live.size === 0 || waiting.size < live.size) return;
    pulling = true;
    iterator.next().then(
      (next) => deliver(({ resolve }) => resolve(next)),
      (error) => deliver(({ reject }) => reject(error)),
    );
  };
  const reader = (id: number): AsyncIterator<Uint8Array> => ({
    next() {
      const waiter = Promise.withResolvers<Next>();
      waiting.set(id, waiter);
      pull();
      return waiter.promise;
    },
    async return() {
      if (live.delete(id)) {
        waiting.get(id)?.resolve({ done: true, value: undefined });
        waiting.delete(id);
        if (live.size === 0) await iterator.return?.();
        else pull();
      }
      return { done: true, value: undefined };
    },
  });
  return [...live].map((id) => ({ [Symbol.asyncIterator]: () => reader(id) }));
}
