import { parentPort } from 'node:worker_threads';
import { canonical } from './explore/canonical.ts';
import { Explorer, fairRun, type Violation } from './explore/explorer.ts';
import { type Planner, sights } from './explore/passes.ts';
import { divergent, mutantsOf } from './mutants.ts';
import type { Scenario } from './scenario.ts';
import { scenarioOf } from './scenarios.ts';
import { fairMove, type Move, moves } from './world/moves.ts';
import { actionTable, planner, plannerOf } from './world/planner.ts';
import type { World } from './world/world.ts';

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

/** After the first states of a scenario, incomplete observations are compared in one state of so many: they cost the most. */
const BLURRED = 4;
const FIRST = 250;
const LONGEST_WALK = 120;

const mutants = new Map(mutantsOf(actionTable).map((mutant) => [mutant.name, mutant]));

/**
 * Walks along fair runs with many or few random turns, and keeps some worlds for every mutant in which it decides otherwise.
 * Goes on as long as it meets new ones.
 */
function find(name: string, walks: number, perMutant: number): Record<string, World[]> {
  const forks: Record<string, World[]> = {};
  const scenario = scenarioOf(name, planner);
  const seen = new Set<string>();
  let met = 0;
  const visit = (world: World, text: string): void => {
    if (seen.has(text)) return;
    seen.add(text);
    const blurred = seen.size < FIRST || seen.size % BLURRED === 0;
    for (const mutant of new Set(sights(world, blurred).flatMap(([, observed]) => divergent(actionTable, observed)))) {
      forks[mutant] ??= [];
      if (forks[mutant].length === 0) met++;
      if (forks[mutant].length < perMutant) forks[mutant].push(world);
    }
  };
  const random = randomOf(1);
  const walk = (): void => {
    const turns = TURNS[random(TURNS.length)]!;
    let world = scenario.start;
    for (let n = 0; n < LONGEST_WALK; n++) {
      const text = canonical(world);
      visit(world, text);
      const fair = random(turns) > 0 ? fairMove(world, planner) : undefined;
      const isMove = fair !== undefined && canonical(fair.next) !== text;
      if (!isMove && isSpent(world) && !fairMove(world, planner)) return;
      const move = isMove ? fair : anyMove(world, scenario, random);
      if (!move) return;
      world = move.next;
    }
  };
  for (let left = walks; left > 0; left--) {
    const before = met;
    walk();
    if (met > before) left = walks;
  }
  return forks;
}

/** One step of so many leaves the fair run. */
const TURNS = [2, 3, 5, 8, 12];

const isSpent = ({ budget, late }: World): boolean =>
  late === undefined && budget.faults + budget.edits + budget.writes + budget.late + budget.torn === 0;

/** A pass or another event, chosen first: there are many more ways to observe and to crash than other events. */
function anyMove(world: World, scenario: Scenario, random: (below: number) => number): Move | undefined {
  const { all } = moves(world, scenario, planner);
  const isPass = random(3) === 0;
  const some = all.filter((move) => 'kind' in move === isPass);
  const from = some.length > 0 ? some : all;
  return from[random(from.length)];
}

/** Random numbers that are the same in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

/** Explores from a fork with the mutant, with the whole budget of the scenario. */
function attack(mutated: Planner, { scenario, world }: Fork, maxStates: number): Violation | undefined {
  const whole = scenarioOf(scenario, planner);
  const start = { ...world, budget: whole.start.budget };
  return fairRun(start, mutated) ?? new Explorer({ ...whole, start }, mutated).run(maxStates).violation;
}

function checked(mutated: Planner, fork: Fork, maxStates: number): string | undefined {
  try {
    return attack(mutated, fork, maxStates)?.what;
  } catch (error) {
    return `plan() throws: ${(error as Error).message}`;
  }
}

function answer(task: MutantTask): MutantAnswer {
  if ('find' in task) return { scenario: task.find, forks: find(task.find, task.walks, task.perMutant) };
  const mutated = plannerOf(mutants.get(task.mutant)!.actions);
  for (const maxStates of [40, task.maxStates]) {
    for (const fork of task.forks) {
      const found = checked(mutated, fork, maxStates);
      // A violation that plan() itself causes from there does not count.
      if (found && !checked(planner, fork, maxStates)) return { mutant: task.mutant, found, scenario: fork.scenario };
    }
  }
  return { mutant: task.mutant };
}

parentPort!.on('message', (task: MutantTask) => parentPort!.postMessage(answer(task)));
