import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, ExitCode } from '../../src/lib/errors.ts';
import type { CallOptions, Store } from '../../src/store/store.ts';

export interface ContractFixture {
  readonly store: Store;
  /**
   * Size in bytes up to which `onlyNew` holds for concurrent puts. Above it, the store only checks before it writes.
   * Default: unlimited.
   */
  readonly refusesAtOnce?: number;
  /** Leftovers of unfinished puts in the store, read by any means. */
  rests(): Promise<string[]>;
}

const MIB = 1024 * 1024;

export async function* once(...chunks: (Uint8Array | string)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

export async function read(store: Store, key: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await store.get(key)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function keysOf(store: Store, prefix: string, options?: CallOptions): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix, options)) keys.push(key);
  return keys.sort();
}

/** Cuts a body into chunks of sizes that do not divide a block. */
async function* oddly(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const sizes = [1, 65_537, 0, 3_000_001, 16_383, 1_048_577];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function* endless(): AsyncGenerator<Uint8Array> {
  const chunk = randomBytes(MIB);
  for (;;) {
    yield chunk;
    await sleep(1);
  }
}

async function* failing(bytes: number, error: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; at += MIB) yield Buffer.alloc(MIB);
  throw error;
}

async function* stuck(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('some');
  await new Promise(() => {});
}

