import type { CallOptions, PutOptions, PutResult, Store, StoredObject } from '../../src/store/store.ts';

export class Killed extends Error {}

/**
 * A store whose process crashes at its n-th step: from then on no call reaches the real store. Each write has three
 * steps (before it, in the middle of its bytes, after it) and each deletion two.
 */
export class CrashingStore implements Store {
  readonly url: string;
  readonly #inner: Store;
  readonly #diesAt: number;
  /** The steps so far. */
  readonly steps: string[] = [];

  constructor(inner: Store, diesAt = Number.POSITIVE_INFINITY) {
    this.#inner = inner;
    this.#diesAt = diesAt;
    this.url = inner.url;
  }

  #step(name: string): void {
    if (this.steps.length >= this.#diesAt) throw new Killed(name);
    this.steps.push(name);
    if (this.steps.length === this.#diesAt) throw new Killed(name);
  }

  #alive(): void {
    if (this.steps.length >= this.#diesAt) throw new Killed('dead');
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<PutResult> {
    this.#step(`before put ${key}`);
    const within = async function* (step: () => void) {
      let first = true;
      for await (const chunk of body) {
        yield chunk;
        if (first) step();
        first = false;
      }
    };
    const result = await this.#inner.put(
      key,
      within(() => this.#step(`within put ${key}`)),
      options,
    );
    this.#step(`after put ${key}`);
    return result;
  }

  async delete(key: string, options?: CallOptions): Promise<'deleted' | 'retained'> {
    this.#step(`before delete ${key}`);
    const result = await this.#inner.delete(key, options);
    this.#step(`after delete ${key}`);
    return result;
  }

  async get(key: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>> {
    this.#alive();
    return this.#inner.get(key, options);
  }

  async *list(prefix: string, options?: CallOptions): AsyncIterable<StoredObject> {
    this.#alive();
    yield* this.#inner.list(prefix, options);
  }

  async stat(key: string, options?: CallOptions): Promise<StoredObject | undefined> {
    this.#alive();
    return this.#inner.stat(key, options);
  }

  async sweep(prefix: string, age: number, options?: CallOptions): Promise<number> {
    this.#alive();
    return this.#inner.sweep(prefix, age, options);
  }

  async now(options?: CallOptions): Promise<Date | undefined> {
    this.#alive();
    return this.#inner.now(options);
  }

  close(): void {
    this.#inner.close();
  }
}
