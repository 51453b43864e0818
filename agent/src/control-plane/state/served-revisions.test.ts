import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../../backup/catalog/catalog.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { bumpOf } from './bump.ts';
import { highestInStore, servedBefore } from './served-revisions.ts';

test('the note of a snapshot outside any folder is stored next to another snapshot, under its own id', async () => {
  const path = await mkdtemp(join(tmpdir(), 'served-'));
  const store = new FilesystemStore({ path });
  await mkdir(join(path, 'orders'));
  const key = 'orders/beside.restored-c1.json';
  const note = { id: 'elsewhere', clusterId: 'c1', revision: 1e9 + 7, bump: 1e9, token: 't', at: new Date() };
  await writeFile(join(path, key), JSON.stringify(note));
  const manifest = {
    createdAt: '2026-01-01T00:00:00Z',
    content: { revision: 7 },
    source: { clusterId: 'c0' },
    cluster: {},
  };
  const beside = {
    id: 'beside',
    objects: [{ key, modified: new Date() }],
    restoredAs: [],
    manifest,
  } as unknown as Entry;
  const restored = { ...beside, id: 'elsewhere', objects: [] };
  const served = await servedBefore({ store, entries: [beside], restored, here: [], own: [] });
  expect(served.notes).toMatchObject([{ id: 'elsewhere', clusterId: 'c1', bump: 1e9 }]);
  expect(await highestInStore({ store, entries: [beside], restored, revision: 7 })).toEqual({
    revision: 1e9 + 7,
    unknown: [],
  });
  // The next node of the same restore joins it; a restore of another snapshot gets a higher revision.
  const request = { id: 'elsewhere', revision: 7, several: true, token: () => 't' };
  expect(bumpOf({ ...served, unknown: [] }, request)).toBe(1e9);
  expect(bumpOf({ ...served, unknown: [] }, { ...request, id: 'another' })).toBe(2e9);
  await rm(path, { recursive: true });
});

test.each([ExitCode.storeRefused, ExitCode.nothingThere])(
  'a note that is not given out (%i) leaves its revision unknown',
  async (exitCode) => {
    class Cold extends FilesystemStore {
      override async get(): Promise<never> {
        throw new AgentError(exitCode, 'not for us');
      }
    }
    const objects = [{ key: 'orders/a.restored-c1.json', modified: new Date() }];
    const entry = { id: 'a', objects, restoredAs: [] } as unknown as Entry;
    const restored = { ...entry, id: 'b', objects: [] };
    const served = await servedBefore({
      store: new Cold({ path: '/' }),
      entries: [entry],
      restored,
      here: [],
      own: [],
    });
    expect(served.notes).toMatchObject([{ id: 'a', clusterId: 'c1' }]);
    expect(served.unknown).toEqual(
      expect.arrayContaining([expect.stringContaining('a was restored as the cluster c1')]),
    );
  },
);

test('the revision of a backup without a hash is known too', async () => {
  const backup = (id: string, clusterId: string, content: object) => ({
    id,
    restoredAs: [],
    objects: [],
    manifest: { content, source: { clusterId }, cluster: {} },
  });
  const restored = backup('etcd-snapshot-20260101-000000-aaaaaa', 'c0', { hashKV: { revision: 7 } });
  const after = backup('etcd-snapshot-20260102-000000-bbbbbb', 'c1', { revision: 1e9 + 9 });
  const key = `orders/${restored.id}.restored-c1.json`;
  const entries = [{ ...restored, objects: [{ key, modified: new Date() }] }, after] as unknown as Entry[];
  class Cold extends FilesystemStore {
    override async get(): Promise<never> {
      throw new AgentError(ExitCode.storeRefused, 'not for us');
    }
  }
  const store = new Cold({ path: '/' });
  const served = await servedBefore({ store, entries, restored: entries[0]!, here: [], own: [] });
  expect(served.unknown).toEqual([]);
  expect(await highestInStore({ store, entries, restored: entries[0]!, revision: 7 })).toEqual({
    revision: 1e9 + 9,
    unknown: [],
  });
  expect(bumpOf(served, { id: restored.id, revision: 7, several: false, token: () => 't' })).toBe(2e9);
});

