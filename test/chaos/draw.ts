import { createHash } from 'node:crypto';

/** Random draws that depend only on a seed. */
export class Draw {
  readonly #seed: number;
  #drawn = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Returns a number of at least 0 and less than the limit. */
  below(limit: number): number {
    const hash = createHash('sha256')
      .update(`${this.#seed} ${this.#drawn++}`)
      .digest();
    return hash.readUInt32BE() % limit;
  }

  /** Both ends are included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** Returns true once in this number of times, on average. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  one<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  shuffled<T>(list: readonly T[]): T[] {
    const rest = [...list];
    return list.map(() => rest.splice(this.below(rest.length), 1)[0]!);
  }
}
