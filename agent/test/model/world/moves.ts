import { lateCall, type Pass, type Planner, passes } from '../explore/passes.ts';
import type { Scenario } from '../scenario.ts';
import { edits, faults, writes } from './events.ts';
import { type Step, steps } from './steps.ts';
import { glances } from './torn.ts';
import type { World } from './world.ts';

export type Move = Step | Pass;

/** Everything that can happen next. */
export interface Moves {
  readonly all: readonly Move[];
  /** Index of the move in a fair run: the world's own steps first, then an undisturbed pass. −1: nothing is left to do. */
  readonly fair: number;
}

export function moves(world: World, scenario: Scenario, planner: Planner, holds?: (rule: string) => void): Moves {
  const own = steps(world);
  const reconciler = passes(world, planner, scenario.blurred !== false, holds);
  const clear = reconciler.findIndex((pass) => pass.clear && pass.kind === 'done');
  const others = [
    ...glances(world),
    ...lateCall(world),
    ...writes(world),
    ...faults(world, scenario.faults),
    ...edits(world, scenario.edits),
  ];
  const fair = own.length > 0 ? 0 : clear;
  return { all: [...own, ...reconciler, ...others], fair };
}

/** Only the move of a fair run, which is cheaper. */
export function fairMove(world: World, planner: Planner): Move | undefined {
  return steps(world)[0] ?? passes(world, planner, false).find((pass) => pass.kind === 'done');
}
