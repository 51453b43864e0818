import { AgentError, ExitCode } from '../../lib/errors.ts';
import { ANSWER, Budget } from '../../lib/limits/budget.ts';
import { PatientStore } from '../../store/patient-store.ts';
import { budgetOf, type Store } from '../../store/store.ts';

/** After so many that are not given out, one after the other, no more are asked for. */
export const AWAY = 4;
/** A read that takes longer lets others begin. Milliseconds. */
export const PATIENCE = 3_000;
const AT_ONCE = 8;
/** So many reads that take longer are awaited at once. A client has a limited number of connections. */
const LATE = 24;
/** A store that does not give out this many objects, and one more for so many that it does, is not asked for more. */
const GIVE_UP = 64;
const ONE_MORE_EACH = 32;

/** Whether trying again may help. */
export const isUnreachable = (error: unknown): error is AgentError =>
  error instanceof AgentError && error.exitCode === ExitCode.storeUnreachable;

/**
 * Returns the same store for objects that a run can do without: a call fails if it gives no sign of life for 15 s. Each object
 * needs its own, because one that hangs must not end the others.
 */
export function impatience(store: Store): () => Store {
  const limit = budgetOf(store).patience(ANSWER);
  return () => PatientStore.of(store, () => limit);
}

/** Objects that a run uses one after the other, and can do without. Those that hang leave time for the others. */
export class Turns {
  readonly #store: Store;
  readonly #budget: Budget;
  readonly #isAlone: boolean;
  readonly #silence: number;
  #inRow = 0;

  /** `isAlone`: there is only one object, which is waited for. `silence`: longest time in milliseconds without a sign of life. */
  constructor(store: Store, isAlone = false, silence = ANSWER) {
    this.#store = store;
    this.#budget = budgetOf(store);
    this.#isAlone = isAlone;
    this.#silence = silence;
  }

  /** The store for the next object. */
  next(): Store {
    if (this.#isAlone) return this.#store;
    // Even if all hang, half of the time is left.
    const limit = this.#budget.patience(this.#silence, 2 * AWAY);
    return PatientStore.of(this.#store, () => limit);
  }

  /** Counts an object that was used, or that the store did not give out. One that hangs adds to the time limit of the run. */
  count(isAway: boolean): void {
    this.#inRow = isAway ? this.#inRow + 1 : 0;
    if (isAway) this.#budget.extend(this.#silence);
  }

  /** Whether the store gives out nothing any more. */
  get isOver(): boolean {
    return this.#inRow >= AWAY;
  }
}

export interface ReadEachOptions<T> {
  /** Given by a run that can do without some: stands for one that fails or hangs. */
  readonly without?: (id: string, error: AgentError) => T;
  readonly signal?: AbortSignal | undefined;
  /** Of the run that reads. */
  readonly budget?: Budget;
}

/**
 * Reads a few at once. One that takes long is still awaited, but no longer keeps the next from its turn, so that many that
 * hang are not awaited one after the other.
 */
export async function readEach<T>(
  ids: readonly string[],
  read: (id: string) => Promise<T>,
  { without, signal, budget = new Budget() }: ReadEachOptions<T>,
): Promise<Awaited<T>[]> {
  const begun = new Array<Promise<T>>(ids.length);
  const late = new Set<Promise<unknown>>();
  const lost: AgentError[] = [];
  let given = 0;
  const orWithout = (id: string): Promise<T> => {
    if (!without) return read(id);
    const [first] = lost;
    if (first && lost.length >= GIVE_UP + given / ONE_MORE_EACH) {
      return Promise.resolve(without(id, notAsked(first, lost.length)));
    }
    const found = (one: T) => {
      given++;
      return one;
    };
    return read(id).then(found, (error) => {
      signal?.throwIfAborted();
      if (!isUnreachable(error)) throw error;
      lost.push(error);
      return without(id, error);
    });
  };
  const next = ids.entries();
  // With a short --timeout, all of them together must leave time for the work itself.
  const patience = without ? budget.patience(PATIENCE, 16) : PATIENCE;
  let isExtended = false;
  const work = async () => {
    for (const [at, id] of next) {
      const one = orWithout(id);
      begun[at] = one;
      if (await isSettled(one, patience)) continue;
      if (without && !isExtended) budget.extend(2 * ANSWER);
      isExtended = true;
      const settled = one.then(
        () => {},
        () => {},
      );
      late.add(settled);
      void settled.then(() => late.delete(settled));
      while (without && late.size > LATE) await Promise.race(late);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, ids.length) }, work));
  return Promise.all(begun);
}

const notAsked = ({ exitCode, message }: AgentError, count: number) =>
  new AgentError(exitCode, `not asked for, because ${count} others are not given out: ${message}`);

/** Resolves to true or rejects as the call settles, or resolves to false after the time. The call may go on. */
async function isSettled(call: Promise<unknown>, milliseconds: number): Promise<boolean> {
  call.catch(() => {});
  const { promise, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(resolve, milliseconds, false);
  try {
    return await Promise.race([call.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}
