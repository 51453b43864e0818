/** How long an answer counts where no watch tells of a change, ms. */
const longest = 600_000;

interface Kept {
  readonly at: number;
  readonly answer: unknown;
}

/**
 * What the API server answered last about a cluster. It counts until a watch tells of a change, and only for a look that
 * finds nothing to do: before anything is done, `again` makes the next look a new one.
 */
export class AnswerCache {
  readonly #isWatched: () => boolean;
  readonly #kept = new Map<string, Kept>();
  /** What is asked for now may be older than the change that was told meanwhile. */
  #changes = 0;
  #used = false;

  /** `isWatched`: every change would be told. */
  constructor(isWatched: () => boolean) {
    this.#isWatched = isWatched;
  }

  /** `keep`: whether the answer can only change with an object that is watched. */
  async at<T>(what: string, ask: () => Promise<T>, keep: (answer: T) => boolean = () => true): Promise<T> {
    const kept = this.#kept.get(what);
    const at = performance.now();
    if (kept && this.#isWatched() && at - kept.at < longest) {
      this.#used = true;
      return kept.answer as T;
    }
    const changes = this.#changes;
    const answer = await ask();
    if (changes === this.#changes && keep(answer)) this.#kept.set(what, { at, answer });
    return answer;
  }

  /** Something changed: what is named, or anything. */
  changed(what?: string): void {
    this.#changes++;
    if (what === undefined) this.#kept.clear();
    else this.#kept.delete(what);
  }

  /** Everything is asked for anew; false: it has been already. */
  again(): boolean {
    this.changed();
    const used = this.#used;
    this.#used = false;
    return used;
  }
}
