import { randomBytes, randomUUID } from 'node:crypto';
import type { Log } from '../../lib/log.ts';
import type { Key, Queue, Result } from '../../lib/queue.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import type { ClusterStatus } from '../../protocol/cluster-status.ts';
import type { Fresh, Observed } from '../port/observed.ts';
import type { AtPoint, Port } from '../port/port.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import { clusterStatus, statusToWrite } from './conditions/status.ts';
import { emptyMemory, type Memory } from './observe.ts';
import { type PassFacts, passFacts } from './pass-facts.ts';
import { type Pass, pass, thrown } from './reconcile.ts';
import { toldOf, type Waiting, waitingOf } from './waiting.ts';

export interface ClusterRun {
  port: Port;
  settings: ReconcilerSettings;
  /** Holder of the lease. How long it holds the lease counts from the start of the run. */
  holder: string;
  follow: Queue['follow'];
  log: Pick<Log, 'info' | 'warn' | 'error' | 'debug'>;
  at?: AtPoint;
  /** Who writes the status. */
  reconciler?: NonNullable<ClusterStatus['reconciler']>;
  /** Called with what each pass has observed. */
  onObserved?: (observed: Observed, facts: PassFacts) => void;
  /** Called with the status that each pass found, whether it can be written or not. */
  onStatus?: (status: ClusterStatus) => void;
}

/** Reconciles one cluster, pass after pass. */
export function runCluster(run: ClusterRun): Key {
  const { settings, log, follow } = run;
  // The observation is not kept between two passes: most clusters wait most of the time.
  let kept: Kept = { memory: emptyMemory(clock()), said: undefined, waiting: 'unknown' };
  return follow({
    pass: async () => {
      const { again, ...rest } = await look(run, kept);
      kept = rest;
      return { again };
    },
    // What a pass throws on what it sees is in the status.
    failed: (error) => log.error({ err: error }, `a pass ended unexpectedly: ${messageOf(error)}`),
    backoff: [settings.backoffMin, settings.backoffMax],
  });
}

/** State that goes from one pass to the next. */
interface Kept {
  memory: Memory;
  said: string | undefined;
  waiting: Waiting;
}

async function look(run: ClusterRun, { memory, said, waiting }: Kept): Promise<Kept & Result> {
  const { port, settings, holder, at } = run;
  const began = clock();
  const done = { ...(await pass(port, began, settings, holder, freshValues(), memory, at)), now: began };
  const now = tell(run, done, said);
  const waits = waitingOf(done, waiting);
  await report(run, done, waits);
  const { effect, requeueMs } = done.plan;
  const isBusy = requeueMs < settings.steady;
  if (!isBusy) port.rest?.();
  if (isBusy || effect || !isReady(done)) port.lookAgain?.();
  return { memory: done.memory, said: now, waiting: waits, again: againOf(done, settings) };
}

type Done = Pass & { now: number };

/** A monotonic clock: steps of the wall clock do not change it. */
const clock = (): number => Math.round(performance.timeOrigin + performance.now());

const freshValues = (): Fresh => ({
  id: randomBytes(8).toString('hex'),
  clusterUid: randomUUID(),
  token: randomBytes(16).toString('hex'),
  secret: randomBytes(32).toString('hex'),
});

/** Logs one line for each effect and for each new reason to wait. */
function tell({ log }: ClusterRun, { plan, error }: Pass, said: string | undefined): string {
  if (error && !plan.rule) log.error({ err: error }, plan.why);
  else if (error) log.warn({ rule: plan.rule }, `${plan.rule}: ${messageOf(error)}`);
  else if (plan.effect) log.info({ rule: plan.rule, effect: plan.effect.kind }, `${plan.rule}: ${plan.effect.kind}`);
  else if (plan.why !== said) log.info(plan.why);
  return plan.why;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function report(run: ClusterRun, done: Done, waiting: Waiting): Promise<void> {
  const { port, settings, log, reconciler, onStatus } = run;
  const { observed, now } = done;
  // The monotonic clock stands still while a machine is suspended.
  const at = observed.date ?? now;
  try {
    const { status: before, followedBy } = (observed.cluster.known && observed.cluster.v) || {};
    const found = statusOf(run, done, waiting);
    if (found) onStatus?.(found);
    const status = found && statusToWrite(before, withoutUndefined({ ...found, reconciler }), at, settings);
    // Two that overwrite each other's status would wake each other without end, and each would take the cluster from the other.
    if (status && followedBy === undefined) await port.clusters.reportStatus(status);
  } catch (error) {
    // Whatever is wrong with a report, the cluster is still looked after.
    log.warn({ err: error }, `the status cannot be written: ${messageOf(error)}`);
  }
}

function statusOf(run: ClusterRun, done: Done, waiting: Waiting): ClusterStatus | undefined {
  const { settings, log, onObserved } = run;
  const { observed, plan, memory, now } = done;
  try {
    const facts = passFacts(observed, now, settings);
    onObserved?.(observed, facts);
    const known = { waiting: toldOf(waiting, done), members: facts.members };
    return clusterStatus(observed, plan.conditions, now, settings, known);
  } catch (error) {
    const message = `the status cannot be worked out: ${messageOf(error)}`;
    log.error({ err: error }, message);
    const failed = thrown(observed, new Error(message), memory, now, settings);
    const status = clusterStatus(failed.observed, failed.plan.conditions, now, settings);
    // The pass itself ended well: the members are as they were.
    const { members } = (observed.cluster.known && observed.cluster.v?.status) || {};
    return status && { ...status, members: members ?? [] };
  }
}

const isReady = ({ plan }: Pass): boolean =>
  plan.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

function againOf({ plan, error }: Pass, { next }: ReconcilerSettings): Result['again'] {
  if (error) return 'backoff';
  return plan.effect ? Math.min(next, plan.requeueMs) : plan.requeueMs;
}
