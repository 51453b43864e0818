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

test('a response is valid until something changes', async () => {
  expect([await pods(), await pods()]).toEqual([1, 1]);
  look.changed();
  expect(await pods()).toBe(2);
});

test('a change of one resource keeps the other responses', async () => {
  expect([await pods(), await pods()]).toEqual([1, 1]);
  look.changed('etcdclusters');
  expect(await pods()).toBe(1);
  look.changed('pods');
  expect(await pods()).toBe(2);
});

test('before an action the responses are fetched again, once', async () => {
  await pods();
  expect(look.again()).toBe(false);
  await pods();
  await pods();
  look.changed();
  expect(look.again()).toBe(true);
  expect(await pods()).toBe(3);
  expect(look.again()).toBe(false);
});

test('a response that was in flight during a change is not cached', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const old = look.get('pods', () => promise);
  look.changed();
  resolve(0);
  expect(await old).toBe(0);
  expect(await pods()).toBe(1);
});

test('no response is valid while watches do not report changes', async () => {
  await pods();
  isWatched = false;
  expect(await pods()).toBe(2);
});

test('a response that may change unnoticed is not cached', async () => {
  await pods(() => false);
  expect(await pods()).toBe(2);
});

test('a failure is not cached', async () => {
  await expect(look.get('pods', () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
  expect(await pods()).toBe(1);
});
