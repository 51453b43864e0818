import { silent } from '../../../test/support/backup-request.ts';
import { errorLike } from '../../../test/support/error-like.ts';
import { withTimeout } from '../../lib/limits/budget.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { PhaseTimes } from '../../lib/terminal/phase-times.ts';
import type { Store } from '../../store/store.ts';
import { attempt, checkRuns, targetRuns } from './target-run.ts';

const settings = { duration: () => 100 };
const hang = (signal: AbortSignal) => unlessAborted(new Promise<never>(() => {}), signal);

/** Two stores, of which the first is in a later step than the second when the time is up. */
const timedOut = (second: string | undefined, firstIsDone: boolean) => {
  const progress = new PhaseTimes({ phase() {}, bytes() {}, end() {} });
  return withTimeout({ settings, signal: silent.signal, progress }, async ({ signal }) => {
    const targets = ['s3://a', 's3://b'].map((url) => ({ store: { url } as Store }));
    const [a, b] = targetRuns({ cluster: 'orders', targets }, { ...silent, signal, progress });
    progress.phase('stream', 'snapshot of etcd');
    await Promise.all([
      attempt([b!], async ({ context }) => {
        if (second) context.progress.phase(second);
        await hang(signal);
      }),
      attempt([a!], async ({ context }) => {
        context.progress.phase('read-back', 'reading it back from s3://a');
        if (firstIsDone) a!.outcome = { store: 's3://a' };
        else await hang(signal);
      }),
    ]);
    checkRuns([a!, b!], signal);
    return b!.describe().error;
  });
};

test.each([
  ['the step that it has begun', 'manifest', /^not done after 0s, in the step 'manifest'$/],
  ['the common step, in which it still is', undefined, /^not done after 0s, in the step 'stream: snapshot of etcd'$/],
])('the time-out of one of several stores names %s, not the step of another store', async (_, second, message) => {
  expect(await timedOut(second, true)).toMatchObject({
    message: expect.stringMatching(message),
    finding: { kind: 'timedOut', isWaiting: false },
  });
});

test('the time-out of several stores in different steps names the stores without a step', async () => {
  await expect(timedOut('manifest', false)).rejects.toThrow(
    errorLike(/^s3:\/\/a, s3:\/\/b: not done after 0s$/, { finding: { kind: 'timedOut', isWaiting: false } }),
  );
});
