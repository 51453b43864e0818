import { AgentError, ExitCode } from '../../src/lib/errors.ts';
import type { Wait } from '../../src/lib/limits/budget.ts';
import type { Store } from '../../src/store/store.ts';

/**
 * Makes the manifest of one snapshot fail or hang. The returned function returns a wait that is over once `others`
 * other manifests were read, so that no test depends on how fast the machine is.
 */
export function silence(store: Store, id: string, answer: () => Promise<never>): (others: number) => Wait {
  const get = store.get.bind(store);
  let isRead = () => {};
  store.get = async (key, options) => {
    if (key.includes(`/${id}.json`)) return answer();
    const bytes = await get(key, options);
    return /\/[^./]+\.json$/.test(key) ? whenRead(bytes, () => isRead()) : bytes;
  };
  return (others) => {
    const controller = new AbortController();
    let left = others;
    const check = () => left === 0 && setImmediate(() => controller.abort(late()));
    isRead = () => {
      left--;
      check();
    };
    check();
    return waitUntil(controller.signal);
  };
}

const late = () => new AgentError(ExitCode.storeUnreachable, 'the store does not answer in time');

/** A wait that no answer extends. Over at once without a signal. */
export const waitUntil = (signal = AbortSignal.abort(late())): Wait => ({ signal, answered() {} });

async function* whenRead(bytes: AsyncIterable<Uint8Array>, isRead: () => void): AsyncGenerator<Uint8Array> {
  yield* bytes;
  isRead();
}
