import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { emptyMemory, type Memory } from './observe.ts';
import type { Fresh } from './observed.ts';
import type { Port } from './port.ts';
import { type AtPoint, type Pass, pass } from './reconcile.ts';
import type { Settings } from './settings.ts';
import { clusterStatus, isSameStatus } from './status.ts';

export interface ClusterRun {
  port: Port;
  settings: Settings;
  /** Who holds the lease: since when counts from the start of the run. */
  holder: string;
  signal: AbortSignal;
  log: Pick<Log, 'info' | 'warn' | 'error' | 'debug'>;
  at?: AtPoint;
  /** Resolves when something changed: the next pass does not wait its time out. */
  wake?: (signal: AbortSignal) => Promise<unknown>;
}

/** Looks after one cluster: pass after pass, until the signal. */
export async function runCluster(run: ClusterRun): Promise<void> {
  let memory = emptyMemory(clock());
  let said: string | undefined;
  while (!run.signal.aborted) {
    const now = clock();
    const done = await attempt(run, now, memory);
    if (!done) {
      await pause(run, run.settings.backoffMin);
      continue;
    }
    memory = done.memory;
    said = tell(run, done, said);
    await report(run, done, now);
    await pause(run, waitOf(done, run.settings));
  }
}

/** Steps of the wall clock do not move it. */
const clock = (): number => Math.round(performance.timeOrigin + performance.now());

/** A pass does not throw; should it all the same, the other clusters of this process must not stop with it. */
async function attempt(run: ClusterRun, now: number, memory: Memory): Promise<Pass | undefined> {
  const { port, settings, holder, at, log } = run;
  try {
    return await pass(port, now, settings, holder, freshValues(), memory, at);
  } catch (error) {
    log.error({ err: error }, 'a pass ended unexpectedly');
    return undefined;
  }
}

const freshValues = (): Fresh => ({
  id: randomBytes(8).toString('hex'),
  clusterUid: randomUUID(),
  token: randomBytes(16).toString('hex'),
  secret: randomBytes(32).toString('hex'),
});

/** One line for each effect, and for each new reason to wait. */
function tell({ log }: ClusterRun, { plan, error }: Pass, said: string | undefined): string {
  if (error) log.warn({ row: plan.row }, `${plan.row}: ${messageOf(error)}`);
  else if (plan.effect) log.info({ row: plan.row, effect: plan.effect.kind }, `${plan.row}: ${plan.effect.kind}`);
  else if (plan.why !== said) log.info(plan.why);
  return plan.why;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function report({ port, settings, log }: ClusterRun, { observed, plan }: Pass, now: number): Promise<void> {
  const status = clusterStatus(observed, plan.conditions, now, settings);
  const before = observed.cluster.known ? observed.cluster.v?.status : undefined;
  if (!status || isSameStatus(before, status)) return;
  try {
    await port.clusters.reportStatus(status);
  } catch (error) {
    log.warn(`the status could not be written: ${messageOf(error)}`);
  }
}

function waitOf({ plan, memory, error }: Pass, { next, backoffMin, backoffMax }: Settings): number {
  if (error) return Math.min(backoffMin * 2 ** (memory.failures - 1), backoffMax);
  return plan.effect ? Math.min(next, plan.requeueMs) : plan.requeueMs;
}

async function pause({ signal, wake }: ClusterRun, ms: number): Promise<void> {
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const waits = [sleep(ms, undefined, { signal: either }), ...(wake ? [wake(either)] : [])];
  await Promise.race(waits.map((wait) => wait.catch(() => {})));
  ended.abort();
}
