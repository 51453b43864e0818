import { answered, answerLimit } from './answer-limit.ts';
import { withTimeout } from './run-limit.ts';

const run = { settings: { duration: () => undefined }, signal: new AbortController().signal };
// A slow machine would end a limit, too.
const after = (milliseconds: number) => vi.advanceTimersByTime(milliseconds);
beforeEach(() => {
  vi.useFakeTimers({ toNotFake: ['nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('the time begins again with each answer, and the run is extended by it', async () => {
  await withTimeout(run, async (signal, _, limit) => {
    const begun = limit();
    const until = answerLimit(400, signal);
    for (let n = 0; n < 5; n++) {
      after(390);
      answered(until, 1);
    }
    expect(until.aborted).toBe(false);
    expect(limit() - begun).toBe(400 + 5 * 390);
    after(400);
    expect(until.reason).toMatchObject({ message: 'the store does not answer in time' });
    const ended = limit();
    answered(until, 1);
    expect(limit()).toBe(ended);
  });
});

test('answers that drip are not waited for without end', async () => {
  await withTimeout(run, async (signal, _, limit) => {
    const until = answerLimit(200, signal);
    let answers = 0;
    while (!until.aborted && answers < 100) {
      after(20);
      answered(until, 0.001);
      answers++;
    }
    expect(answers).toBe(43);
    expect(until.reason).toMatchObject({ message: expect.stringMatching(/^the store answers too slowly/) });
    const ended = limit();
    answered(until, 1);
    expect(limit()).toBe(ended);
  });
});

test('answers are waited for as long as they are worth', () => {
  const until = answerLimit(200);
  for (let answers = 0; answers < 60; answers++) {
    after(20);
    answered(until, 1);
  }
  expect(until.aborted).toBe(false);
});

test('with --timeout, each wait leaves time for the work', async () => {
  const short = { ...run, settings: { duration: () => 2_000 } };
  await withTimeout(short, async (signal) => {
    for (let waits = 0; waits < 3; waits++) {
      const until = answerLimit(15_000, signal);
      while (!until.aborted) after(10);
    }
    const until = answerLimit(15_000, signal);
    while (!until.aborted) {
      after(10);
      answered(until, 1);
    }
    expect(signal.aborted).toBe(false);
  });
});

test('an answer has no effect on another signal', () => {
  answered(undefined, 1);
  answered(AbortSignal.timeout(1), 1);
});

test.each([3_600_000, -86_400_000])(
  'a clock that is set by %i ms ends no limit, and adds no time to the run',
  async (step) => {
    await withTimeout(run, async (signal, _, limit) => {
      const begun = limit();
      const until = answerLimit(400, signal);
      after(100);
      vi.setSystemTime(Date.now() + step);
      answered(until, 1);
      expect(until.aborted).toBe(false);
      expect(limit() - begun).toBe(400 + 100);
    });
  },
);
