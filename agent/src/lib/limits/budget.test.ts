import { ExitCode } from '../errors.ts';
import { PhaseTimes } from '../terminal/phase-times.ts';
import { Budget, withTimeout } from './budget.ts';
import { isTimeout, timedOutAt } from './timed-out-error.ts';

const { signal } = new AbortController();
const BASE = 60_000;
// A slow machine would end a limit, too.
const after = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);
beforeEach(() => {
  vi.useFakeTimers({ toNotFake: ['nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the time limit of a run', () => {
  test('is 60 s for each store, and grows with the work, unless it was given', async () => {
    const limitOf = (given: number | undefined) =>
      withTimeout(
        { settings: { duration: () => given }, signal },
        async ({ budget }) => {
          const first = budget.limit;
          budget.extend(100_000);
          budget.grow(30 * 1024 * 1024);
          budget.extend(10_000);
          return [first, budget.limit];
        },
        2,
      );
    expect(await limitOf(undefined)).toEqual([2 * BASE, 2 * BASE + 110_000 + 30_000]);
    expect(await limitOf(5_000)).toEqual([5_000, 5_000]);
  });

  test.each([3_600_000, -86_400_000])('does not follow a clock that is set by %i ms', (step) => {
    const budget = new Budget({ base: BASE });
    vi.setSystemTime(Date.now() + step);
    budget.grow(1);
    budget.extend(1);
    after(BASE - 1);
    expect(budget.signal.aborted).toBe(false);
    after(2);
    expect(isTimeout(budget.signal)).toBe(true);
  });

  test('ends work that does not count only by itself', async () => {
    const budget = new Budget({ base: BASE });
    await budget.apart(BASE, async () => after(BASE + 10));
    expect(budget.limit).toBe(2 * BASE + 10);
    expect(budget.signal.aborted).toBe(false);
    budget.end();
  });

  test('has no timer after the run, whatever still hangs', () => {
    const budget = new Budget({ base: BASE });
    budget.end();
    budget.extend(1);
    expect(vi.getTimerCount()).toBe(0);
    new Budget().extend(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is a reason of its own beside a signal of the process', () => {
    const stop = new AbortController();
    const budget = new Budget({ signal: stop.signal, base: BASE });
    stop.abort(new Error('stopped'));
    expect(budget.signal.reason).toMatchObject({ message: 'stopped' });
    expect(isTimeout(budget.signal)).toBe(false);
    budget.end();
  });

  test('leaves work that hangs after the limit or a signal after the grace period', async () => {
    const stop = new AbortController();
    const settings = { duration: () => 1_000 };
    const hang = () => withTimeout({ settings, signal: stop.signal }, () => new Promise<never>(() => {}));
    const late = hang();
    const ended = vi.fn();
    late.catch(ended);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    await expect(late).rejects.toMatchObject({ exitCode: ExitCode.timedOut });
    const reason = new Error('stopped');
    stop.abort(reason);
    const stopped = hang();
    stopped.catch(() => {});
    await vi.advanceTimersByTimeAsync(20_000);
    await expect(stopped).rejects.toBe(reason);
  });
});

describe('the error of a run that has timed out', () => {
  const [first, second] = [
    { url: 's3://a', what: 'get x' },
    { url: 's3://b', what: 'list ' },
  ];
  const over = (calls: readonly (typeof first)[], progress?: PhaseTimes) => {
    const budget = new Budget({ given: 2_000, progress });
    for (const call of calls) budget.owed.add(call);
    after(2_000);
    return budget.signal.reason;
  };

  test('names the store that owes an answer, and the call', () => {
    expect(over([])).toMatchObject({ message: 'not done after 2s', finding: { kind: 'timedOut', isWaiting: false } });
    expect(over([second!])).toMatchObject({
      message: 's3://b: not done after 2s, waiting for `list`',
      finding: { kind: 'timedOut', isWaiting: true },
    });
    expect(over([first!, second!]).message).toBe('s3://a, s3://b: not done after 2s');
  });

  test('names its step, and of a part of the run the stores and the step of that part', () => {
    const progress = new PhaseTimes({ phase() {}, bytes() {}, end() {} });
    progress.phase('verify', 'an-id');
    const error = over([first!, second!], progress);
    expect(error.message).toBe("s3://a, s3://b: not done after 2s, in the step 'verify: an-id'");
    expect(timedOutAt(error, ['s3://b'], undefined)).toMatchObject({
      message: 's3://b: not done after 2s, waiting for `list`',
      cause: error,
    });
    expect(timedOutAt(error, [], 'sweep')).toMatchObject({ message: "not done after 2s, in the step 'sweep'" });
    const other = new Error('other');
    expect(timedOutAt(other, ['s3://b'], undefined)).toBe(other);
  });
});

describe('patience', () => {
  test('is a part of what is left of --timeout', async () => {
    const budget = new Budget({ given: 8_000 });
    expect([budget.patience(15_000), budget.patience(15_000, 8), budget.patience(500)]).toEqual([2_000, 1_000, 500]);
    after(4_000);
    expect(budget.patience(15_000)).toBe(1_000);
    budget.end();
    expect(new Budget({ base: 4 }).patience(15_000)).toBe(15_000);
  });

  test('with several stores leaves half of the time to the others, and with one is unlimited', () => {
    const share = (limit: number, stores: number) => {
      const budget = new Budget({ given: limit });
      budget.end();
      return budget.share(stores);
    };
    expect(share(60_000, 1)).toBe(Number.POSITIVE_INFINITY);
    expect(share(120_000, 2)).toBe(60_000);
    expect(share(120_000, 4)).toBe(20_000);
  });
});

describe('a wait', () => {
  test('begins again with each answer, and extends the run by that', () => {
    const budget = new Budget({ base: BASE });
    const until = budget.answers(400);
    for (let n = 0; n < 5; n++) {
      after(390);
      until.answered(1_000);
    }
    expect(until.signal.aborted).toBe(false);
    expect(budget.limit - BASE).toBe(400 + 5 * 390);
    after(400);
    expect(until.signal.reason).toMatchObject({ message: 'the store does not answer in time' });
    const ended = budget.limit;
    until.answered(1_000);
    expect(budget.limit).toBe(ended);
    budget.end();
  });

  test('has an end if answers only drip', () => {
    const budget = new Budget({ base: BASE });
    const until = budget.answers(200);
    let answers = 0;
    while (!until.signal.aborted && answers < 100) {
      after(20);
      until.answered(1);
      answers++;
    }
    expect(answers).toBe(43);
    expect(until.signal.reason).toMatchObject({ message: expect.stringMatching(/^the store answers too slowly/) });
    const ended = budget.limit;
    until.answered(1_000);
    expect(budget.limit).toBe(ended);
    budget.end();
  });

  test('lasts as long as the answers are worth', () => {
    const until = new Budget().answers(200);
    for (let answers = 0; answers < 60; answers++) {
      after(20);
      until.answered(1_000);
    }
    expect(until.signal.aborted).toBe(false);
  });

  test('leaves time for the work, with --timeout', () => {
    const budget = new Budget({ given: 2_000 });
    for (let waits = 0; waits < 3; waits++) {
      const until = budget.answers(15_000);
      while (!until.signal.aborted) after(10);
    }
    const until = budget.answers(15_000);
    while (!until.signal.aborted) {
      after(10);
      until.answered(1_000);
    }
    expect(budget.signal.aborted).toBe(false);
    budget.end();
  });

  test('for a hint is over in time, whatever answers', () => {
    const until = new Budget().wait(200);
    after(190);
    until.answered(1_000);
    after(10);
    expect(until.signal.reason).toMatchObject({ exitCode: ExitCode.storeUnreachable });
  });

  test('ends with the run', () => {
    const budget = new Budget({ given: 100 });
    const waits = [budget.wait(15_000), budget.answers(15_000)];
    after(100);
    for (const wait of waits) expect(isTimeout(budget.signal) && wait.signal.aborted).toBe(true);
  });

  test.each([3_600_000, -86_400_000])(
    'does not follow a clock that is set by %i ms, and adds no time to the run',
    (step) => {
      const budget = new Budget({ base: BASE });
      const until = budget.answers(400);
      after(100);
      vi.setSystemTime(Date.now() + step);
      until.answered(1_000);
      expect(until.signal.aborted).toBe(false);
      expect(budget.limit - BASE).toBe(400 + 100);
      budget.end();
    },
  );
});
