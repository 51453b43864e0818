import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { once } from '../../../test/support/store-contract.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { Budget } from '../../lib/limits/budget.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { Store } from '../../store/store.ts';
import { manifestKey, putJson, readCatalog } from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import { setPins } from '../catalog/pin.ts';
import { prune } from './prune.ts';

const DAY = 86_400_000;
const NOW = new Date('2026-11-21T12:00:00Z');

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'prune-'));
  const store = new FilesystemStore({ path: root });
  for (const [at, id] of ['a', 'b', 'c'].entries()) {
    const bytes = Buffer.alloc(64, id);
    await store.put(`orders/${id}.db`, once(bytes.toString()));
    const createdAt = new Date(NOW.getTime() + (at - 4) * DAY).toISOString();
    await putJson(store, manifestKey('orders', id), manifestOf(bytes, bytes, { id, createdAt }), {});
  }
});
afterEach(() => rm(root, { recursive: true }));

const named = (...ids: string[]) => new Map(ids.map((id) => [id, 'named']));
const files = async () => (await readdir(join(root, 'orders'))).sort();
const ALL = ['a.db', 'a.json', 'b.db', 'b.json', 'c.db', 'c.json'];
const run = async (store: FilesystemStore) =>
  prune(new Folder(store, 'orders'), await readCatalog(new Folder(store, 'orders')), { last: 1 }, context, {});
const cluster = { id: 'c0', lineage: [] };
const context = { now: NOW, storeNow: NOW, clusterName: 'orders', cluster, force: true };

test('a snapshot that the policy does not keep is deleted', async () => {
  expect(await run(new FilesystemStore({ path: root }))).toMatchObject({ deleted: ['a', 'b'], retained: [] });
  expect(await files()).toEqual(['c.db', 'c.json']);
});

test('a snapshot that is named while others are read is kept', async () => {
  const store = new FilesystemStore({ path: root });
  const kept = new Map<string, string>();
  const entries = await readCatalog(new Folder(store, 'orders'));
  const pruned = await prune(new Folder(store, 'orders'), entries, { last: 1 }, context, {
    keep: async () => new Map(kept),
    prove: async () => void kept.set('a', 'named'),
  });
  expect(pruned.deleted).toEqual(['b']);
});

test('nothing is deleted in favor of one that was not read, if the list of what is kept gets shorter meanwhile', async () => {
  const store = new FilesystemStore({ path: root });
  const lists = [named('a', 'b'), named()];
  const entries = await readCatalog(new Folder(store, 'orders'));
  const pruned = await prune(new Folder(store, 'orders'), entries, { last: 1 }, context, {
    keep: async () => lists.shift()!,
    prove: async () => 'it is damaged',
  });
  expect(pruned.deleted).toEqual([]);
  expect(await files()).toEqual(ALL);
});

test.each([[[undefined, named()]], [[named(), undefined]]])(
  'nothing is deleted while the list of what is kept is lost: %j',
  async (lists) => {
    const store = new FilesystemStore({ path: root });
    const entries = await readCatalog(new Folder(store, 'orders'));
    const left = [...lists];
    const pruned = await prune(new Folder(store, 'orders'), entries, { last: 1 }, context, {
      keep: async () => left.shift(),
    });
    expect(pruned).toMatchObject({ deleted: [], veto: { message: expect.stringContaining('does not exist') } });
    expect(await files()).toEqual(ALL);
  },
);

test('a snapshot whose payload alone is locked stays unchanged and is reported as retained', async () => {
  const held = new FilesystemStore({ path: root });
  const remove = held.delete.bind(held);
  const hold: Store['delete'] = async (key) => (key === 'orders/a.db' ? 'retained' : remove(key));
  Object.assign(held, { delete: hold });
  const manifest = await readFile(join(root, 'orders/a.json'));
  expect(await run(held)).toMatchObject({ deleted: ['b'], retained: ['a'] });
  expect(await files()).toEqual(['a.db', 'a.json', 'c.db', 'c.json']);
  expect(await readFile(join(root, 'orders/a.json'))).toEqual(manifest);
});

