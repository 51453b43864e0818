import { act } from './act.ts';
import type { Effect } from './effect.ts';
import { type Memory, read, remember } from './observe.ts';
import type { Fresh, Observed } from './observed.ts';
import { type Plan, plan } from './plan.ts';
import type { Port } from './port.ts';
import type { Settings } from './settings.ts';

export interface Pass {
  /** What plan() saw. */
  observed: Observed;
  plan: Plan;
  memory: Memory;
  /** Of the effect; its outcome is unknown then, and the next pass looks. */
  error?: unknown;
}

/** Called with `before <row>` and `after <row>` around every effect: tests end the process there. */
export type AtPoint = (point: string) => void | Promise<void>;

/** One pass: look, decide, do at most one thing. Memory goes from pass to pass. */
export async function pass(
  port: Port,
  now: number,
  settings: Settings,
  holder: string,
  fresh: Fresh,
  memory: Memory,
  at: AtPoint = () => {},
): Promise<Pass> {
  const seen = await read(port, holder, fresh, memory, settings);
  const before = remember(memory, seen, now, settings);
  const { since, hash, done, failures } = before;
  const observed = { ...seen, since, done, failures, ...(hash && { hash }) };
  const decided = plan(observed, now, settings);
  if (!decided.effect) return { observed, plan: decided, memory: { ...before, failures: 0 } };
  // Nothing is done on what was read before.
  if (port.lookAgain?.()) return pass(port, now, settings, holder, fresh, memory, at);
  try {
    await at(`before ${decided.row}`);
    const result = await act(decided.effect, port);
    await at(`after ${decided.row}`);
    return {
      observed,
      plan: decided,
      memory: { ...noted(before, decided.effect), ...(result && { hash: { ...result, at: now } }) },
    };
  } catch (error) {
    return { observed, plan: decided, memory: { ...before, failures: before.failures + 1 }, error };
  }
}

const noted = (memory: Memory, effect: Effect): Memory => ({
  ...memory,
  failures: 0,
  done: 'done' in effect ? [...memory.done, effect.done] : memory.done,
});
