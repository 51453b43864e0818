import { act } from './act.ts';
import type { Effect } from './effect.ts';
import { type Memory, read, remember } from './observe.ts';
import type { Fresh } from './observed.ts';
import { type Plan, plan } from './plan.ts';
import type { Port } from './port.ts';
import type { Settings } from './settings.ts';

export interface Pass {
  plan: Plan;
  memory: Memory;
  /** Of the effect; its outcome is unknown then, and the next pass looks. */
  error?: unknown;
}

/** One pass: look, decide, do at most one thing. Memory goes from pass to pass. */
export async function pass(
  port: Port,
  now: number,
  settings: Settings,
  holder: string,
  fresh: Fresh,
  memory: Memory,
): Promise<Pass> {
  const observed = await read(port, holder, fresh, memory, settings);
  const before = remember(memory, observed, now, settings);
  const { since, hash, done, failures } = before;
  const decided = plan({ ...observed, since, done, failures, ...(hash && { hash }) }, now, settings);
  if (!decided.effect) return { plan: decided, memory: { ...before, failures: 0 } };
  try {
    const result = await act(decided.effect, port);
    return {
      plan: decided,
      memory: { ...noted(before, decided.effect), ...(result && { hash: { ...result, at: now } }) },
    };
  } catch (error) {
    return { plan: decided, memory: { ...before, failures: before.failures + 1 }, error };
  }
}

const noted = (memory: Memory, effect: Effect): Memory => ({
  ...memory,
  failures: 0,
  done: 'done' in effect ? [...memory.done, effect.done] : memory.done,
});
