import type { Readable } from 'node:stream';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { garbageCounter } from '../../lib/memory.ts';

/** Reads a response: fails when no byte comes for `idleTimeout` while we wait for one, and when it has other than the promised length. */
export async function* readBody(
  body: Readable,
  expected: number | undefined,
  options: { idleTimeout: number; what: string; explain: (error: unknown) => Promise<Error> },
): AsyncGenerator<Uint8Array> {
  const { idleTimeout, what, explain } = options;
  const cut = (why: string) => new AgentError(ExitCode.storeUnreachable, `${what}: ${why}; try again`);
  let read = 0;
  const passed = garbageCounter();
  let waiting = false;
  const watchdog = setTimeout(() => {
    if (waiting)
      body.destroy(cut(`no byte came for ${idleTimeout / 1000} s after ${read} of ${expected ?? 'unknown'} bytes`));
  }, idleTimeout);
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      waiting = true;
      watchdog.refresh();
      const next = await iterator.next();
      waiting = false;
      if (next.done) break;
      read += next.value.length;
      passed(next.value.length);
      yield next.value;
    }
    if (expected !== undefined && read !== expected) throw cut(`it ended after ${read} of ${expected} bytes`);
  } catch (error) {
    throw await explain(error);
  } finally {
    clearTimeout(watchdog);
    body.destroy();
  }
}
