/** When the next pass is due: after so many ms, later after each failure, or (undefined) when something changes. */
export interface Result {
  readonly again?: number | 'backoff' | undefined;
}

/** What is done for one object, pass after pass. */
export interface Work {
  /** `failures`: in a row, so far. `signal`: no further pass comes, and this one should end soon. */
  readonly pass: (given: { readonly failures: number; readonly signal: AbortSignal }) => Promise<Result>;
  /** Reports what a pass threw. It counts as a failure. */
  readonly failed: (error: unknown) => void;
  /** The first and the longest pause after a failure, ms. */
  readonly backoff: readonly [number, number];
  /** Works of one group have their passes one after the other. */
  readonly group?: string | undefined;
}

/** ms to wait after a change for more changes, because they come in groups. */
const debounce = 200;

/** What is due again within so many ms goes first: an operation is under way. */
const brief = 5_000;

/** One of so many passes is one that does not go first. */
const fair = 4;

/** The longest pause of Node, ms. */
const longest = 2 ** 31 - 1;

/** The passes of one work, never two at the same time. */
export class Key {
  readonly ended: Promise<void>;
  readonly #work: Work;
  readonly #stop = new AbortController();
  #isChanged = false;
  #due: (ms: number) => void = () => {};

  constructor(work: Work, turn: Queue['turn']) {
    this.#work = work;
    this.ended = this.#run(turn);
  }

  /** Something has changed, so the next pass comes soon, also after one that has begun. */
  now(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    this.#due(debounce);
  }

  /** Begins no further pass. Resolves when the present one has ended, or after `grace` ms. */
  async stop(grace: number): Promise<void> {
    this.#stop.abort();
    this.#due(0);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, grace);
    await Promise.race([this.ended, late.promise]);
    clearTimeout(timer);
  }

  async #run(turn: Queue['turn']): Promise<void> {
    const { backoff, group } = this.#work;
    const [least, most] = backoff;
    let [wait, failures] = [0, 0];
    while (await this.#pause(wait)) {
      const isFirst = this.#isChanged || wait < brief;
      const { again = longest } = await turn(() => this.#pass(failures), isFirst, group);
      failures = again === 'backoff' ? failures + 1 : 0;
      wait = again === 'backoff' ? Math.min(least * 2 ** (failures - 1), most) : again;
    }
  }

  /** Returns false when there is no further pass. */
  async #pause(ms: number): Promise<boolean> {
    const { signal } = this.#stop;
    if (signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timers: NodeJS.Timeout[] = [];
    this.#due = (after) => timers.push(setTimeout(resolve, after));
    // Works that began together do not stay together.
    this.#due(Math.min(ms * (0.9 + Math.random() * 0.2), longest));
    if (this.#isChanged) this.#due(debounce);
    await promise;
    this.#due = () => {};
    for (const timer of timers) clearTimeout(timer);
    return !signal.aborted;
  }

  async #pass(failures: number): Promise<Result> {
    const { signal } = this.#stop;
    if (signal.aborted) return {};
    this.#isChanged = false;
    try {
      return await this.#work.pass({ failures, signal });
    } catch (error) {
      if (!signal.aborted) this.#work.failed(error);
      return { again: 'backoff' };
    }
  }
}

/**
 * Passes over many works. At most `places` run at once: if a thousand clusters were observed at the same time, each
 * observation would take longer than its time limit. A pass of more than `slow` ms gives up its place and continues, so that
 * it delays others no longer than that.
 */
export class Queue {
  readonly #slow: number;
  readonly #first: (() => void)[] = [];
  readonly #others: (() => void)[] = [];
  readonly #groups = new Map<string, Promise<unknown>>();
  readonly #keys = new Set<Key>();
  #free: number;
  #given = 0;

  constructor(places = Number.POSITIVE_INFINITY, slow = 1_000) {
    this.#free = places;
    this.#slow = slow;
  }

  /** Begins with a pass at once. */
  readonly follow = (work: Work): Key => {
    const key = new Key(work, this.turn);
    this.#keys.add(key);
    void key.ended.then(() => this.#keys.delete(key));
    return key;
  };

  /** Stops whatever is followed. */
  async stop(grace: number): Promise<void> {
    await Promise.all([...this.#keys].map((key) => key.stop(grace)));
  }

  /** Makes a pass when its group and a place are free. */
  readonly turn = async (pass: () => Promise<Result>, isFirst: boolean, group?: string): Promise<Result> => {
    if (group === undefined) return this.#inPlace(pass, isFirst);
    const turn = (this.#groups.get(group) ?? Promise.resolve()).then(() => this.#inPlace(pass, isFirst));
    this.#groups.set(group, turn);
    try {
      return await turn;
    } finally {
      if (this.#groups.get(group) === turn) this.#groups.delete(group);
    }
  };

  async #inPlace(pass: () => Promise<Result>, isFirst: boolean): Promise<Result> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => (isFirst ? this.#first : this.#others).push(resolve));
    let give = () => {
      give = () => {};
      this.#give();
    };
    const timer = setTimeout(() => give(), this.#slow);
    try {
      return await pass();
    } finally {
      clearTimeout(timer);
      give();
    }
  }

  #give(): void {
    const lines = [this.#first, this.#others];
    if (++this.#given % fair === 0) lines.reverse();
    const next = lines[0]!.shift() ?? lines[1]!.shift();
    if (next) next();
    else this.#free++;
  }
}
