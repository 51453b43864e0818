import { setTimeout as sleep } from 'node:timers/promises';
import { WorkQueue } from './queue.ts';

test('runs at most as much work at a time as there are places, in order', async () => {
  const turns = new WorkQueue(2, 60_000);
  const order: number[] = [];
  let [busy, most] = [0, 0];
  const work = (index: number) => async () => {
    order.push(index);
    most = Math.max(most, ++busy);
    await sleep(2);
    busy--;
    return index;
  };
  const done = await Promise.all([0, 1, 2, 3, 4].map((index) => turns.run(work(index))));
  expect(done).toEqual([0, 1, 2, 3, 4]);
  expect({ order, most }).toEqual({ order: [0, 1, 2, 3, 4], most: 2 });
});

test('urgent work comes first', async () => {
  const turns = new WorkQueue(1, 60_000);
  const order: string[] = [];
  const work = (name: string) => async () => {
    order.push(name);
    await sleep(1);
  };
  await Promise.all([turns.run(work('a')), turns.run(work('b')), turns.run(work('c'), true)]);
  expect(order).toEqual(['a', 'c', 'b']);
});

test('slow work delays other work only for a while, and its place is not given away twice', async () => {
  const turns = new WorkQueue(1, 5);
  const slow = Promise.withResolvers<void>();
  const first = turns.run(() => slow.promise);
  await turns.run(async () => {});
  slow.resolve();
  await first;
  let busy = 0;
  const alone = async () => {
    expect(++busy).toBe(1);
    await Promise.resolve();
    busy--;
  };
  await Promise.all([turns.run(alone), turns.run(alone), turns.run(alone)]);
});

test('a failure gives the place back', async () => {
  const turns = new WorkQueue(1, 60_000);
  await expect(turns.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await turns.run(async () => {});
});