describe('an object lock', () => {
  /** Locks whatever is written, as a bucket with a default retention. The lock of these snapshots ends later, or never. */
  function locking(isRetained?: Store['isRetained']) {
    const store = new FilesystemStore({ path: root });
    const put = store.put.bind(store);
    const written: string[] = [];
    const noting: Store['put'] = async (key, ...rest) => {
      written.push(key);
      return put(key, ...rest);
    };
    Object.assign(store, { put: noting, delete: async () => 'retained', ...(isRetained && { isRetained }) });
    return { store, written };
  }

  test.each(['a.db', 'a.json'])('nothing is written for a snapshot whose %s the store says is locked', async (name) => {
    const { store, written } = locking(async (key) => key === `orders/${name}`);
    expect(await run(store)).toMatchObject({ deleted: [], retained: expect.arrayContaining(['a']) });
    expect(written.filter((key) => key.startsWith('orders/a.'))).toEqual([]);
  });

  test('a marker that is locked is not written again', async () => {
    const { store, written } = locking();
    expect(await run(store)).toMatchObject({ deleted: [], retained: ['a', 'b'] });
    expect(written).toEqual(['orders/a.deleting', 'orders/b.deleting']);
    expect(await run(store)).toMatchObject({ deleted: [], retained: ['a', 'b'] });
    expect(written).toHaveLength(2);
  });
});

describe('a pin', () => {
  const pin = () => setPins(new Folder(new FilesystemStore({ path: root }), 'orders'), ['a'], true);

  test('that the listings leave out keeps a snapshot, and its export', async () => {
    const store = new FilesystemStore({ path: root });
    const bytes = Buffer.alloc(64, 'a');
    const createdAt = new Date(NOW.getTime() - 4 * DAY).toISOString();
    const exported = { ...manifestOf(bytes, bytes, { id: 'a', createdAt }), exports: [{ key: 'orders/mine.db' }] };
    await putJson(store, 'orders/a.json', exported, {});
    await store.put('orders/mine.db', once(bytes.toString()));
    await pin();
    const { list } = store;
    store.list = async function* (prefix, options) {
      for await (const object of list.call(store, prefix, options)) if (!object.key.endsWith('.pin')) yield object;
    };
    expect(await run(store)).toMatchObject({ deleted: ['b'], retained: ['a'] });
    expect(await files()).toEqual(['a.db', 'a.json', 'a.pin', 'c.db', 'c.json', 'mine.db']);
  });

  /** Pins just before this call of the run that deletes. */
  async function pinsBefore(method: 'stat' | 'delete', key: string) {
    const store = new FilesystemStore({ path: root });
    const call = store[method].bind(store) as (key: string, ...rest: unknown[]) => Promise<never>;
    let pinned: unknown;
    Object.assign(store, {
      [method]: async (at: string, ...rest: unknown[]) => {
        if (at === key) pinned ??= await pin().catch((error) => error.exitCode);
        return call(at, ...rest);
      },
    });
    return { pruned: await run(store), pinned };
  }

  test.each<['stat' | 'delete', string]>([
    ['delete', 'orders/a.json'],
    ['stat', 'orders/a.pin'],
  ])('never succeeds beside the deletion: %s %s', async (method, key) => {
    const { pruned, pinned } = await pinsBefore(method, key);
    expect(pinned).toBe(ExitCode.refused);
    expect(pruned.deleted).toEqual(method === 'stat' ? ['b'] : ['a', 'b']);
  });
});

test('the marker of a deletion that was killed long ago counts again', async () => {
  const store = new FilesystemStore({ path: root });
  await putJson(store, 'orders/a.deleting', { payload: 'orders/a.db' }, {});
  const old = new Date(Date.now() - DAY);
  await utimes(join(root, 'orders/a.deleting'), old, old);
  const { delete: remove } = store;
  let until: string | undefined;
  store.delete = async (key, ...rest) => {
    if (key === 'orders/a.db') until = await new Folder(store, 'orders').mayBeDeletedUntil('a');
    return remove.call(store, key, ...rest);
  };
  expect((await run(store)).deleted).toEqual(['a', 'b']);
  expect(until).toBeDefined();
});

