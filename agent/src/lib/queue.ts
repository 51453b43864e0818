/**
 * Lets few begin at a time: all the looks of a thousand clusters at once would each take longer than a look may. One that
 * waits for long gives its place away, so that what is slow delays nobody else for longer than that.
 */
export class Turns {
  readonly #longest: number;
  readonly #urgent: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** `longest`: ms. */
  constructor(places: number, longest: number) {
    this.#free = places;
    this.#longest = longest;
  }

  /** What is urgent comes before what is not. */
  readonly take = async <T>(work: () => Promise<T>, isUrgent = false): Promise<T> => {
    const queue = isUrgent ? this.#urgent : this.#waiting;
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => queue.push(resolve));
    let has = true;
    const give = () => {
      if (has) this.#give();
      has = false;
    };
    const timer = setTimeout(give, this.#longest);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      give();
    }
  };

  #give(): void {
    const next = this.#urgent.shift() ?? this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }
}
