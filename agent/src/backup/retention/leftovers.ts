import { messageOf } from '../../lib/errors.ts';
import { moreTime } from '../../lib/limits/run-limit.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { AWAY, impatience, isUnreachable } from '../catalog/silence.ts';

/** Seconds that a call which hangs adds to the time limit. */
const SILENT_SECONDS = 15;
/** After so many failures in a row, the store takes no deletion at all. */
const GIVE_UP = 20;

export interface Warning {
  readonly warn: (message: string) => void;
}

/**
 * Removes leftovers one by one: a backup needs neither the right to list nor the right to delete, and one call that is refused or
 * hangs keeps neither the backup nor the other leftovers waiting. Says in one warning what failed.
 */
export class Leftovers {
  readonly #next: () => Store;
  readonly #options: CallOptions;
  readonly #failures: string[] = [];
  #awayInRow = 0;
  #inRow = 0;

  private constructor(next: () => Store, options: CallOptions) {
    this.#next = next;
    this.#options = options;
  }

  static async of(store: Store, options: CallOptions): Promise<Leftovers> {
    return new Leftovers(await impatience(store, options.signal), options);
  }

  /** Does nothing once the store has failed too often. */
  async attempt(work: (within: Store) => Promise<void>): Promise<void> {
    if (this.#awayInRow >= AWAY || this.#inRow >= GIVE_UP) return;
    try {
      await work(this.#next());
      this.#inRow = 0;
      this.#awayInRow = 0;
    } catch (error) {
      const { signal } = this.#options;
      signal?.throwIfAborted();
      this.#failures.push(messageOf(error));
      this.#inRow++;
      this.#awayInRow = isUnreachable(error) ? this.#awayInRow + 1 : 0;
      if (isUnreachable(error)) moreTime(signal, SILENT_SECONDS);
    }
  }

  report({ warn }: Warning): void {
    const [first, ...more] = this.#failures;
    if (first === undefined) return;
    warn(`leftovers of dead runs could not be removed: ${first}${more.length > 0 ? ` (and ${more.length} more)` : ''}`);
  }
}
