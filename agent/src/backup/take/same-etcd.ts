import { sameEtcdElsewhere } from '../catalog/identity/locate.ts';
import type { StoreRequest } from './request.ts';
import type { TargetRun } from './target-run.ts';

/** Milliseconds that a finished backup still waits for the warning. */
const AFTERWARDS = 1_000;

/**
 * Runs the work, and meanwhile looks in the stores of these runs for another folder with snapshots of the same etcd, and
 * warns of it. Never changes the result of the work.
 */
export async function warningOfSameEtcd<T>(
  runs: readonly TargetRun[],
  request: StoreRequest,
  clusterId: string,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  let failed = false;
  const look = async ({ target: { store }, context }: TargetRun) => {
    const signal = AbortSignal.any([context.signal, ended.signal]);
    const warning = await sameEtcdElsewhere(store, request, clusterId, { signal });
    if (warning && !failed) context.log.warn({ store: store.url }, warning);
  };
  const looks = Promise.all(clusterId === 'unknown' ? [] : runs.map(look));
  try {
    const result = await work();
    const timer = setTimeout(() => ended.abort(), AFTERWARDS);
    await looks.finally(() => clearTimeout(timer));
    return result;
  } catch (error) {
    failed = true;
    throw error;
  } finally {
    ended.abort();
    await looks;
  }
}
