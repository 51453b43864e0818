import { seal } from '../../../test/mutations/mutate.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { once } from '../../../test/support/store-contract.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { PutOptions, PutResult, Store, StoredObject } from '../../store/store.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { verifySnapshot } from '../payload/verify.ts';
import { besideKey, commitExactKey, moveToKey, readExactEntry, sweepBeside, whereItIs } from './exact-key.ts';

const KEY = 'releases/before.db';
const signal = new AbortController().signal;
const verifying = { level: 'read', scratch: '/nowhere', etcdutl: new Etcdutl('none'), signal } as const;

/** A store whose clock has a resolution of a day, so that two puts look alike. */
class Memory implements Store {
  readonly url = 'memory:';
  readonly objects = new Map<string, Buffer>();
  readonly #landing: (what: string) => Promise<void>;

  constructor(objects = new Map<string, Buffer>(), landing: (what: string) => Promise<void> = async () => {}) {
    this.objects = objects;
    this.#landing = landing;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, { onlyNew }: PutOptions = {}): Promise<PutResult> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    await this.#landing(`put ${key}`);
    if (onlyNew && this.objects.has(key)) throw new AgentError(ExitCode.refused, `${key} exists`);
    this.objects.set(key, Buffer.concat(chunks));
    return {};
  }

  async get(key: string) {
    await this.#landing(`get ${key}`);
    const found = this.objects.get(key);
    if (!found) throw new AgentError(ExitCode.nothingThere, key);
    return once(found);
  }

  async *list(prefix: string): AsyncIterable<StoredObject> {
    await this.#landing(`list ${prefix}`);
    for (const key of [...this.objects.keys()]) if (key.startsWith(prefix)) yield (await this.stat(key))!;
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    await this.#landing(`stat ${key}`);
    const found = this.objects.get(key);
    return found && { key, size: found.length, modified: new Date(0) };
  }

  async delete(key: string) {
    await this.#landing(`delete ${key}`);
    this.objects.delete(key);
    return 'deleted' as const;
  }

  sweep = async () => 0;
  now = async () => new Date();
  close(): void {}
}

/**
 * One of several runs that replace the snapshot under the key. It waits before each step until the test lets it
 * continue.
 */
class Run {
  readonly manifest: SnapshotManifest;
  readonly steps: string[] = [];
  done = false;
  #left = 0;
  #resume = () => {};
  #paused = Promise.withResolvers<void>();

  constructor(objects: Map<string, Buffer>, name: string) {
    const id = `etcd-snapshot-20260101-000000-${name.repeat(6)}`;
    const snapshot = seal(Buffer.from(name));
    this.manifest = manifestOf(snapshot, snapshot, { id, object: { key: besideKey(KEY, id) } });
    objects.set(this.manifest.object.key, snapshot);
    const store = new Memory(objects, (what) => this.#landing(what));
    void this.#go(store).finally(() => {
      this.done = true;
      this.#paused.resolve();
    });
  }

  async #go(store: Store): Promise<void> {
    const options = { ...verifying, overwrite: true };
    await commitExactKey(store, this.manifest, KEY, options);
    await moveToKey(store, this.manifest, KEY, options).catch((error) => {
      if (!(error instanceof AgentError)) throw error;
    });
  }

  async #landing(what: string): Promise<void> {
    this.steps.push(what);
    if (this.#left-- > 0) return;
    this.#paused.resolve();
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
  }

  /** Until this is its next step. */
  async goTo(what: string): Promise<void> {
    for (await this.go(0); this.steps.at(-1) !== what && !this.done; ) await this.go(1);
    expect(this.done).toBe(false);
  }

  /** So many steps, or less when it ends before. */
  async go(steps: number): Promise<void> {
    await this.#paused.promise;
    if (this.done || steps === 0) return;
    this.#paused = Promise.withResolvers();
    this.#left = steps - 1;
    this.#resume();
    await this.#paused.promise;
  }
}

