import { messageOf } from '../../lib/errors.ts';

/**
 * Returns the first result of attempts that may hang. Each attempt starts when the previous one has failed, or has not finished
 * after `stagger` ms. For reads only, because several attempts may run at the same time.
 */
export async function firstOf<T>(attempts: readonly (() => Promise<T>)[], stagger: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const failures: string[] = [];
  let next = 0;
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    clearTimeout(timer);
    const attempt = attempts[next++];
    if (!attempt) return;
    timer = setTimeout(start, stagger);
    attempt().then(resolve, (error) => {
      failures.push(messageOf(error));
      if (failures.length === attempts.length) reject(new Error(failures.join('; ')));
      else if (failures.length === next) start();
    });
  };
  if (attempts.length === 0) reject(new Error('there are no endpoints'));
  start();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    next = attempts.length;
  }
}
