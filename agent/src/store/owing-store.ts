import { isTimeout } from '../lib/run-limit.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject } from './store.ts';

/** A store that knows whether it owed an answer when the time limit of the run was reached. */
export class OwingStore implements Store {
  readonly #store: Store;
  #pending = 0;
  #isLate = false;

  constructor(store: Store, signal: AbortSignal) {
    this.#store = store;
    signal.addEventListener('abort', () => {
      this.#isLate = isTimeout(signal) && this.#pending > 0;
    });
  }

  get url(): string {
    return this.#store.url;
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<PutResult> {
    return this.#until(this.#store.put(key, body, options));
  }

  async get(key: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>> {
    return this.#each(await this.#until(this.#store.get(key, options)));
  }

  list(prefix: string, options?: CallOptions): AsyncIterable<StoredObject> {
    return this.#each(this.#store.list(prefix, options));
  }

  stat(key: string, options?: CallOptions): Promise<StoredObject | undefined> {
    return this.#until(this.#store.stat(key, options));
  }

  delete(key: string, options?: CallOptions): Promise<'deleted' | 'retained'> {
    return this.#until(this.#store.delete(key, options));
  }

  sweep(prefix: string, age: number, options?: CallOptions): Promise<number> {
    return this.#until(this.#store.sweep(prefix, age, options));
  }

  now(options?: CallOptions): Promise<Date | undefined> {
    return this.#until(this.#store.now(options));
  }

  async isThere(options?: CallOptions): Promise<boolean> {
    return this.#store.isThere ? this.#until(this.#store.isThere(options)) : true;
  }

  close(): void {
    this.#store.close();
  }

  async #until<T>(call: Promise<T>): Promise<T> {
    this.#pending++;
    try {
      return await call;
    } finally {
      this.#pending--;
    }
  }

  #each<T>(source: AsyncIterable<T>): AsyncIterable<T> {
    return {
      [Symbol.asyncIterator]: () => {
        const iterator = source[Symbol.asyncIterator]();
        return {
          next: () => this.#until(iterator.next()),
          return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
        };
      },
    };
  }
}
