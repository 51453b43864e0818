import { Queue, type Result, type Work } from './queue.ts';

let queue: Queue;
let errors: string[];
beforeEach(() => {
  vi.useFakeTimers();
  // No jitter, unless a test is about it.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  errors = [];
  queue = new Queue();
});
afterEach(async () => {
  void queue.stop(0);
  await pass(60_000);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const follow = (pass: (given: Parameters<Work['pass']>[0]) => Promise<Result>, more: Partial<Work> = {}) =>
  queue.follow({ pass, failed: (error) => errors.push(`${error}`), backoff: [1_000, 8_000], ...more });

/** Follows what takes no time, and notes when it has a pass. */
function times(result: () => Result | Error): { readonly at: number[]; readonly now: () => void } {
  const [begin, at] = [Date.now(), [] as number[]];
  const key = follow(async () => {
    at.push(Date.now() - begin);
    const found = result();
    if (found instanceof Error) throw found;
    return found;
  });
  return { at, now: () => key.now() };
}

describe('places', () => {
  test('at most as many passes at a time as there are places, and each key has its turn', async () => {
    queue = new Queue(2, 60_000);
    const order: number[] = [];
    let [busy, most] = [0, 0];
    for (const key of [0, 1, 2, 3, 4])
      follow(async () => {
        order.push(key);
        most = Math.max(most, ++busy);
        await sleep(10);
        busy--;
        return { again: 0 };
      });
    await pass(1_000);
    expect(most).toBe(2);
    expect(order.slice(0, 5)).toEqual([0, 1, 2, 3, 4]);
    for (const key of [0, 1, 2, 3, 4]) expect(order.filter((each) => each === key).length).toBeGreaterThan(30);
  });

  test('what has changed goes before what is due by the clock', async () => {
    queue = new Queue(1, 60_000);
    const order: string[] = [];
    const of = (name: string) =>
      follow(async () => {
        order.push(name);
        return { again: 10_000 };
      });
    of('a');
    of('b');
    const changed = of('c');
    of('d');
    await pass(9_500);
    order.length = 0;
    // Takes the only place until all four are due.
    follow(async () => {
      await sleep(1_000);
      return {};
    });
    await pass(400);
    changed.now();
    await pass(1_000);
    expect(order).toEqual(['c', 'a', 'b', 'd']);
  });

  test('those that go first do not keep out the others', async () => {
    queue = new Queue(1, 60_000);
    for (let i = 0; i < 6; i++)
      follow(async () => {
        await sleep(10);
        return { again: 0 };
      });
    const other = times(() => ({ again: 10_000 }));
    await pass(35_000);
    expect(other.at).toHaveLength(4);
  });

  test('a pass that hangs gives up its place, and only once', async () => {
    queue = new Queue(1, 1_000);
    const hangs = Promise.withResolvers<Result>();
    follow(() => hangs.promise);
    let [busy, passes] = [0, 0];
    for (let i = 0; i < 3; i++)
      follow(async () => {
        expect(++busy).toBe(1);
        await sleep(10);
        busy--;
        passes++;
        return { again: 0 };
      });
    await pass(990);
    expect(passes).toBe(0);
    await pass(1_000);
    expect(passes).toBeGreaterThan(50);
    hangs.resolve({});
    await pass(1_000);
    expect(passes).toBeGreaterThan(150);
    expect(errors).toEqual([]);
  });
});

describe('a change', () => {
  test('brings a pass at once, and several that come together only one', async () => {
    const key = times(() => ({ again: 60_000 }));
    await pass(1_000);
    for (let i = 0; i < 5; i++) {
      key.now();
      await pass(30);
    }
    await pass(1_000);
    expect(key.at).toEqual([0, 1_200]);
  });

  test('during a pass brings one more, and never two at the same time', async () => {
    let [busy, passes] = [0, 0];
    const key = follow(async () => {
      expect(++busy).toBe(1);
      passes++;
      await sleep(1_000);
      busy--;
      return {};
    });
    await pass(500);
    key.now();
    await pass(100);
    key.now();
    await pass(10_000);
    expect(passes).toBe(2);
    expect(errors).toEqual([]);
  });

  test('makes no pause longer', async () => {
    const key = times(() => ({ again: 100 }));
    await pass(90);
    key.now();
    await pass(20);
    expect(key.at).toEqual([0, 100]);
  });
});

test('a pause is as long as the pass says, and not the same for all; without one the next pass waits for a change', async () => {
  const random = vi.mocked(Math.random);
  random.mockReturnValue(0);
  const early = times(() => ({ again: 10_000 }));
  await pass(1);
  random.mockReturnValue(1);
  const late = times(() => ({ again: 10_000 }));
  const never = times(() => ({}));
  await pass(12_000);
  expect([early.at, late.at, never.at]).toEqual([[0, 9_000], [0, 11_000], [0]]);
  await pass(3_600_000);
  expect(never.at).toEqual([0]);
  never.now();
  await pass(200);
  expect(never.at).toHaveLength(2);
});

describe('a failure', () => {
  test('lengthens the pause each time, up to a limit, and a success ends that', async () => {
    let isGood = false;
    const key = times(() => (isGood ? {} : { again: 'backoff' }));
    await pass(24_000);
    expect(key.at).toEqual([0, 1_000, 3_000, 7_000, 15_000, 23_000]);
    isGood = true;
    key.now();
    await pass(300);
    isGood = false;
    key.now();
    await pass(2_000);
    expect(key.at.slice(6)).toEqual([24_200, 24_500, 25_500]);
  });

  test('does not keep a change waiting, which does not make up for it', async () => {
    const key = times(() => ({ again: 'backoff' }));
    await pass(3_500);
    key.now();
    await pass(8_500);
    expect(key.at).toEqual([0, 1_000, 3_000, 3_700, 11_700]);
  });

  test('that is thrown is reported, counts, and holds up nothing else', async () => {
    queue = new Queue(1);
    const other = times(() => ({ again: 1_000 }));
    const failures: number[] = [];
    follow(async (given) => {
      failures.push(given.failures);
      throw new Error('broken');
    });
    follow(() => {
      throw new Error('before it began');
    });
    await pass(3_000);
    expect(failures).toEqual([0, 1, 2]);
    expect(errors.slice(0, 2)).toEqual(['Error: broken', 'Error: before it began']);
    expect(other.at).toHaveLength(4);
  });
});

describe('a group', () => {
  test('has one pass at a time, and what waits for it takes no place', async () => {
    queue = new Queue(2, 60_000);
    const busy = new Map<string, number>();
    const of = (group: string) =>
      follow(
        async () => {
          busy.set(group, (busy.get(group) ?? 0) + 1);
          expect(busy.get(group)).toBe(1);
          await sleep(100);
          busy.set(group, 0);
          return {};
        },
        { group },
      );
    for (let i = 0; i < 3; i++) of('orders');
    const other = times(() => ({ again: 50 }));
    await pass(310);
    expect(other.at).toEqual([0, 50, 100, 150, 200, 250, 300]);
    expect(errors).toEqual([]);
  });

  test('goes on after a failure', async () => {
    let passes = 0;
    follow(() => Promise.reject(new Error('broken')), { group: 'orders' });
    follow(async () => ({ again: ++passes * 0 }), { group: 'orders' });
    await pass(10);
    expect(passes).toBeGreaterThan(1);
  });
});

describe('a stop', () => {
  test('ends a pause at once, and lets a pass end; no further one begins', async () => {
    const idle = times(() => ({ again: 3_600_000 }));
    let [aborted, ended] = [false, false];
    follow(async ({ signal }) => {
      await sleep(1_000);
      aborted = signal.aborted;
      ended = true;
      throw new Error('stopped');
    });
    await pass(100);
    const stopped = queue.stop(60_000).then(() => ended);
    idle.now();
    await pass(1_000);
    expect(await stopped).toBe(true);
    expect(aborted).toBe(true);
    expect(errors).toEqual([]);
    await pass(7_200_000);
    expect(idle.at).toEqual([0]);
  });

  test('does not wait for a pass that hangs longer than the grace period', async () => {
    follow(() => new Promise(() => {}));
    await pass(100);
    let isOver = false;
    void queue.stop(8_000).then(() => {
      isOver = true;
    });
    await pass(7_999);
    expect(isOver).toBe(false);
    await pass(1);
    expect(isOver).toBe(true);
  });

  test('of one key is none of another, and ends it also if no pass has begun', async () => {
    queue = new Queue(1);
    const [mine, other] = [[] as number[], times(() => ({ again: 1_000 }))];
    const key = follow(async () => ({ again: mine.push(0) }));
    void key.stop(0);
    await pass(2_000);
    expect(mine).toEqual([]);
    expect(other.at).toHaveLength(3);
  });
});
