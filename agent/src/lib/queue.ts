/**
 * Limits how much work runs at the same time: if a thousand clusters were observed at once, every observation would
 * take longer than its time limit. Work that takes long gives up its place (and continues), so that it delays other
 * work no longer than that.
 */
export class WorkQueue {
  readonly #longest: number;
  readonly #urgent: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** `longest`: milliseconds after which work gives up its place. */
  constructor(places: number, longest: number) {
    this.#free = places;
    this.#longest = longest;
  }

  /** Runs the work once a place is free. Urgent work comes first. */
  readonly run = async <T>(work: () => Promise<T>, isUrgent = false): Promise<T> => {
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
