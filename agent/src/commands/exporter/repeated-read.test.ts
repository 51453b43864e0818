import { setTimeout as sleep } from 'node:timers/promises';
import { RepeatedRead } from './repeated-read.ts';

let stop: AbortController;
let running: Promise<void>;
let problems: (string | undefined)[];
beforeEach(() => {
  stop = new AbortController();
  problems = [];
});
afterEach(async () => {
  stop.abort();
  await running;
});

function start<T>(read: (signal: AbortSignal) => Promise<T>, limit = 60_000): RepeatedRead<T> {
  const repeated = new RepeatedRead<T>({ read, interval: 5, limit, onEnd: (problem) => problems.push(problem) });
  running = repeated.run(stop.signal);
  return repeated;
}

async function until(what: () => unknown): Promise<void> {
  while (!what()) await sleep(2);
}

test('nothing is claimed before the first read has ended', async () => {
  const first = Promise.withResolvers<number>();
  const repeated = start(() => first.promise);
  await sleep(20);
  expect([repeated.isUp, repeated.last]).toEqual([undefined, undefined]);
  const before = Date.now();
  first.resolve(7);
  await until(() => repeated.isUp);
  expect(repeated.last?.value).toBe(7);
  expect(repeated.last?.at).toBeGreaterThanOrEqual(before);
});

test('a read that fails is down, and keeps what the last one that worked found, and when', async () => {
  let works = true;
  const repeated = start(async () => {
    if (!works) throw new Error('no store');
    return 7;
  });
  await until(() => repeated.isUp);
  works = false;
  await until(() => repeated.isUp === false);
  const { last } = repeated;
  await until(() => problems.filter((each) => each === 'no store').length > 2);
  expect(last?.value).toBe(7);
  expect(repeated.last).toBe(last);
  works = true;
  await until(() => repeated.isUp);
  expect(repeated.last).not.toBe(last);
});

test('one that never worked has no value', async () => {
  const repeated = start(() => Promise.reject(new Error('no store')));
  await until(() => problems.length > 2);
  expect([repeated.isUp, repeated.last]).toEqual([false, undefined]);
});

test('a read that hangs is down at its limit, and no other begins before it has ended, which does not count', async () => {
  const begun: PromiseWithResolvers<number>[] = [];
  const read = () => {
    const one = Promise.withResolvers<number>();
    begun.push(one);
    return one.promise;
  };
  const repeated = start(read, 30);
  begun[0]!.resolve(1);
  await until(() => begun.length === 2);
  await until(() => repeated.isUp === false);
  await until(() => problems.some((each) => each?.includes('no other begins')));
  expect(begun).toHaveLength(2);
  expect(problems.filter((each) => each?.includes('allow more with --timeout'))).toHaveLength(1);
  // Too late: what it found may be old.
  begun[1]!.resolve(2);
  await until(() => begun.length === 3);
  expect([repeated.isUp, repeated.last?.value]).toEqual([false, 1]);
  begun[2]!.resolve(3);
  await until(() => repeated.isUp);
  expect(repeated.last?.value).toBe(3);
});

test('the signal ends a read that hangs, and tells it so', async () => {
  let told: AbortSignal | undefined;
  const repeated = start((signal) => {
    told = signal;
    return new Promise(() => {});
  });
  await until(() => told);
  stop.abort();
  await running;
  expect(told?.aborted).toBe(true);
  expect([repeated.isUp, problems]).toEqual([undefined, []]);
});