/**
 * Stores a snapshot `id` of this hour with this revision and these notes. Without a revision, its manifest cannot be
 * read.
 */
const backup = (id: string, revision: number | undefined, notes: readonly string[] = [], hour = 0) =>
  ({
    id,
    manifestKey: `orders/${id}.json`,
    restoredAs: [],
    objects: notes.map((key) => ({ key, modified: new Date(hour * 3_600_000) })),
    ...(revision === undefined
      ? { problem: 'its manifest cannot be read: 503', unread: 'unreachable' }
      : {
          manifest: {
            createdAt: new Date(hour * 3_600_000).toISOString(),
            content: { hashKV: { revision } },
            source: { clusterId: 'c0' },
            cluster: {},
          },
        }),
  }) as unknown as Entry;

describe('the highest revision in the store', () => {
  let path: string;
  let store: FilesystemStore;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'served-'));
    await mkdir(join(path, 'orders'));
    store = new FilesystemStore({ path });
  });
  afterEach(() => rm(path, { recursive: true }));
  const note = async (id: string, more: object) => {
    const key = `orders/${id}.restored-c1.json`;
    await writeFile(join(path, key), JSON.stringify({ id, clusterId: 'c1', at: new Date(), ...more }));
    return key;
  };
  const highest = (entries: readonly Entry[], revision = 7) =>
    highestInStore({ store, entries, restored: entries[0]!, revision });
  const withoutBackup = [expect.stringContaining('was restored as the cluster c1, which has no backup')];

  test('a note without a revision counts as a restore one step beyond what is known', async () => {
    expect(await highest([backup('b', 7, [await note('b', {})])])).toEqual({
      revision: 1e9 + 7,
      unknown: withoutBackup,
    });
  });

  test.each([-5, 0, 2 ** 52 + 2, Number.MAX_SAFE_INTEGER, 1.5, 'x'])(
    'a note with the revision %p is one without a revision',
    async (revision) => {
      expect(await highest([backup('b', 7, [await note('b', { revision })])])).toEqual({
        revision: 1e9 + 7,
        unknown: withoutBackup,
      });
    },
  );

  test('a listing that hangs does not use up the time for the notes', async () => {
    const entries = [backup('b', 7, [await note('b', { revision: 5e9 })])];
    store.list = async function* () {
      await new Promise<never>(() => {});
    };
    const restored = { ...entries[0]!, id: 'elsewhere', manifestKey: 'special/orders.db.json', objects: [] };
    expect(await highestInStore({ store, entries, restored, revision: 7, signal: AbortSignal.timeout(500) })).toEqual({
      revision: 6e9,
      unknown: [expect.stringContaining('the restores of elsewhere cannot be listed')],
    });
  });

  test('the highest possible revision is accepted, and a guessed step above it is kept', async () => {
    expect(await highest([backup('b', 7, [await note('b', { revision: 2 ** 52 })])])).toEqual({
      revision: 2 ** 52,
      unknown: [],
    });
    const key = 'orders/b.restored-c2.json';
    await writeFile(join(path, key), '{}');
    const { revision } = await highest([backup('b', 7, [await note('b', { revision: 2 ** 52 }), key])]);
    expect(revision).toBe(2 ** 52 + 1e9);
  });

  test('a note that cannot be read, or that hangs, does not hide the manifests', async () => {
    const entries = [backup('a', 7, ['orders/a.restored-c1.json']), backup('b', 5e9)];
    for (const get of [
      () => Promise.reject(new AgentError(ExitCode.storeUnreachable, '503')),
      () => new Promise<never>(() => {}),
    ]) {
      Object.assign(store, { get });
      const signal = AbortSignal.timeout(50);
      const found = await highestInStore({ store, entries, restored: entries[0]!, revision: 7, signal });
      expect(found).toEqual({ revision: 6e9, unknown: withoutBackup });
    }
  });

  test('a manifest with a revision that no etcd reaches counts as one without a revision', async () => {
    const lie = backup('b', Number.MAX_SAFE_INTEGER, [], 1);
    expect(await highest([backup('a', 7), lie])).toEqual({
      revision: 1e9 + 7,
      unknown: ['b was taken later, and its manifest names revision 9007199254740991, which no etcd reaches'],
    });
    // A snapshot taken before a known one has no higher revision.
    expect(await highest([backup('a', 7, [], 2), lie])).toEqual({ revision: 7, unknown: [] });
  });

  test('a later backup that cannot be read counts as a step; an earlier one does not count', async () => {
    const id = 'etcd-snapshot-19700101-010000-aaaaaa';
    const away = backup(id, undefined, [`orders/${id}.db`], 1);
    expect(await highest([backup('a', 2), away])).toMatchObject({
      revision: 1e9 + 7,
      unknown: [`${id} was taken later, and its manifest cannot be read: 503`],
    });
    expect(await highest([backup('a', 2), away, backup('c', 5e9, [], 2)])).toEqual({ revision: 5e9, unknown: [] });
  });

  test('a backup with its own name that cannot be read may be later, whenever it was stored', async () => {
    const away = backup('b', undefined, ['orders/b.db'], 1);
    expect(await highest([backup('a', 2), away, backup('c', 5e9, [], 2)])).toEqual({
      revision: 6e9,
      unknown: ['b may have been taken later, and its manifest cannot be read: 503'],
    });
  });

  test('a snapshot under an exact key counts by its content, and finds the notes beside it', async () => {
    const key = await note('a', {});
    const restored = { ...backup('s', 5e9), manifestKey: 'special/orders.db.json' };
    const ask = () => highestInStore({ store, entries: [backup('a', 7, [key])], restored, revision: 5e9 });
    expect(await ask()).toEqual({ revision: 6e9, unknown: withoutBackup });
    await mkdir(join(path, 'special'));
    const beside = { id: 's', clusterId: 'beef', revision: 9e9, bump: 4e9 };
    await writeFile(join(path, 'special/orders.db.restored-beef.json'), JSON.stringify(beside));
    expect(await ask()).toEqual({ revision: 1e10, unknown: withoutBackup });
  });
});

