import { AgentError, ExitCode } from '../../../src/lib/errors.ts';
import { checkKey, checkPrefix } from '../../../src/store/keys.ts';
import type { PutResult, Store, StoredObject } from '../../../src/store/store.ts';

const modified = new Date('2026-11-21T02:38:10Z');

/** A store of a few objects, fast enough for thousands of inputs in a second. */
export class MemoryStore implements Store {
  readonly url = 'memory://store';
  readonly #objects: Map<string, Uint8Array>;

  constructor(objects: Readonly<Record<string, Uint8Array>>) {
    this.#objects = new Map(Object.entries(objects));
  }

  async put(key: string, body: AsyncIterable<Uint8Array>): Promise<PutResult> {
    checkKey(key);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    this.#objects.set(key, Buffer.concat(chunks));
    return {};
  }

  async get(key: string): Promise<AsyncIterable<Uint8Array>> {
    checkKey(key);
    const found = this.#objects.get(key);
    if (!found) throw new AgentError(ExitCode.nothingThere, `${this.url} has no ${key}`);
    return (async function* () {
      yield found;
    })();
  }

  async *list(prefix: string): AsyncGenerator<StoredObject> {
    checkPrefix(prefix);
    for (const [key, { length }] of this.#objects) if (key.startsWith(prefix)) yield { key, size: length, modified };
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    checkKey(key);
    const found = this.#objects.get(key);
    return found && { key, size: found.length, modified };
  }

  async delete(key: string): Promise<'deleted'> {
    checkKey(key);
    this.#objects.delete(key);
    return 'deleted';
  }

  async sweep(): Promise<number> {
    return 0;
  }

  async now(): Promise<Date> {
    return new Date('2026-12-01T00:00:00Z');
  }

  close(): void {}
}
