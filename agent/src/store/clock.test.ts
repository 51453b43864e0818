import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, ExitCode } from '../lib/errors.ts';
import { Budget } from '../lib/limits/budget.ts';
import { clockOf, limitClock, timeAt } from './clock.ts';
import { FilesystemStore } from './filesystem/filesystem-store.ts';
import type { CallOptions, Store } from './store.ts';

const hang = () => new Promise<never>(() => {});
const notAnswered = {
  exitCode: ExitCode.storeUnreachable,
  message: expect.stringMatching(
    /^file:\/\/\/nowhere: `now`, which reads the store's clock, did not answer within \d+ s$/,
  ),
};

/** A store with this clock, and a function that counts how often it was asked. */
function clocked(now: (options?: CallOptions) => Promise<Date | undefined>, limit = 200, budget?: Budget) {
  let asked = 0;
  const counting = (options?: CallOptions) => {
    asked++;
    return now(options);
  };
  const store = limitClock(Object.assign(new FilesystemStore({ path: '/nowhere' }), { now: counting }), budget, limit);
  return { store, asked: () => asked };
}

test('a clock that hangs is waited for once', async () => {
  const { store, asked } = clocked(hang);
  await expect(store.now()).rejects.toMatchObject(notAnswered);
  await expect(store.now()).rejects.toMatchObject(notAnswered);
  expect(asked()).toBe(1);
});

test('so is one that the store itself reads', async () => {
  const { store, asked } = clocked(hang);
  for (let n = 0; n < 2; n++) await expect(store.sweep('a/', 0)).rejects.toMatchObject(notAnswered);
  expect(asked()).toBe(1);
});

test('one that fails is asked again until the limit is used up', async () => {
  const failure = new AgentError(ExitCode.storeRefused, 'refused');
  const { store, asked } = clocked(async () => {
    if (asked() > 3) await hang();
    throw failure;
  }, 3_000);
  for (let n = 0; n < 3; n++) await expect(store.now()).rejects.toBe(failure);
  for (let n = 0; n < 3; n++) await expect(store.now()).rejects.toMatchObject(notAnswered);
  expect(asked()).toBe(4);
});

test('one that answers has no limit in total', async () => {
  const { store, asked } = clocked(async () => {
    await sleep(300);
    return new Date(0);
  }, 1_000);
  for (let n = 0; n < 5; n++) expect(await store.now()).toEqual(new Date(0));
  expect(asked()).toBe(5);
});

test('an abort ends the wait with its reason, and is not a failure of the clock', async () => {
  const answers: Promise<Date>[] = [hang(), Promise.resolve(new Date(0))];
  const { store } = clocked(() => answers.shift()!);
  const reason = new Error('told to stop');
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 20);
  await expect(clockOf(store, { signal: controller.signal })).rejects.toBe(reason);
  await expect(clockOf(store, { signal: controller.signal })).rejects.toBe(reason);
  expect(await store.now()).toEqual(new Date(0));
});

test('the call of a hanging clock is aborted', async () => {
  const heard = Promise.withResolvers<void>();
  const { store } = clocked(({ signal } = {}) => {
    signal!.addEventListener('abort', () => heard.resolve());
    return hang();
  });
  expect(await clockOf(store, {})).toBeUndefined();
  await heard.promise;
});

test.each([
  ['--timeout=4s', 4_000],
  ['no --timeout', undefined],
])('with %s, the wait leaves time for the work', async (_, given) => {
  const budget = new Budget({ base: 60_000, given });
  const { store } = clocked(hang, given === undefined ? 200 : 10_000, budget);
  const before = budget.limit;
  expect(await clockOf(store, budget)).toBeUndefined();
  expect(budget.signal.aborted).toBe(false);
  if (given === undefined) expect(budget.limit).toBeGreaterThan(before + 100);
  budget.end();
});

test('without a clock, the time is that of this machine', async () => {
  const fails: Store['now'] = () => Promise.reject(new Error('broken'));
  for (const now of [fails, async () => undefined]) {
    const { store } = clocked(now);
    expect(await clockOf(store, {})).toBeUndefined();
    expect(await timeAt(store, {})).toBeInstanceOf(Date);
  }
  expect(await timeAt(clocked(async () => new Date(0)).store, {})).toEqual(new Date(0));
});
