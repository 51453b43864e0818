/**
 * Waits for a call, but rejects at once with the signal's reason if it is aborted. The call's own outcome is then
 * ignored.
 */
export async function unlessAborted<T>(call: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return call;
  call.catch(() => {});
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([call, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
