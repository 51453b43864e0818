import { ending } from '../claims/goal.ts';
import { broken } from '../claims/invariants.ts';
import type { Scenario } from '../scenario.ts';
import { fairMove, moves } from '../world/moves.ts';
import type { World } from '../world/world.ts';
import { canonical, hash } from './canonical.ts';
import type { Coverage } from './coverage.ts';
import type { Planner } from './passes.ts';
import { StateSet } from './state-set.ts';

export interface Exploration {
  readonly scenario: string;
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  /** Every reachable state was expanded. */
  readonly complete: boolean;
  readonly violation?: Violation;
}

export interface Violation {
  readonly what: string;
  readonly story: readonly string[];
}

const NOT_EXPANDED = -2;
const END = -1;
/** A longer fair run goes round in circles. */
const LONGEST_FAIR_RUN = 500;
/** Fair runs that are walked from the last, unexpanded level, per allowed state. */
const SAMPLED = 1 / 300;

/** A growing array of 32-bit integers. */
class Numbers {
  #values = new Int32Array(1 << 12);

  get(at: number): number {
    return this.#values[at]!;
  }

  set(at: number, value: number): void {
    if (at >= this.#values.length) {
      const larger = new Int32Array(this.#values.length * 4);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[at] = value;
  }
}

/** Observers of an exploration. */
export interface Watch {
  readonly coverage?: Coverage;
  /** Called with every state that is expanded. */
  readonly visit?: (world: World) => void;
}

interface Level {
  worlds: World[];
  numbers: number[];
}

/**
 * Explores everything that can happen, breadth first, so that the first path to a bad state is one of the shortest.
 * A visited state takes 4 + 4 + 4 + 12 bytes: its parent, its move, the next state of a fair run, its hash.
 */
export class Explorer {
  readonly #scenario: Scenario;
  readonly #planner: Planner;
  readonly #watch: Watch;
  readonly #states = new StateSet();
  readonly #parent = new Numbers();
  readonly #move = new Numbers();
  readonly #fair = new Numbers();
  #transitions = 0;

  constructor(scenario: Scenario, planner: Planner, watch: Watch = {}) {
    this.#scenario = scenario;
    this.#planner = planner;
    this.#watch = watch;
  }

  run(maxStates: number): Exploration {
    this.#add(this.#scenario.start, -1, 0);
    let level: Level = { worlds: [this.#scenario.start], numbers: [0] };
    let depth = 0;
    let violation: Violation | undefined;
    while (level.worlds.length > 0 && !violation && this.#states.size < maxStates) {
      const next: Level = { worlds: [], numbers: [] };
      for (let at = 0; at < level.worlds.length && !violation; at++) {
        violation = this.#expand(level.worlds[at]!, level.numbers[at]!, next);
        // Releases the memory of the expanded world.
        level.worlds[at] = this.#scenario.start;
      }
      level = next;
      depth++;
    }
    violation ??= this.#circles() ?? this.#sample(level, Math.ceil(maxStates * SAMPLED));
    return {
      scenario: this.#scenario.name,
      states: this.#states.size,
      transitions: this.#transitions,
      depth,
      complete: level.worlds.length === 0,
      violation,
    };
  }

  #add(world: World, parent: number, move: number): { number: number; isNew: boolean } {
    const added = this.#states.add(hash(canonical(world)));
    if (added.isNew) {
      this.#parent.set(added.number, parent);
      this.#move.set(added.number, move);
      this.#fair.set(added.number, NOT_EXPANDED);
    }
    return added;
  }

  #expand(world: World, number: number, next: Level): Violation | undefined {
    this.#watch.visit?.(world);
    const { coverage } = this.#watch;
    const holds = coverage && ((rule: string) => coverage.hold(rule, world));
    const { all, fair } = moves(world, this.#scenario, this.#planner, holds);
    this.#fair.set(number, END);
    for (let m = 0; m < all.length; m++) {
      const move = all[m]!;
      this.#transitions++;
      coverage?.count(move);
      const { number: to, isNew } = this.#add(move.next, number, m);
      if (m === fair && to !== number) this.#fair.set(number, to);
      if (!isNew) continue;
      const what = broken(move.next);
      if (what) return { what, story: this.#replay(to).story };
      next.worlds.push(move.next);
      next.numbers.push(to);
    }
    const what = this.#fair.get(number) === END ? ending(world, this.#planner) : undefined;
    return what ? { what, story: this.#replay(number).story } : undefined;
  }

  /** Follows the fair move of every expanded state. A path that does not end is a circle. */
  #circles(): Violation | undefined {
    const walk = new Int32Array(this.#states.size);
    for (let from = 0; from < walk.length; from++) {
      let at = from;
      while (at >= 0 && walk[at] === 0) {
        walk[at] = from + 1;
        at = this.#fair.get(at);
      }
      if (at >= 0 && walk[at] === from + 1) {
        const { world, story } = this.#replay(at);
        return this.#fairRun(world, story);
      }
    }
    return undefined;
  }

  #sample({ worlds, numbers }: Level, samples: number): Violation | undefined {
    const every = Math.max(1, Math.floor(worlds.length / samples));
    for (let at = 0; at < worlds.length; at += every) {
      if (!this.#fairRun(worlds[at]!, [])) continue;
      return this.#fairRun(worlds[at]!, this.#replay(numbers[at]!).story);
    }
    return undefined;
  }

  #fairRun(start: World, before: readonly string[]): Violation | undefined {
    return fairRun(start, this.#planner, before);
  }

  /** Walks the path from the start to a state again. */
  #replay(number: number): { world: World; story: string[] } {
    const path: number[] = [];
    for (let at = number; this.#parent.get(at) >= 0; at = this.#parent.get(at)) path.unshift(this.#move.get(at));
    let world = this.#scenario.start;
    const story: string[] = [];
    for (const m of path) {
      const move = moves(world, this.#scenario, this.#planner).all[m]!;
      story.push(move.text);
      world = move.next;
    }
    return { world, story };
  }
}

/** Runs without further faults; the run must end well. */
export function fairRun(start: World, planner: Planner, before: readonly string[] = []): Violation | undefined {
  const story = [...before, '— no fault from here on —'];
  const seen = new Set<string>();
  let world = start;
  for (let n = 0; n < LONGEST_FAIR_RUN; n++) {
    const text = canonical(world);
    if (seen.has(text)) return { what: 'goes round in circles', story };
    seen.add(text);
    const move = fairMove(world, planner);
    if (!move || canonical(move.next) === text) {
      const what = ending(world, planner);
      return what ? { what, story } : undefined;
    }
    story.push(move.text);
    world = move.next;
    const what = broken(world);
    if (what) return { what, story };
  }
  return { what: `does not end within ${LONGEST_FAIR_RUN} steps`, story };
}