test('a killed deletion leaves a marker that names the payload', async () => {
  class Killed extends FilesystemStore {
    override async delete(key: string) {
      if (key.endsWith('.db')) throw new Error('killed');
      return super.delete(key);
    }
  }
  await expect(run(new Killed({ path: root }))).rejects.toThrow('killed');
  expect(JSON.parse(await readFile(join(root, 'orders/a.deleting'), 'utf8'))).toEqual({ payload: 'orders/a.db' });
});

test('a payload that may not be deleted keeps its manifest', async () => {
  class Refusing extends FilesystemStore {
    override async delete(key: string) {
      if (key.endsWith('.db')) throw new AgentError(ExitCode.storeRefused, 'AccessDenied');
      return super.delete(key);
    }
  }
  expect(await run(new Refusing({ path: root }))).toMatchObject({
    deleted: [],
    failed: ['a', 'b'],
    error: { exitCode: ExitCode.storeRefused, message: expect.stringMatching(/^2 snapshots .* a: AccessDenied/) },
  });
  expect(await files()).toEqual(ALL);
});

describe('a deletion that fails', () => {
  const failing = (fails: (key: string) => boolean) => {
    const store = new FilesystemStore({ path: root });
    const remove = store.delete.bind(store);
    const tried: string[] = [];
    store.delete = async (key) => {
      tried.push(key);
      if (fails(key)) throw new AgentError(ExitCode.storeUnreachable, '503');
      return remove(key);
    };
    return { store, tried };
  };

  test.each(['a.json', 'a.db'])('does not keep others from being deleted: %s', async (name) => {
    const { store } = failing((key) => key === `orders/${name}`);
    const error = { exitCode: ExitCode.storeUnreachable, message: expect.stringMatching(/^1 snapshot .* a: 503/) };
    expect(await run(store)).toMatchObject({ deleted: ['b'], failed: ['a'], deferred: 0, error });
    expect(await files()).toEqual(expect.not.arrayContaining(['b.db', 'b.json']));
  });

  test('is the last one if it follows three others; so is a read', async () => {
    for (const [at, id] of ['d', 'e', 'f', 'g'].entries()) {
      const bytes = Buffer.alloc(64, id);
      await new FilesystemStore({ path: root }).put(`orders/${id}.db`, once(bytes.toString()));
      const createdAt = new Date(NOW.getTime() - (at + 9) * DAY).toISOString();
      const manifest = manifestOf(bytes, bytes, { id, createdAt });
      await putJson(new FilesystemStore({ path: root }), manifestKey('orders', id), manifest, {});
    }
    const { store, tried } = failing(() => true);
    const { failed, deferred } = await run(store);
    expect({ failed: failed.length, deferred, tried: tried.length }).toEqual({ failed: 4, deferred: 2, tried: 4 });

    const silent = new FilesystemStore({ path: root });
    const entries = await readCatalog(new Folder(silent, 'orders'));
    silent.get = (key) =>
      /^orders\/[cf]\./.test(key)
        ? FilesystemStore.prototype.get.call(silent, key)
        : Promise.reject(new AgentError(ExitCode.storeUnreachable, '503'));
    expect(await prune(new Folder(silent, 'orders'), entries, { last: 1 }, context, {})).toMatchObject({
      deleted: ['f'],
      failed: [],
      error: { exitCode: ExitCode.storeUnreachable, message: '503' },
    });
  });
});

const hung = (signal: AbortSignal | undefined) =>
  new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

test('a deletion that hangs fails alone, and leaves time for the others', async () => {
  const store = new FilesystemStore({ path: root });
  const remove = store.delete.bind(store);
  store.delete = (key, { signal } = {}) => (key === 'orders/a.json' ? hung(signal) : remove(key));
  const budget = new Budget({ given: 3_000 });
  const folder = new Folder(Object.assign(store, { budget }), 'orders', budget.signal);
  const pruned = await prune(folder, await readCatalog(folder), { last: 1 }, context, {});
  budget.end();
  expect(pruned).toMatchObject({
    ...{ deleted: ['b'], failed: ['a'], deferred: 0 },
    error: {
      exitCode: ExitCode.storeUnreachable,
      message: expect.stringMatching(/^1 snapshot of 2 tried could not be deleted, such as a: .*delete orders\/a.json/),
    },
  });
});

