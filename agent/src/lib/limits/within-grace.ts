/** Milliseconds for the cleanup of a run after its signal. The kubelet waits 60 s. */
const GRACE = 20_000;

/**
 * Waits for work that cleans up, or completes its last step, when its signal is aborted. Work that has not ended after the
 * grace period hangs: rejects with the signal's reason, and ignores what comes of it.
 */
export async function withinGrace<T>(work: Promise<T>, signal: AbortSignal | undefined, grace = GRACE): Promise<T> {
  if (!signal) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => reject(signal.reason), grace);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