/** Registers tests for the behavior of every store. `many` is more than one page of a listing, in stores with pages. */
export function storeContract(fixture: () => ContractFixture, many: number): void {
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  const put = (key: string, ...chunks: (Uint8Array | string)[]) => fixture().store.put(key, once(...chunks));

  test('an object comes back as it was put, and goes', async () => {
    const { store } = fixture();
    const before = Date.now();
    await put('simple/a/b.json', 'hello ', 'world');
    expect((await read(store, 'simple/a/b.json')).toString()).toBe('hello world');
    const stat = await store.stat('simple/a/b.json');
    expect(stat).toMatchObject({ key: 'simple/a/b.json', size: 11 });
    expect(Math.abs(stat!.modified.getTime() - before)).toBeLessThan(60_000);
    expect(await keysOf(store, 'simple/')).toEqual(['simple/a/b.json']);
    expect(await store.delete('simple/a/b.json')).toBe('deleted');
    expect(await store.stat('simple/a/b.json')).toBeUndefined();
    expect(await keysOf(store, 'simple/')).toEqual([]);
    expect(await store.delete('simple/a/b.json')).toBe('deleted');
  });

  test('an empty object is an object', async () => {
    const { store } = fixture();
    await put('empty/pin');
    expect(await store.stat('empty/pin')).toMatchObject({ size: 0 });
    expect(await read(store, 'empty/pin')).toHaveLength(0);
  });

  test('20 MiB in odd chunks come back whole', async () => {
    const { store } = fixture();
    const bytes = randomBytes(20 * MIB + 7);
    await store.put('large/x.db', oddly(bytes), { sizeHint: bytes.length });
    expect(sha256(await read(store, 'large/x.db'))).toBe(sha256(bytes));
    expect(await store.stat('large/x.db')).toMatchObject({ size: bytes.length });
  });

  test('a second put replaces the object', async () => {
    const { store } = fixture();
    await put('twice/x', 'the first and longer one');
    await put('twice/x', 'the second');
    expect((await read(store, 'twice/x')).toString()).toBe('the second');
    expect(await keysOf(store, 'twice/')).toEqual(['twice/x']);
  });

  test.each([1, 20 * MIB])('a put of %i bytes that must be new succeeds once', async (size) => {
    const { store, rests } = fixture();
    const key = `new/${size}`;
    await store.put(key, oddly(Buffer.alloc(size, 1)), { onlyNew: true });
    const again = store.put(key, oddly(Buffer.alloc(size, 2)), { onlyNew: true });
    await expect(again).rejects.toMatchObject({ exitCode: ExitCode.refused });
    expect((await read(store, key)).equals(Buffer.alloc(size, 1))).toBe(true);
    expect(await rests()).toEqual([]);
    await store.delete(key);
  });

  test.each([1, 20 * MIB])('of several puts of %i bytes at once that must be new one succeeds', async (size) => {
    const { store, rests, refusesAtOnce = Infinity } = fixture();
    if (size > refusesAtOnce) return;
    const key = `new/once-${size}`;
    const bodies = [1, 2, 3].map((fill) => Buffer.alloc(size, fill));
    const puts = await Promise.allSettled(bodies.map((body) => store.put(key, oddly(body), { onlyNew: true })));
    const won = puts.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
    expect(won).toHaveLength(1);
    for (const put of puts) {
      if (put.status === 'rejected') expect(put.reason).toMatchObject({ exitCode: ExitCode.refused });
    }
    expect((await read(store, key)).equals(bodies[won[0]!]!)).toBe(true);
    expect(await rests()).toEqual([]);
    await store.delete(key);
  });

  test.each([0, 3, 20])('a body that throws after %i MiB leaves nothing, and its own error', async (mib) => {
    const { store, rests } = fixture();
    const error = new Error('the source broke');
    await expect(store.put('thrown/x', failing(mib * MIB, error))).rejects.toBe(error);
    expect(await store.stat('thrown/x')).toBeUndefined();
    expect(await keysOf(store, 'thrown/')).toEqual([]);
    expect(await rests()).toEqual([]);
  });

  test('a put that fails leaves the object that was there', async () => {
    const { store } = fixture();
    await put('kept/x', 'old');
    await expect(store.put('kept/x', failing(20 * MIB, new Error('broke')))).rejects.toThrow('broke');
    expect((await read(store, 'kept/x')).toString()).toBe('old');
  });

  test.each([
    ['midway', endless, 300],
    ['while the body is stuck', stuck, 50],
  ])('an abort %s rejects with its reason and leaves nothing', async (_when, body, delay) => {
    const { store, rests } = fixture();
    const controller = new AbortController();
    const reason = new Error('told to stop');
    const putting = store.put('aborted/x', body(), { signal: controller.signal });
    setTimeout(() => controller.abort(reason), delay);
    await expect(putting).rejects.toBe(reason);
    expect(await store.stat('aborted/x')).toBeUndefined();
    expect(await rests()).toEqual([]);
  });

  test('an abort before the start rejects every call with its reason', async () => {
    const { store } = fixture();
    const reason = new Error('too late');
    const options = { signal: AbortSignal.abort(reason) };
    await put('late/x', 'here');
    await expect(store.put('late/y', once('y'), options)).rejects.toBe(reason);
    await expect(store.get('late/x', options)).rejects.toBe(reason);
    await expect(store.stat('late/x', options)).rejects.toBe(reason);
    await expect(store.delete('late/x', options)).rejects.toBe(reason);
    await expect(keysOf(store, 'late/', options)).rejects.toBe(reason);
    expect(await keysOf(store, 'late/')).toEqual(['late/x']);
  });

  test('an abort stops a read', async () => {
    const { store } = fixture();
    await put('read/x', randomBytes(4 * MIB));
    const controller = new AbortController();
    const reason = new Error('enough');
    const body = await store.get('read/x', { signal: controller.signal });
    const reading = (async () => {
      for await (const _ of body) controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
  });

  test('puts at the same time do not disturb each other', async () => {
    const { store } = fixture();
    const bodies = Array.from({ length: 6 }, (_, index) => randomBytes((index + 1) * MIB));
    await Promise.all(bodies.map((bytes, index) => store.put(`together/${index}`, oddly(bytes))));
    for (const [index, bytes] of bodies.entries()) {
      expect(sha256(await read(store, `together/${index}`))).toBe(sha256(bytes));
    }
    const same = await Promise.all(
      bodies.map((bytes) => store.put('together/same', once(bytes)).then(() => sha256(bytes))),
    );
    expect(same).toContain(sha256(await read(store, 'together/same')));
  });

  test('unusual characters in keys come back the same', async () => {
    const { store } = fixture();
    const names = ["a b+c&d=e?f#g%20h'i(j)*", 'ünï/çødé ✓', '~tilde@at:colon,comma;semi', '.hidden', '<&">'];
    const keys = names.map((name) => `odd/${name}`).sort();
    for (const key of keys) await put(key, key);
    expect(await keysOf(store, 'odd/')).toEqual(keys);
    for (const key of keys) {
      expect((await read(store, key)).toString()).toBe(key);
      expect(await store.stat(key)).toMatchObject({ key });
      await store.delete(key);
    }
    expect(await keysOf(store, 'odd/')).toEqual([]);
  });

  test.each(['../x', 'a/../../x', '/etc/x', 'a//b', 'a/', '', './x', 'a\nb', 'a\0b'])(
    'refuses the key %j',
    async (key) => {
      const { store } = fixture();
      for (const call of [
        () => store.put(key, once('x')),
        () => store.get(key),
        () => store.stat(key),
        () => store.delete(key),
      ]) {
        await expect(call()).rejects.toMatchObject({ exitCode: ExitCode.usage });
      }
    },
  );

  test(`lists ${many} objects, each once`, async () => {
    const { store } = fixture();
    const keys = Array.from({ length: many }, (_, index) => `many/${String(index).padStart(5, '0')}`);
    for (let at = 0; at < many; at += 50) await Promise.all(keys.slice(at, at + 50).map((key) => put(key, 'x')));
    expect(await keysOf(store, 'many/')).toEqual(keys);
  });

  test('lists by prefix, also one that ends within a segment', async () => {
    const { store } = fixture();
    for (const key of ['tree/ab/1', 'tree/ab/2', 'tree/abc/3', 'tree/b']) await put(key, key);
    expect(await keysOf(store, 'tree/ab/')).toEqual(['tree/ab/1', 'tree/ab/2']);
    expect(await keysOf(store, 'tree/ab')).toEqual(['tree/ab/1', 'tree/ab/2', 'tree/abc/3']);
    expect(await keysOf(store, 'tree/none/')).toEqual([]);
    expect(await keysOf(store, '')).toEqual(expect.arrayContaining(['tree/ab/1', 'tree/b']));
    await expect(keysOf(store, '../')).rejects.toMatchObject({ exitCode: ExitCode.usage });
  });

  test('a missing object is nothing there, at once', async () => {
    const { store } = fixture();
    const error = await store.get('missing/x').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ exitCode: ExitCode.nothingThere, message: expect.stringContaining('missing/x') });
    expect(await store.stat('missing/x')).toBeUndefined();
  });

  test('a reader may leave early', async () => {
    const { store } = fixture();
    await put('early/x', randomBytes(4 * MIB));
    for await (const chunk of await store.get('early/x')) {
      expect(chunk.length).toBeGreaterThan(0);
      expect(chunk.length).toBeLessThanOrEqual(MIB);
      break;
    }
    expect(await store.stat('early/x')).toMatchObject({ size: 4 * MIB });
  });

  test('sweep spares a put that is under way', async () => {
    const { store, rests } = fixture();
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const body = (async function* () {
      for (let chunks = 0; chunks < 20; chunks++) yield Buffer.alloc(MIB, chunks);
      started.resolve();
      await gate.promise;
      yield Buffer.from('end');
    })();
    const putting = store.put('swept/x', body);
    await started.promise;
    expect(await rests()).toHaveLength(1);
    expect(await store.sweep('swept/', 60_000)).toBe(0);
    expect(await store.sweep('other/', 0)).toBe(0);
    gate.resolve();
    await putting;
    expect(await store.stat('swept/x')).toMatchObject({ size: 20 * MIB + 3 });
  });

  test('sweep removes rests that are old enough, and nothing else', async () => {
    const { store, rests } = fixture();
    await put('swept/object', 'x');
    // A body that never ends, as after the kill of a process.
    const controller = new AbortController();
    const dead = store.put('swept/dead', stuckAfter(20 * MIB), { signal: controller.signal });
    // Fails by the signal, or because the server refuses a part that arrives after the sweep has removed the upload.
    const ended = expect(dead).rejects.toThrow(/^over$|NoSuchUpload/);
    for (let waited = 0; (await rests()).length === 0 && waited < 100; waited++) await sleep(50);
    expect(await sweepUntil(store, 'swept/', 1)).toBe(1);
    expect(await rests()).toEqual([]);
    expect(await keysOf(store, 'swept/')).toContain('swept/object');
    controller.abort(new Error('over'));
    await ended;
  });

  test('the clock of the store', async () => {
    const now = await fixture().store.now();
    expect(Math.abs(now!.getTime() - Date.now())).toBeLessThan(5_000);
  });
}

/** A store's clock may have whole seconds, and lag: sweep again until enough leftovers are old enough. */
export async function sweepUntil(store: Store, prefix: string, count: number): Promise<number> {
  let swept = 0;
  for (let waited = 0; swept < count && waited < 50; waited++) {
    await sleep(100);
    swept += await store.sweep(prefix, 0);
  }
  return swept;
}

async function* stuckAfter(bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; at += MIB) yield Buffer.alloc(MIB);
  await new Promise(() => {});
}
