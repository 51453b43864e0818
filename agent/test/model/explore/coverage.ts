import type { Move } from '../world/moves.ts';
import type { World } from '../world/world.ts';
import { stepOf } from './passes.ts';

export interface Count {
  done: number;
  crashBefore: number;
  crashAfter: number;
  late: number;
}

/** How often each action met each kind of interruption, by action and by the step of the operation in flight. */
export class Coverage {
  readonly counts: Record<string, Count> = {};

  count(move: Move): void {
    if (!('kind' in move)) return;
    this.#of(`${move.rule} · ${move.step}`)[move.kind]++;
  }

  /** Counts a rule that holds. */
  hold(rule: string, world: World): void {
    this.#of(`${rule} · ${stepOf(world)}`).done++;
  }

  #of(name: string): Count {
    this.counts[name] ??= { done: 0, crashBefore: 0, crashAfter: 0, late: 0 };
    return this.counts[name];
  }

  merge(counts: Record<string, Count>): void {
    for (const [name, { done, crashBefore, crashAfter, late }] of Object.entries(counts)) {
      this.counts[name] ??= { done: 0, crashBefore: 0, crashAfter: 0, late: 0 };
      const sum = this.counts[name];
      sum.done += done;
      sum.crashBefore += crashBefore;
      sum.crashAfter += crashAfter;
      sum.late += late;
    }
  }

  /** Names of the rules that were taken. */
  rules(): Set<string> {
    return new Set(Object.keys(this.counts).map((name) => name.split(' · ')[0]!));
  }
}
