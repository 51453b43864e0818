import { AgentError, ExitCode } from '../../lib/errors.ts';
import { LONGEST } from '../../lib/limits/budget.ts';

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
