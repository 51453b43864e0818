import { moreTime } from './run-limit.ts';

/** Functions that let the time of a signal begin again. */
const restarts = new WeakMap<AbortSignal, () => void>();

/**
 * Returns a signal that is aborted after this time in milliseconds without a call of `answered`. A slow store that
 * keeps answering never reaches the limit. The run is extended by the time that it waits.
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

/** Informs the limit that the store has answered. Has no effect on other signals. */
export function answered(signal: AbortSignal | undefined): void {
  if (signal) restarts.get(signal)?.();
}
