/** What the call brings, but an abort rejects at once with its reason; nobody then hears of the call any more. */
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