describe('deletions that the store refuses', () => {
  const old = Array.from({ length: 60 }, (_, at) => `old-${String(at).padStart(2, '0')}`);
  beforeEach(async () => {
    const store = new FilesystemStore({ path: root });
    for (const [at, id] of old.entries()) {
      const bytes = Buffer.alloc(64, id);
      await store.put(`orders/${id}.db`, once(bytes));
      const createdAt = new Date(NOW.getTime() - (100 - at) * DAY).toISOString();
      await putJson(store, manifestKey('orders', id), manifestOf(bytes, bytes, { id, createdAt }), {});
    }
  });
  const refusing = (refuses: (key: string) => boolean) => {
    const store = new FilesystemStore({ path: root });
    const remove = store.delete.bind(store);
    const tried: string[] = [];
    store.delete = async (key) => {
      tried.push(key);
      if (refuses(key)) throw new AgentError(ExitCode.storeRefused, 'AccessDenied');
      return remove(key);
    };
    return { store, tried };
  };

  test.each(['json', 'db'])('do not keep others from being deleted in their place: %s', async (ending) => {
    const held = old.slice(0, 20);
    const { store } = refusing((key) => held.some((id) => key === `orders/${id}.${ending}`));
    const entries = await readCatalog(new Folder(store, 'orders'));
    // A quarter may go in one run.
    const pruned = await prune(new Folder(store, 'orders'), entries, { last: 1 }, { ...context, force: false }, {});
    expect(pruned.failed).toEqual(held);
    expect(pruned.deleted).toEqual(old.slice(20, 35));
    expect(pruned.error?.message).toMatch(
      /^20 snapshots of 35 tried could not be deleted, such as old-00: AccessDenied/,
    );
    expect(await files()).toEqual(expect.not.arrayContaining([expect.stringMatching(/deleting$/)]));
  });

  test('are the last ones after 50 in a row', async () => {
    const { store, tried } = refusing(() => true);
    const { deleted, failed, deferred, error } = await run(store);
    expect({ deleted, failed, deferred }).toEqual({ deleted: [], failed: old.slice(0, 50), deferred: 12 });
    expect(new Set(tried).size).toBeLessThanOrEqual(100);
    expect(error?.message).toMatch(
      /^50 snapshots of 50 tried .*; the store has refused 50 in a row, so no more were tried/,
    );
  });
});

test('nothing is deleted under a name whose manifest is gone: another run may be writing there', async () => {
  const store = new FilesystemStore({ path: root });
  const entries = await readCatalog(new Folder(store, 'orders'));
  // Another run deleted the snapshot, and a third run with the same name stored its payload.
  await store.delete('orders/a.json');
  const pruned = await prune(new Folder(store, 'orders'), entries, { last: 1 }, context, {});
  expect(pruned).toMatchObject({ deleted: ['b'], retained: ['a'] });
  expect(await files()).toEqual(['a.db', 'c.db', 'c.json']);
});