/** What is under the key is one of them, whole, and stays so when what lies around is removed. */
async function expectWhole(objects: Map<string, Buffer>, runs: readonly Run[]): Promise<void> {
  const store = new Memory(objects);
  for (const rests of [() => [], () => sweepBeside(store, KEY, 0, new Set(), {})]) {
    await rests();
    const { manifest } = await readExactEntry(store, KEY, {});
    expect(runs.map((run) => run.manifest.id)).toContain(manifest.id);
    await verifySnapshot(store, manifest, verifying);
  }
}

const readExactEntryOf = async (store: Memory) =>
  JSON.parse(String(store.objects.get(`${KEY}.json`))) as { readonly sameEtcdSince?: string };

const ALL = Number.POSITIVE_INFINITY;
const idAt = async (objects: Map<string, Buffer>) => (await readExactEntry(new Memory(objects), KEY, {})).manifest.id;

test('overwritten by one run: the key has the snapshot, and nothing lies beside', async () => {
  const objects = new Map<string, Buffer>();
  const run = new Run(objects, 'a');
  await run.go(ALL);
  await expectWhole(objects, [run]);
  expect([...objects.keys()].sort()).toEqual([KEY, `${KEY}.json`]);
});

test('overwritten by two runs, with any order of steps that switches twice: the snapshot is complete', async () => {
  const counted = new Run(new Map(), 'a');
  await counted.go(ALL);
  for (let first = 0; first <= counted.steps.length; first++) {
    for (let second = 0; second <= counted.steps.length; second++) {
      const objects = new Map<string, Buffer>();
      const [a, b] = [new Run(objects, 'a'), new Run(objects, 'b')];
      await a.go(first);
      await b.go(second);
      await a.go(ALL);
      await b.go(ALL);
      await expectWhole(objects, [a, b]).catch((error) => {
        throw new Error(`${first} steps of a (${a.steps}), then ${second} of b (${b.steps}): ${error.message}`);
      });
    }
  }
});

test('overwritten while another run is dead at any step: the snapshot is complete', async () => {
  for (let step = 1; ; step++) {
    const objects = new Map<string, Buffer>();
    const [dead, run] = [new Run(objects, 'a'), new Run(objects, 'b')];
    await dead.go(step);
    await run.go(ALL);
    await expectWhole(objects, [dead, run]);
    if (dead.done) return;
  }
});

test('overwritten by three runs in any order of their steps: the snapshot is complete', async () => {
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 2_000; round++) {
    const objects = new Map<string, Buffer>();
    const runs = ['a', 'b', 'c'].map((name) => new Run(objects, name));
    const begun = seed;
    for (let left = runs; left.length > 0; left = left.filter(({ done }) => !done)) {
      await left[random(left.length)]!.go(1 + random(6));
    }
    await expectWhole(objects, runs).catch((error) => {
      throw new Error(`seed ${begun}: ${error.message}`);
    });
  }
});

test('a snapshot that a newer run has completed under the key is not replaced by a slower run', async () => {
  const objects = new Map<string, Buffer>();
  const [slow, newer] = [new Run(objects, 'a'), new Run(objects, 'b')];
  await slow.goTo(`get ${slow.manifest.object.key}`);
  await newer.go(ALL);
  await slow.go(ALL);
  expect(slow.steps).not.toContain(`put ${KEY}`);
  expect(await idAt(objects)).toBe(newer.manifest.id);
  await expectWhole(objects, [newer]);
});

test('a put that completes while a newer run is working does not take the key from it', async () => {
  const objects = new Map<string, Buffer>();
  const [slow, newer] = [new Run(objects, 'a'), new Run(objects, 'b')];
  await slow.goTo(`put ${KEY}`);
  await newer.goTo(`get ${newer.manifest.object.key}`);
  await slow.go(ALL);
  await newer.go(ALL);
  await expectWhole(objects, [newer]);
});

