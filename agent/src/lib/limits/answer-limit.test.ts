import { setTimeout as after } from 'node:timers/promises';
import { answered, answerLimit } from './answer-limit.ts';
import { withTimeout } from './run-limit.ts';

test('the time begins again with each answer, and the run is extended by it', async () => {
  const run = { settings: { duration: () => undefined }, signal: new AbortController().signal };
  await withTimeout(run, async (signal, _, limit) => {
    const begun = limit();
    const until = answerLimit(400, signal);
    for (let n = 0; n < 5; n++) {
      await after(150);
      answered(until);
    }
    expect(until.aborted).toBe(false);
    expect(limit() - begun).toBeGreaterThanOrEqual(400 + 5 * 140);
    await after(600);
    expect(until.reason).toMatchObject({ message: 'the store does not answer in time' });
    const ended = limit();
    answered(until);
    expect(limit()).toBe(ended);
  });
});

test('an answer has no effect on another signal', () => {
  answered(undefined);
  answered(AbortSignal.timeout(1));
});
