import { AgentError, ExitCode } from '../errors.ts';
import type { Finding } from '../finding.ts';
import { moreTime, timeLeft } from './run-limit.ts';

/** Functions that let the time of a signal begin again, by what an answer is worth in seconds. */
const restarts = new WeakMap<AbortSignal, (worth: number) => void>();

/** In total, a limit waits so many times its time, and for as long as the answers may take. */
const WHOLE = 4;

/** Milliseconds of at most `most` for one wait: with `--timeout`, a quarter of the time that is left. */
const patience = (run: AbortSignal | undefined, most: number): number => Math.min(most, timeLeft(run) / 4);

/** Returns a signal that is aborted after this time in milliseconds or, with `--timeout`, a quarter of the time that is left. */
export function waitLimit(milliseconds: number, run?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(late('does not answer in time')), patience(run, milliseconds)).unref();
  return controller.signal;
}

const late = (why: string, finding?: Finding) =>
  new AgentError(ExitCode.storeUnreachable, `the store ${why}`, { finding });

/**
 * Returns a signal that is aborted after this time in milliseconds without a call of `answered`. A slow store that
 * keeps answering never reaches the limit. The run is extended by the time that it waits. With `--timeout`, the time is
 * at most a quarter of what is left, and half of it in total.
 */
export function answerLimit(milliseconds: number, run?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const each = patience(run, milliseconds);
  const most = timeLeft(run) / 2;
  // Not the time of day, which may be set meanwhile.
  const begun = performance.now();
  let last = begun;
  let worth = 0;
  const timer = setTimeout(() => controller.abort(late('does not answer in time')), each).unref();
  moreTime(run, each / 1000);
  restarts.set(signal, (seconds) => {
    if (signal.aborted) return;
    worth += seconds * 1000;
    const now = performance.now();
    if (now - begun > Math.min(WHOLE * each + worth, most)) {
      clearTimeout(timer);
      controller.abort(late('answers too slowly', { kind: 'short', limit: 'timeout' }));
      return;
    }
    timer.refresh();
    moreTime(run, (now - last) / 1000);
    last = now;
  });
  return signal;
}

/** Informs the limit that the store has answered, and how long such an answer may take. Has no effect on other signals. */
export function answered(signal: AbortSignal | undefined, seconds: number): void {
  if (signal) restarts.get(signal)?.(seconds);
}