test('a snapshot that another run deletes at the same time is left to that run', async () => {
  /** The other run deletes the manifest right after this one has read it again. */
  class Shared extends FilesystemStore {
    #reads = 0;
    override async get(key: string) {
      if (key === 'orders/a.json' && ++this.#reads === 2) await super.delete(key);
      return super.get(key);
    }
  }
  const store = new Shared({ path: root });
  const entries = await readCatalog(new Folder(new FilesystemStore({ path: root }), 'orders'));
  const pruned = await prune(new Folder(store, 'orders'), entries, { last: 1 }, context, {});
  expect(pruned).toMatchObject({ deleted: ['a', 'b'], retained: [] });
  expect(await files()).toEqual(['a.db', 'c.db', 'c.json']);
});

test.each<[string, string, (store: FilesystemStore) => Promise<void>]>([
  [
    'the manifest of another id leads to it',
    'x.json',
    async (store) => {
      const bytes = Buffer.alloc(64, 'a');
      const createdAt = new Date(NOW.getTime() - DAY / 2).toISOString();
      const manifest = manifestOf(bytes, bytes, { id: 'x', createdAt, object: { key: 'orders/a.db' } });
      await putJson(store, 'orders/x.json', manifest, {});
    },
  ],
  ['it also has the manifest of an exact key', 'a.db.json', (store) => putJson(store, 'orders/a.db.json', {}, {})],
])('a payload stays when %s', async (_, other, add) => {
  const store = new FilesystemStore({ path: root });
  await add(store);
  expect((await run(store)).deleted).toContain('a');
  expect(await files()).toEqual(expect.arrayContaining(['a.db', other]));
  expect(await files()).not.toContain('a.json');
  for (const { problem } of await readCatalog(new Folder(store, 'orders'))) expect(problem).toBeUndefined();
});

test('a payload without a dot in its name goes with the manifest that an earlier agent wrote for it', async () => {
  const store = new FilesystemStore({ path: root });
  const bytes = Buffer.alloc(64, 'n');
  const createdAt = new Date(NOW.getTime() - 9 * DAY).toISOString();
  const adopted = { source: { clusterId: 'unknown' }, object: { key: 'orders/node1' } };
  await store.put('orders/node1', once(bytes));
  await putJson(store, 'orders/node1.json', manifestOf(bytes, bytes, { id: 'node1', createdAt, ...adopted }), {});
  expect((await run(store)).deleted).toContain('node1');
  expect((await files()).filter((name) => name.startsWith('node1'))).toEqual([]);
});

test('a payload with the name of another snapshot, whose manifest cannot be read, is kept', async () => {
  const store = new FilesystemStore({ path: root });
  const createdAt = new Date(NOW.getTime() - 9 * DAY).toISOString();
  const bytes = Buffer.alloc(64, 'a');
  const manifest = manifestOf(bytes, bytes, { id: 'a-0a1b2c', createdAt, object: { key: 'orders/a.db' } });
  await putJson(store, 'orders/a-0a1b2c.json', manifest, {});
  await writeFile(join(root, 'orders/a.json'), '{');
  expect((await run(store)).deleted).toContain('a-0a1b2c');
  expect(await files()).toEqual(expect.arrayContaining(['a.db', 'a.json']));
});

test('a payload under a generated name is kept if it has the manifest of an exact key; the other objects of that name are deleted', async () => {
  const store = new FilesystemStore({ path: root });
  const id = 'etcd-snapshot-20261101-000000-aaaaaa';
  const bytes = Buffer.alloc(64, 'z');
  await store.put(`orders/${id}.db`, once(bytes));
  await putJson(store, `orders/${id}.json`, manifestOf(bytes, bytes, { id, createdAt: '2026-11-01T00:00:00Z' }), {});
  await putJson(store, `orders/${id}.db.json`, {}, {});
  await putJson(store, `orders/${id}.restored-0a.json`, {}, {});
  expect((await run(store)).deleted).toContain(id);
  expect((await files()).filter((name) => name.startsWith(id))).toEqual([`${id}.db`, `${id}.db.json`]);
});

describe('the notes of restores', () => {
  const note = async (store: FilesystemStore, id: string, clusterId: string) => {
    const key = (suffix: string) => `orders/${id}.restored-${clusterId}${suffix}.json`;
    await putJson(store, key(''), { schema: 'cdk8s-etcd/restore/v1', id, clusterId, revision: 7 }, {});
    await putJson(store, key('-a1'), { schema: 'cdk8s-etcd/restored-member/v1', id, clusterId, memberId: 'a1' }, {});
  };

  test('are moved to the newest snapshot of the same line', async () => {
    const store = new FilesystemStore({ path: root });
    await note(store, 'a', '0a');
    expect(await run(store)).toMatchObject({ deleted: ['a', 'b'], retained: [] });
    expect(await files()).toEqual(['c.db', 'c.json', 'c.restored-0a-a1.json', 'c.restored-0a.json']);
    expect(JSON.parse(await readFile(join(root, 'orders/c.restored-0a.json'), 'utf8'))).toMatchObject({
      ...{ id: 'a', clusterId: '0a', revision: 7 },
    });
    const [c] = await readCatalog(new Folder(store, 'orders'));
    expect(c).toMatchObject({ id: 'c', restoredAs: ['0a'] });
  });

  test('that already exist there are not changed', async () => {
    const store = new FilesystemStore({ path: root });
    await note(store, 'a', '0a');
    await putJson(store, 'orders/c.restored-0a.json', { mine: true }, {});
    expect((await run(store)).deleted).toEqual(['a', 'b']);
    expect(JSON.parse(await readFile(join(root, 'orders/c.restored-0a.json'), 'utf8'))).toEqual({ mine: true });
  });

  test('keep their snapshot if they cannot be moved', async () => {
    class Full extends FilesystemStore {
      override async put(key: string, ...rest: [never, never]) {
        if (key.includes('restored')) throw new AgentError(ExitCode.storeRefused, 'AccessDenied');
        return super.put(key, ...rest);
      }
    }
    await note(new FilesystemStore({ path: root }), 'a', '0a');
    expect(await run(new Full({ path: root }))).toMatchObject({ deleted: ['b'], retained: ['a'] });
    expect(await files()).toEqual(expect.arrayContaining(['a.db', 'a.json', 'a.restored-0a.json']));
  });

  test('that the store does not give out keep their snapshot alone, and this is said', async () => {
    class Cold extends FilesystemStore {
      override async get(key: string) {
        if (key.includes('restored')) throw new AgentError(ExitCode.storeRefused, `${key} is in cold storage`);
        return super.get(key);
      }
    }
    await note(new FilesystemStore({ path: root }), 'a', '0a');
    const store = new Cold({ path: root });
    const said: string[] = [];
    const options = { warn: (message: string) => said.push(message) };
    const pruned = await prune(
      new Folder(store, 'orders'),
      await readCatalog(new Folder(store, 'orders')),
      { last: 1 },
      context,
      options,
    );
    expect(pruned).toMatchObject({ deleted: ['b'], retained: ['a'] });
    expect(await files()).toEqual(expect.arrayContaining(['a.db', 'a.json', 'a.restored-0a.json']));
    expect(said).toEqual([expect.stringMatching(/its note of a restore .*orders\/a\.restored-0a.* in cold storage/)]);
  });

  test('the retention of a restored copy does not touch an etcd that keeps running', async () => {
    const store = new FilesystemStore({ path: root });
    const cluster = { id: 'ffff', lineage: ['c0'], ends: new Map([['c0', NOW.getTime() - 2.5 * DAY]]) };
    const entries = await readCatalog(new Folder(store, 'orders'));
    expect(entries[0]?.manifest?.source.clusterId).toBe('c0');
    expect(
      (await prune(new Folder(store, 'orders'), entries, { last: 1 }, { ...context, cluster }, {})).deleted,
    ).toEqual(['a']);
  });
});

describe('an adopted file that is overwritten', () => {
  /** As a copy would: of the same size, with a time of its own that is older than the manifest. */
  const overwrite = async () => {
    await writeFile(join(root, 'orders/a.db'), Buffer.alloc(64, 'x'));
    await utimes(join(root, 'orders/a.db'), NOW, new Date(NOW.getTime() - 5 * DAY));
  };
  beforeEach(async () => {
    const bytes = Buffer.alloc(64, 'a');
    const createdAt = new Date(NOW.getTime() - 4 * DAY).toISOString();
    const manifest = manifestOf(bytes, bytes, { id: 'a', createdAt, source: { clusterId: 'unknown' } });
    await putJson(new FilesystemStore({ path: root }), manifestKey('orders', 'a'), manifest, {});
  });

  test('after the listing is kept', async () => {
    const store = new FilesystemStore({ path: root });
    const entries = await readCatalog(new Folder(store, 'orders'));
    await overwrite();
    const pruned = await prune(new Folder(store, 'orders'), entries, { last: 1 }, context, {});
    expect(pruned).toMatchObject({ deleted: ['b'], retained: ['a'] });
    expect(await files()).toEqual(['a.db', 'a.json', 'c.db', 'c.json']);
  });

  test('after it was read again is kept', async () => {
    class Late extends FilesystemStore {
      override async put(...args: Parameters<FilesystemStore['put']>) {
        const done = await super.put(...args);
        if (args[0].endsWith('a.deleting')) await overwrite();
        return done;
      }
    }
    expect(await run(new Late({ path: root }))).toMatchObject({ deleted: ['b'], retained: ['a'] });
    expect(await files()).toEqual(['a.db', 'a.json', 'c.db', 'c.json']);
  });
});
