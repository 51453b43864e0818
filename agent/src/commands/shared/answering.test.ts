import { setTimeout as after } from 'node:timers/promises';
import { ExitCode } from '../../lib/errors.ts';
import { ANSWER, Budget, type Wait, withTimeout } from '../../lib/limits/budget.ts';
import type { Store, StoredObject } from '../../store/store.ts';
import type { CommandContext } from '../cli/command.ts';
import { answeringOf } from './answering.ts';
import type { OpenedStore } from './opened-store.ts';
import { openedStore } from './store-run.ts';

const signal = new AbortController().signal;

test('a folder that is listed slowly is waited for, and one whose listing hangs is not', async () => {
  const settings = { wanted: () => ({ cluster: 'orders', namespace: '' }) };
  const context = { settings, log: { warn() {} }, signal, budget: new Budget() } as unknown as CommandContext;
  const read = async (objects: number, rest?: Promise<never>) => {
    const list = async function* (): AsyncGenerator<StoredObject> {
      for (let n = 0; n < objects; n++) {
        await after(200);
        yield { key: `orders/a${n}.txt`, size: 1, modified: new Date() };
      }
      await rest;
    };
    const store = { url: 'x:', list, isThere: async () => true } as unknown as Store;
    return (await openedStore(store, {} as never, context)).readAnswering(() => new Budget().answers(500));
  };
  expect(await read(6)).toEqual([]);
  await expect(read(1, new Promise<never>(() => {}))).rejects.toMatchObject({
    exitCode: ExitCode.storeUnreachable,
    message: 'x:: list orders/: the store does not answer in time',
  });
});

test('each answer gives the next one the whole time, and the run as much', async () => {
  const run = { settings: { duration: () => undefined }, signal };
  await withTimeout(run, async ({ budget }) => {
    const begun = budget.limit;
    const readAnswering = async (until: () => Wait) => {
      const wait = until();
      await after(200);
      wait.answered(1_000);
      return [];
    };
    await answeringOf({ readAnswering } as unknown as OpenedStore, { budget });
    expect(budget.limit - begun).toBeGreaterThan(ANSWER + 150);
  });
});

test('what was read is not waited for again, so the run gets no more time for it', async () => {
  const settings = { wanted: () => ({ cluster: 'orders', namespace: '' }), duration: () => undefined };
  await withTimeout({ settings, signal }, async (run) => {
    const context = { ...run, log: { warn() {} } } as unknown as CommandContext;
    const store = { url: 'x:', list: async function* () {}, isThere: async () => true } as unknown as Store;
    const opened = await openedStore(store, {} as never, context);
    await answeringOf(opened, context);
    const once = run.budget.limit;
    await answeringOf(opened, context);
    expect(run.budget.limit).toBe(once);
  });
});
