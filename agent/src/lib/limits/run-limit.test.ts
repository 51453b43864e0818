import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandContext } from '../../commands/cli/command.ts';
import type { Settings } from '../../commands/cli/settings.ts';
import { ExitCode } from '../errors.ts';
import { PhaseTimes } from '../terminal/phase-times.ts';
import { moreTime, namingStore, withTimeout } from './run-limit.ts';

test('the time-out of a run names the store that has used up the time', async () => {
  const settings = { duration: () => 20 } as unknown as Settings;
  const context = { settings, signal: new AbortController().signal } as CommandContext;
  const store = { url: 's3://slow' };
  const slow = withTimeout(context, (signal) =>
    namingStore(store, () =>
      namingStore(store, async () => {
        await sleep(5_000, undefined, { signal }).catch(() => signal.throwIfAborted());
      }),
    ),
  );
  await expect(slow).rejects.toMatchObject({
    exitCode: 50,
    message: 's3://slow: not done after 0s',
    finding: { kind: 'timedOut', isWaiting: false },
  });
  await expect(namingStore(store, () => Promise.reject(new Error('other')))).rejects.toThrow(/^other$/);
});

test('the time-out of a run names its step', async () => {
  const settings = { duration: () => 20 } as unknown as Settings;
  const progress = new PhaseTimes({ phase() {}, bytes() {}, end() {} });
  const context = { settings, progress, signal: new AbortController().signal } as unknown as CommandContext;
  const slow = withTimeout(context, async (signal) => {
    progress.phase('first');
    progress.phase('verify', 'an-id');
    await sleep(5_000, undefined, { signal }).catch(() => signal.throwIfAborted());
  });
  await expect(slow).rejects.toMatchObject({
    message: "not done after 0s, in the step 'verify: an-id'",
    finding: { kind: 'timedOut', isWaiting: false },
  });
});

test.each([3_600_000, -86_400_000])(
  'the time limit of a run does not follow a clock that is set by %i ms',
  async (step) => {
    const settings = { duration: () => undefined } as unknown as Settings;
    const context = { settings, signal: new AbortController().signal } as CommandContext;
    const { now } = Date;
    await withTimeout(context, async (signal, grow) => {
      Date.now = () => now() + step;
      grow(1);
      moreTime(signal, 0.001);
      await sleep(5);
      expect(signal.aborted).toBe(false);
    }).finally(() => {
      Date.now = now;
    });
  },
);

test('the time limit of a run grows with its work, unless it was given', async () => {
  const limitOf = (given: number | undefined) => {
    const settings = { duration: () => given } as unknown as Settings;
    const context = { settings, signal: new AbortController().signal } as CommandContext;
    return withTimeout(context, async (signal, grow, limit) => {
      const first = limit();
      moreTime(signal, 100);
      grow(30 * 1024 * 1024);
      moreTime(signal, 10);
      return [first, limit()];
    });
  };
  expect(await limitOf(undefined)).toEqual([60_000, 60_000 + 110_000 + 30_000]);
  expect(await limitOf(5_000)).toEqual([5_000, 5_000]);
});

test('work that hangs after the limit or a signal is left after the grace period', async () => {
  vi.useFakeTimers({ toNotFake: ['nextTick', 'queueMicrotask'] });
  const settings = { duration: () => 1_000 } as unknown as Settings;
  const stop = new AbortController();
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
  vi.useRealTimers();
});