test('members and data with a revision that no etcd reaches do not count; a person must judge them', async () => {
  const entries = [backup('a', 7)];
  const here = [
    { revision: 9.2e18, where: 'etcd at https://x', clusterId: 'c9', hasQuorum: true },
    { revision: 2 ** 52 + 5e8, where: 'the data', clusterId: 'c8' },
  ];
  const store = new FilesystemStore({ path: '/' });
  const served = await servedBefore({ store, entries, restored: entries[0]!, here, own: [] });
  expect(served.mustAsk).toEqual([expect.stringMatching(/^etcd at https:\/\/x names revision 92\d+, which no etcd/)]);
  // Its cluster id still counts. A revision above the store's wrong one is accepted from etcd itself.
  expect(served.here).toMatchObject([{ revision: 0, clusterId: 'c9' }, { revision: 2 ** 52 + 5e8 }]);
  const request = { id: 'a', revision: 7, several: false, token: () => 't' };
  expect(() => bumpOf(served, request)).toThrow(/is unknown: etcd at .*pass --bump-revision/);
  expect(bumpOf(served, { ...request, given: 5e15 })).toBe(5e15);
  expect(bumpOf(served, { ...request, isPlan: true })).toBeGreaterThan(2 ** 52 + 5e8);
});

test('data here that cannot be read may have served any revision; a person must judge them', async () => {
  const entries = [backup('a', 7)];
  const here = [{ revision: 9, where: 'the data in /var/lib/etcd', unread: 'its log is damaged' }];
  const store = new FilesystemStore({ path: '/' });
  const served = await servedBefore({ store, entries, restored: entries[0]!, here, own: [] });
  expect(served.mustAsk).toEqual(['the data in /var/lib/etcd cannot be read: its log is damaged']);
});