test('a run that was replaced does not claim that --object-key finds its snapshot', async () => {
  const objects = new Map<string, Buffer>();
  const [older, newer] = [new Run(objects, 'a'), new Run(objects, 'b')];
  await older.go(ALL);
  const store = new Memory(objects);
  expect(await whereItIs(store, older.manifest, KEY)).toEqual({
    message: `the snapshot stays at ${KEY}`,
    finding: { kind: 'keyFinds' },
  });
  await newer.go(2);
  expect(await whereItIs(store, older.manifest, KEY)).toEqual({
    message: expect.stringMatching(
      /^the snapshot of another run is under the key; this one is at .*aaaaaa, until a later run finds it superseded$/,
    ),
  });
  objects.delete(`${KEY}.json`);
  expect(await whereItIs(store, older.manifest, KEY)).toEqual({
    message: expect.stringMatching(/^the snapshot stays at .*aaaaaa$/),
  });
});

test.each<[string, Parameters<typeof manifestOf>[2], string | undefined]>([
  ['the same etcd', { content: { revision: 5 } }, '2026-01-01T00:00:00.000Z'],
  ['another etcd', { content: { revision: 5 }, source: { clusterId: 'c1' } }, undefined],
  ['an etcd that was emptied', { content: { revision: 3 } }, undefined],
  ['an etcd whose revision is not known', {}, undefined],
])('a snapshot of %s replaces one: it says since when the key led to that etcd', async (_, changes, since) => {
  const store = new Memory();
  const snapshot = seal(Buffer.from('x'));
  const options = { overwrite: true, signal: new AbortController().signal };
  const put = (more: Parameters<typeof manifestOf>[2]) =>
    commitExactKey(store, manifestOf(snapshot, snapshot, more), KEY, options);
  expect(
    (await put({ createdAt: '2026-01-01T00:00:00.000Z', content: { revision: 4 } })).sameEtcdSince,
  ).toBeUndefined();
  await put({ createdAt: '2026-01-02T00:00:00.000Z', content: { revision: 4 } });
  const last = await put({ createdAt: '2026-01-03T00:00:00.000Z', ...changes });
  expect(last.sameEtcdSince).toBe(since);
  expect((await readExactEntryOf(store)).sameEtcdSince).toBe(since);
});

test('a payload that a killed run left beside the key may be good: it is kept until the key leads to a newer verified one', async () => {
  const store = new Memory();
  const left = besideKey(KEY, 'etcd-snapshot-20260101-000000-cccccc');
  store.objects.set(left, Buffer.from('x'));
  const snapshot = seal(Buffer.from('newer'));
  store.objects.set(KEY, snapshot);
  const swept = async (named: ReadonlySet<string> = new Set()) => sweepBeside(store, KEY, 0, named, {});
  const lead = (changes: Parameters<typeof manifestOf>[2]) => {
    const manifest = manifestOf(snapshot, snapshot, { id: 'newer', object: { key: KEY }, ...changes });
    store.objects.set(`${KEY}.json`, Buffer.from(JSON.stringify(manifest)));
  };
  expect(await swept()).toEqual([]);
  store.objects.set(`${KEY}.json`, Buffer.from('{'));
  expect(await swept()).toEqual([]);
  lead({ createdAt: '2025-12-31T00:00:00.000Z' });
  expect(await swept()).toEqual([]);
  lead({ verified: undefined });
  expect(await swept()).toEqual([]);
  lead({ object: { key: KEY, sizeBytes: 1 } });
  expect(await swept()).toEqual([]);
  lead({});
  // Nothing shows that it is of the same etcd.
  expect(await swept()).toEqual([]);
  lead({ sameEtcdSince: '2026-01-01T00:00:01.000Z' });
  expect(await swept()).toEqual([]);
  lead({ sameEtcdSince: '2025-12-31T00:00:00.000Z' });
  expect(await swept(new Set([left]))).toEqual([]);
  store.objects.set(`${left}.json`, Buffer.from('{}'));
  expect(await swept()).toEqual([]);
  store.objects.delete(`${left}.json`);
  expect(await swept()).toEqual([left]);
});
