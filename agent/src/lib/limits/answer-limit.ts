import { moreTime } from './run-limit.ts';

/** Functions that let the time of a signal begin again. */
const restarts = new WeakMap<AbortSignal, () => void>();

/**
 * Returns a signal that is aborted after this time in milliseconds without `answered`: a slow store that answers is waited
 * for, however many answers there are. A run that waits is extended by the time that it waits.
 */
export function answerLimit(milliseconds: number, run?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  let last = Date.now();
  const abort = () => controller.abort(new DOMException('the store does not answer in time', 'TimeoutError'));
  const timer = setTimeout(abort, milliseconds).unref();
  moreTime(run, milliseconds / 1000);
  restarts.set(signal, () => {
    if (signal.aborted) return;
    timer.refresh();
    const now = Date.now();
    moreTime(run, (now - last) / 1000);
    last = now;
  });
  return signal;
}

/** Tells the limit that the store has answered. Has no effect on other signals. */
export function answered(signal: AbortSignal | undefined): void {
  if (signal) restarts.get(signal)?.();
}
