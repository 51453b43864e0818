import { fanOut } from './fan-out.ts';

async function* numbers(count: number, log: string[] = []) {
  try {
    for (let n = 0; n < count; n++) {
      log.push(`take ${n}`);
      yield Buffer.from([n]);
    }
  } finally {
    log.push('closed');
  }
}

async function readAll(source: AsyncIterable<Uint8Array>, delay = 0): Promise<number[]> {
  const seen: number[] = [];
  for await (const [byte] of source) {
    if (delay) await new Promise((resolve) => setTimeout(resolve, delay));
    seen.push(byte!);
  }
  return seen;
}

test('every reader gets every chunk once, however slow the others are', async () => {
  const [a, b, c] = fanOut(numbers(20), 3);

  const seen = await Promise.all([readAll(a!), readAll(b!, 2), readAll(c!)]);

  for (const one of seen) expect(one).toEqual([...Array(20).keys()]);
});

test('the source is read only when all readers wait', async () => {
  const log: string[] = [];
  const [a, b] = fanOut(numbers(5, log), 2);
  const reader = a![Symbol.asyncIterator]();
  void reader.next();
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(log).toEqual([]);

  await b![Symbol.asyncIterator]().next();

  expect(log).toEqual(['take 0']);
});

test('a reader that stops does not block the others, and the last one closes the source', async () => {
  const log: string[] = [];
  const [a, b] = fanOut(numbers(5, log), 2);
  const leaving = (async () => {
    for await (const _ of a!) break;
  })();

  expect(await readAll(b!)).toEqual([0, 1, 2, 3, 4]);
  await leaving;
  expect(log.at(-1)).toBe('closed');
});

test('a reader that never began can stop too', async () => {
  const [a, b] = fanOut(numbers(3), 2);
  const reading = readAll(b!);
  await a![Symbol.asyncIterator]().return!();

  expect(await reading).toEqual([0, 1, 2]);
});

test("the source's failure reaches every reader", async () => {
  const failure = new Error('cut');
  async function* failing() {
    yield Buffer.from([1]);
    throw failure;
  }
  const results = await Promise.allSettled(fanOut(failing(), 3).map((reader) => readAll(reader)));

  expect(results.map((result) => result.status === 'rejected' && result.reason)).toEqual([failure, failure, failure]);
});

describe('patience', () => {
  const failure = (reading: Promise<unknown>) =>
    reading.then(
      () => 'it read all',
      (error: Error) => error.message,
    );

  test('a reader that hangs is dropped, and the others get everything', async () => {
    const [a, b, c] = fanOut(numbers(20), 3, () => 100);
    const hanging = a![Symbol.asyncIterator]();
    await Promise.all([hanging.next(), b![Symbol.asyncIterator]().next(), c![Symbol.asyncIterator]().next()]);

    expect(await Promise.all([readAll(b!), readAll(c!)])).toEqual([numbered(1, 20), numbered(1, 20)]);
    await expect(hanging.next()).rejects.toThrow(/too slow: it kept the other stores waiting/);
  });

  test('delays add up', async () => {
    const [slow, fast] = fanOut(numbers(20), 2, () => 100);

    expect(await Promise.all([failure(readAll(slow!, 20)), readAll(fast!)])).toEqual([
      expect.stringMatching(/too slow/),
      numbered(0, 20),
    ]);
  });

  test('no reader is dropped because of a slow source', async () => {
    const slowly = async function* () {
      for await (const chunk of numbers(5)) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        yield chunk;
      }
    };
    const both = fanOut(slowly(), 2, () => 40);

    expect(await Promise.all(both.map((reader) => readAll(reader)))).toEqual([numbered(0, 5), numbered(0, 5)]);
  });
});

function numbered(from: number, to: number): number[] {
  return [...Array(to).keys()].slice(from);
}
