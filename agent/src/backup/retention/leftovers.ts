import { messageOf } from '../../lib/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Folder } from '../catalog/folder.ts';
import { isUnreachable, Turns } from '../catalog/silence.ts';

/** After so many failures in a row, the store takes no deletion at all. */
const GIVE_UP = 20;

export interface Warns {
  readonly warn: (message: string) => void;
}

/**
 * Removes leftovers one by one: a backup needs neither the right to list nor the right to delete, and one call that is refused or
 * hangs keeps neither the backup nor the other leftovers waiting. Says in one warning what failed.
 */
export class Leftovers {
  readonly #turns: Turns;
  readonly #signal: AbortSignal | undefined;
  readonly #failures: string[] = [];
  #inRow = 0;

  constructor({ store, signal }: Folder) {
    this.#turns = new Turns(store);
    this.#signal = signal;
  }

  /** Does nothing once the store has failed too often. */
  async attempt(work: (within: Store) => Promise<void>): Promise<void> {
    if (this.#turns.isOver || this.#inRow >= GIVE_UP) return;
    try {
      await work(this.#turns.next());
      this.#inRow = 0;
      this.#turns.count(false);
    } catch (error) {
      this.#signal?.throwIfAborted();
      this.#failures.push(messageOf(error));
      this.#inRow++;
      this.#turns.count(isUnreachable(error));
    }
  }

  report({ warn }: Warns): void {
    const [first, ...more] = this.#failures;
    if (first === undefined) return;
    warn(`leftovers of dead runs could not be removed: ${first}${more.length > 0 ? ` (and ${more.length} more)` : ''}`);
  }
}
