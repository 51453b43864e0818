import { unknown } from '../../protocol/known.ts';
import type { Effect } from '../port/effect.ts';
import type { Fresh, Observed, RefusalTimes } from '../port/observed.ts';
import { type AtPoint, NotNow, type Port } from '../port/port.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import { act } from './act.ts';
import { conditionsOf } from './conditions/conditions.ts';
import { View } from './engine/view.ts';
import { type Memory, read, recalled, remember } from './observe.ts';
import { type Plan, plan } from './plan.ts';

export interface Pass {
  /** The input of plan(). */
  observed: Observed;
  plan: Plan;
  memory: Memory;
  /** Error of the effect. Its outcome is then unknown, and the next pass observes it. */
  error?: unknown;
}

/** One pass: observe, decide, carry out at most one effect. Memory goes from pass to pass. */
export async function pass(
  port: Port,
  now: number,
  settings: ReconcilerSettings,
  holder: string,
  fresh: Fresh,
  memory: Memory,
  at: AtPoint = () => {},
): Promise<Pass> {
  const seen = await read(port, holder, fresh, memory, settings);
  const found = decision(seen, memory, now, settings);
  if ('error' in found) return thrown(seen, found.error, memory, now, settings);
  const { before, observed, decided } = found;
  if (!decided.effect) return { observed, plan: decided, memory: { ...before, ...noFailure } };
  const step = longStep(decided.effect);
  if (step !== undefined && step !== before.told)
    return announced(observed, decided, { ...before, told: step }, settings);
  // An effect is never carried out on an older observation.
  if (port.lookAgain?.()) return pass(port, now, settings, holder, fresh, memory, at);
  try {
    await at(`before ${decided.rule}`);
    const result = await act(decided.effect, port);
    await at(`after ${decided.rule}`);
    return {
      observed,
      plan: decided,
      memory: { ...noted(before, decided.effect), ...(result && { hash: { ...result, at: now } }) },
    };
  } catch (error) {
    if (error instanceof NotNow && decided.effect.kind === 'DeletePod')
      return refused(
        observed,
        decided,
        before,
        refusal(before, decided.effect.uid, error.message, now, settings),
        settings,
      );
    return { observed, plan: decided, memory: failed(before, decided, error), error };
  }
}

function decision(seen: Observed, memory: Memory, now: number, settings: ReconcilerSettings) {
  try {
    const before = remember(memory, seen, now, settings);
    const observed = { ...seen, ...recalled(before) };
    return { before, observed, decided: plan(observed, now, settings) };
  } catch (error) {
    return { error };
  }
}

/** A pass that threw on what it saw. Nothing of that counts as observed, or the status would stay as the last pass found it. */
export function thrown(
  seen: Observed,
  error: unknown,
  memory: Memory,
  now: number,
  settings: ReconcilerSettings,
): Pass {
  const why = messageOf(error);
  const nothing = unknown(why);
  const observed: Observed = {
    ...seen,
    ...recalled(memory),
    record: { known: false, why, unreadable: true },
    ...{ statefulSet: nothing, pods: nothing, claims: nothing, agents: {} },
    ...{ members: nothing, status: {}, alarms: nothing, jobs: nothing, restores: nothing },
  };
  const failures = memory.failures + 1;
  const hold = 'PassFailed';
  const { cluster } = seen;
  const conditions = cluster.known && cluster.v ? conditionsOf(new View(observed, now, settings), hold) : [];
  const decided = { hold, why: `${hold}: ${why}`, conditions, requeueMs: settings.steady } as const;
  return { observed, plan: decided, memory: { ...memory, failures, error: why }, error };
}

/** The key of an effect that may take minutes. */
const longStep = (effect: Effect): string | undefined => (effect.kind === 'Defrag' ? effect.done : undefined);

/** Such an effect is left to the next pass, because a pass is reported only when it ends. */
function announced(observed: Observed, decided: Plan, memory: Memory, { next }: ReconcilerSettings): Pass {
  const { effect: _, ...plan } = decided;
  return { observed, plan: { ...plan, requeueMs: next }, memory };
}

const noFailure = { failures: 0, error: undefined };

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n')[0]!;

function failed(before: Memory, { rule, effect }: Plan, error: unknown): Memory {
  const line = messageOf(error);
  const key = effect && 'done' in effect ? effect.done : undefined;
  return {
    ...before,
    ...(key !== undefined && { failed: { ...before.failed, [key]: line } }),
    failures: before.failures + 1,
    error: `${rule}: ${line}`,
  };
}

/** Continues an earlier refusal for the same pod, unless the pause between them was long. */
function refusal(
  { refused }: Memory,
  podUid: string,
  message: string,
  now: number,
  { evictAgain }: ReconcilerSettings,
): RefusalTimes {
  const goesOn = refused?.podUid === podUid && now - refused.at < 4 * evictAgain;
  return { at: now, since: goesOn ? refused.since : now, podUid, message };
}

/** Turns the pass into one that waits for the eviction. */
function refused(seen: Observed, { rule }: Plan, before: Memory, by: RefusalTimes, settings: ReconcilerSettings): Pass {
  const observed = { ...seen, refused: by };
  const { effect: _, ...waits } = plan(observed, by.at, settings);
  const memory = { ...before, ...noFailure, refused: by };
  return { observed, plan: { ...waits, why: `${rule} waits: ${by.message}` }, memory };
}

const noted = (memory: Memory, effect: Effect): Memory => ({
  ...memory,
  ...noFailure,
  refused: effect.kind === 'DeletePod' && effect.evict ? undefined : memory.refused,
  done: 'done' in effect && effect.done !== undefined ? [...memory.done, effect.done] : memory.done,
});
