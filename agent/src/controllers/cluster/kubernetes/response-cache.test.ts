import { ResponseCache } from './response-cache.ts';

let asked: number;
let isWatched: boolean;
let look: ResponseCache;
beforeEach(() => {
  asked = 0;
  isWatched = true;
  look = new ResponseCache(() => isWatched);
});

const pods = (keep?: (answer: number) => boolean) => look.get('pods', async () => ++asked, keep);

test('what was answered counts until something changed', async () => {
  expect([await pods(), await pods()]).toEqual([1, 1]);
  look.changed();
  expect(await pods()).toBe(2);
});

test('a change of one thing leaves the others as they were', async () => {
  expect([await pods(), await pods()]).toEqual([1, 1]);
  look.changed('etcdclusters');
  expect(await pods()).toBe(1);
  look.changed('pods');
  expect(await pods()).toBe(2);
});

test('before anything is done, what was kept is asked for anew, once', async () => {
  await pods();
  expect(look.again()).toBe(false);
  await pods();
  await pods();
  look.changed();
  expect(look.again()).toBe(true);
  expect(await pods()).toBe(3);
  expect(look.again()).toBe(false);
});

test('an answer that was on its way when something changed is not kept', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const old = look.get('pods', () => promise);
  look.changed();
  resolve(0);
  expect(await old).toBe(0);
  expect(await pods()).toBe(1);
});

test('nothing counts while no watch would tell of a change', async () => {
  await pods();
  isWatched = false;
  expect(await pods()).toBe(2);
});

test('what may change without being told is not kept', async () => {
  await pods(() => false);
  expect(await pods()).toBe(2);
});

test('a failure is not kept', async () => {
  await expect(look.get('pods', () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
  expect(await pods()).toBe(1);
});
