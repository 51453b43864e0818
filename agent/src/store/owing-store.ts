import { isTimeout } from '../lib/limits/run-limit.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject, Unfinished } from './store.ts';

/** A store that knows whether it owed an answer when the time limit of the run was reached. */
export class OwingStore implements Store {
  readonly #store: Store;
  readonly #pending = new Set<{ readonly what: string }>();
  #isLate = false;
  #waitingFor: string | undefined;

  readonly links?: Store['links'];

  constructor(store: Store, signal: AbortSignal) {
    this.#store = store;
    if (store.links) this.links = (prefix, options) => this.#each(`list ${prefix}`, store.links!(prefix, options));
    signal.addEventListener('abort', () => {
      this.#isLate = isTimeout(signal) && this.#pending.size > 0;
      // The oldest has waited longest.
      if (this.#isLate) this.#waitingFor = this.#pending.values().next().value?.what;
    });
  }

  get url(): string {
    return this.#store.url;
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  get waitingFor(): string | undefined {
    return this.#waitingFor;
  }

  put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<PutResult> {
    return this.#until(`put ${key}`, this.#store.put(key, body, options));
  }

  async get(key: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>> {
    return this.#each(`get ${key}`, await this.#until(`get ${key}`, this.#store.get(key, options)));
  }

  list(prefix: string, options?: CallOptions): AsyncIterable<StoredObject> {
    return this.#each(`list ${prefix}`, this.#store.list(prefix, options));
  }

  stat(key: string, options?: CallOptions): Promise<StoredObject | undefined> {
    return this.#until(`stat ${key}`, this.#store.stat(key, options));
  }

  delete(key: string, options?: CallOptions): Promise<'deleted' | 'retained'> {
    return this.#until(`delete ${key}`, this.#store.delete(key, options));
  }

  async isRetained(key: string, options?: CallOptions): Promise<boolean> {
    return this.#store.isRetained ? this.#until(`stat ${key}`, this.#store.isRetained(key, options)) : false;
  }

  sweep(prefix: string, age: number, options?: CallOptions): Promise<number> {
    return this.#until(`sweep ${prefix}`, this.#store.sweep(prefix, age, options));
  }

  async *unfinished(prefix: string, options?: CallOptions): AsyncGenerator<Unfinished> {
    if (this.#store.unfinished) yield* this.#each(`list ${prefix}`, this.#store.unfinished(prefix, options));
  }

  now(options?: CallOptions): Promise<Date | undefined> {
    return this.#until('now', this.#store.now(options));
  }

  async isThere(options?: CallOptions): Promise<boolean> {
    return this.#store.isThere ? this.#until('stat', this.#store.isThere(options)) : true;
  }

  close(): void {
    this.#store.close();
  }

  async #until<T>(what: string, call: Promise<T>): Promise<T> {
    const pending = { what };
    this.#pending.add(pending);
    try {
      return await call;
    } finally {
      this.#pending.delete(pending);
    }
  }

  #each<T>(what: string, source: AsyncIterable<T>): AsyncIterable<T> {
    return {
      [Symbol.asyncIterator]: () => {
        const iterator = source[Symbol.asyncIterator]();
        return {
          next: () => this.#until(what, iterator.next()),
          return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
        };
      },
    };
  }
}
