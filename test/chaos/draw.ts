import { createHash } from 'node:crypto';

/** Draws by a seed alone: the same seed, the same draws. */
export class Draw {
  readonly #seed: number;
  #drawn = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** 0 or more, and less than the limit. */
  below(limit: number): number {
    const hash = createHash('sha256')
      .update(`${this.#seed} ${this.#drawn++}`)
      .digest();
    return hash.readUInt32BE() % limit;
  }

  /** Both ends may be drawn. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** True one time in so many. */
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
