import { setTimeout as after } from 'node:timers/promises';
import { ExitCode } from '../../lib/errors.ts';
import { answered, answerLimit } from '../../lib/limits/answer-limit.ts';
import { withTimeout } from '../../lib/limits/run-limit.ts';
import type { Store, StoredObject } from '../../store/store.ts';
import type { CommandContext } from '../cli/command.ts';
import { ANSWER_LIMIT, answeringOf } from './answering.ts';
import type { OpenedStore } from './opened-store.ts';
import { openedStore } from './store-run.ts';

const signal = new AbortController().signal;

test('a folder that is listed slowly is waited for, and one whose listing hangs is not', async () => {
  const settings = { wanted: () => ({ cluster: 'orders', namespace: '' }) };
  const context = { settings, log: { warn() {} }, signal } as unknown as CommandContext;
  const read = async (objects: number, rest?: Promise<never>) => {
    const list = async function* (): AsyncGenerator<StoredObject> {
      for (let n = 0; n < objects; n++) {
        await after(200);
        yield { key: `orders/a${n}.txt`, size: 1, modified: new Date() };
      }
      await rest;
    };
    const store = { url: 'x:', list, isThere: async () => true } as unknown as Store;
    return (await openedStore(store, {} as never, context)).readAnswering(() => answerLimit(500));
  };
  expect(await read(6)).toEqual([]);
  await expect(read(1, new Promise<never>(() => {}))).rejects.toMatchObject({
    exitCode: ExitCode.storeUnreachable,
    message: 'x:: list orders/: the store does not answer in time',
  });
});

test('each answer gives the next one the whole time, and the run as much', async () => {
  const run = { settings: { duration: () => undefined }, signal };
  await withTimeout(run, async (limited, _, limit) => {
    const begun = limit();
    const readAnswering = async (until: () => AbortSignal) => {
      const signal = until();
      await after(200);
      answered(signal, 1);
      return [];
    };
    await answeringOf({ readAnswering } as unknown as OpenedStore, { signal: limited });
    expect(limit() - begun).toBeGreaterThan(ANSWER_LIMIT + 150);
  });
});

test('what was read is not waited for again, so the run gets no more time for it', async () => {
  const settings = { wanted: () => ({ cluster: 'orders', namespace: '' }), duration: () => undefined };
  await withTimeout({ settings, signal }, async (limited, _, limit) => {
    const context = { settings, log: { warn() {} }, signal: limited } as unknown as CommandContext;
    const store = { url: 'x:', list: async function* () {}, isThere: async () => true } as unknown as Store;
    const opened = await openedStore(store, {} as never, context);
    await answeringOf(opened, context);
    const once = limit();
    await answeringOf(opened, context);
    expect(limit()).toBe(once);
  });
});
