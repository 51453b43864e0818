import { parentPort } from 'node:worker_threads';
import { canonical } from './canonical.ts';
import { Explorer, fairRun, type Violation } from './explorer.ts';
import { fairMove, moves } from './moves.ts';
import { divergent, mutantsOf } from './mutants.ts';
import { type Planner, sights } from './passes.ts';
import { actionTable, planner, plannerOf } from './planner.ts';
import { scenarioOf } from './scenarios.ts';
import type { World } from './world.ts';

/** A world in which a mutant decides otherwise than plan(). */
export interface Fork {
  readonly scenario: string;
  readonly world: World;
}

export type MutantTask =
  | { readonly find: string; readonly walks: number; readonly perMutant: number }
  | { readonly mutant: string; readonly forks: readonly Fork[]; readonly maxStates: number };

export type MutantAnswer =
  | { readonly forks: Record<string, World[]>; readonly scenario: string }
  | { readonly mutant: string; readonly found?: string; readonly scenario?: string };

/** In one state of so many the incomplete observations are compared, too: they cost the most. */
const BLURRED = 5;
const LONGEST_WALK = 16;

const mutants = new Map(mutantsOf(actionTable).map((mutant) => [mutant.name, mutant]));

/** Walks at random and then fairly to the end, and keeps for every mutant some worlds in which it would do otherwise. */
function find(name: string, walks: number, perMutant: number): Record<string, World[]> {
  const forks: Record<string, World[]> = {};
  const scenario = scenarioOf(name, planner);
  const seen = new Set<string>();
  const visit = (world: World): void => {
    const text = canonical(world);
    if (seen.has(text)) return;
    seen.add(text);
    const blurred = seen.size % BLURRED === 0;
    for (const mutant of new Set(sights(world, blurred).flatMap(([, observed]) => divergent(actionTable, observed)))) {
      forks[mutant] ??= [];
      if (forks[mutant].length < perMutant) forks[mutant].push(world);
    }
  };
  let random = 1;
  const next = (below: number): number => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (random >>> 8) % below;
  };
  for (let walk = 0; walk < walks; walk++) {
    let world = scenario.start;
    const detours = next(LONGEST_WALK);
    for (let n = 0; n < detours; n++) {
      visit(world);
      const { all, fair } = moves(world, scenario, planner);
      if (all.length === 0) break;
      world = (fair >= 0 && next(2) === 0 ? all[fair]! : all[next(all.length)]!).next;
    }
    for (let n = 0; n < 100; n++) {
      visit(world);
      const move = fairMove(world, planner);
      if (!move || canonical(move.next) === canonical(world)) break;
      world = move.next;
    }
  }
  return forks;
}

/** Explores on from there with the mutant in charge, and all that the scenario allows still to come. */
function attack(mutated: Planner, { scenario, world }: Fork, maxStates: number): Violation | undefined {
  const whole = scenarioOf(scenario, planner);
  const start = { ...world, budget: whole.start.budget };
  return fairRun(start, mutated) ?? new Explorer({ ...whole, start }, mutated).run(maxStates).violation;
}

function judged(mutated: Planner, fork: Fork, maxStates: number): string | undefined {
  try {
    return attack(mutated, fork, maxStates)?.what;
  } catch (error) {
    return `plan() throws: ${(error as Error).message}`;
  }
}

function answer(task: MutantTask): MutantAnswer {
  if ('find' in task) return { scenario: task.find, forks: find(task.find, task.walks, task.perMutant) };
  const mutated = plannerOf(mutants.get(task.mutant)!.actions);
  for (const maxStates of [100, task.maxStates]) {
    for (const fork of task.forks) {
      const found = judged(mutated, fork, maxStates);
      // What plan() itself would do wrong from there is not the mutant's doing.
      if (found && !judged(planner, fork, maxStates)) return { mutant: task.mutant, found, scenario: fork.scenario };
    }
  }
  return { mutant: task.mutant };
}

parentPort!.on('message', (task: MutantTask) => parentPort!.postMessage(answer(task)));
