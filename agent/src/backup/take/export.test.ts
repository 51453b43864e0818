import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { seal } from '../../../test/mutations/mutate.ts';
import { CrashingStore } from '../../../test/support/crashing-store.ts';
import { SnapshotCheck } from '../../etcd/snapshot-stream.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { Budget } from '../../lib/limits/budget.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { RetentionSpec } from '../../store/retention-spec.ts';
import type { CallOptions, PutOptions, Store } from '../../store/store.ts';
import { findAdoptable, findByKey } from '../adopt/adopt.ts';
import { readCatalog } from '../catalog/catalog.ts';
import { readExactEntry } from '../catalog/exact-key.ts';
import { exportKeys } from '../catalog/exports.ts';
import { Folder } from '../catalog/folder.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { whole } from '../catalog/select.ts';
import { readStored } from '../payload/read-payload.ts';
import type { Origin, StoreRequest } from './request.ts';
import { takeSnapshot } from './take.ts';

const KEY = 'releases/latest.db';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'export-'));
});
afterEach(() => rm(root, { recursive: true }));

const directory = (name = 'store') => new FilesystemStore({ path: join(root, name) });
const bytesAt = (key: string, name = 'store') => readFile(join(root, name, key), 'utf8');
const filesIn = async (name = 'store') =>
  (await readdir(join(root, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, name).length + 1))
    .sort();
const write = async (key: string, text: string, name = 'store') => {
  await mkdir(join(root, name, dirname(key)), { recursive: true });
  await writeFile(join(root, name, key), text);
};

let revision = 0;
const originOf = (text: string, suspect?: string[]): Origin => ({
  source: {
    clusterId: 'abc',
    endpoint: 'http://127.0.0.1:2379',
    role: 'leader',
    alarms: [],
    ...(suspect && { suspect }),
  },
  comparison: 'one member',
  revision: ++revision,
  [Symbol.dispose]: () => {},
  open: async () => {
    const bytes = seal(Buffer.alloc(4096, text));
    const check = new SnapshotCheck(bytes.length, 'the snapshot');
    const body = (async function* () {
      check.add(bytes);
      yield bytes;
    })();
    return { expectedBytes: bytes.length, storageVersion: undefined, body, sums: () => check.finish() };
  },
});

interface Options extends Partial<StoreRequest> {
  readonly retention?: RetentionSpec;
  readonly suspect?: string[];
}

/** Takes a snapshot of a database that consists of this text. */
const take = (store: Store, text: string, { retention, suspect, ...overrides }: Options = {}) =>
  takeSnapshot(
    {
      ...{
        cluster: 'orders',
        targets: [{ store, ...(retention && { retention }) }],
        compression: 'none',
        level: 'read',
      },
      ...{ trigger: 'manual', fileNameTimeZone: 'UTC', overwrite: false, restoredFrom: [], force: false },
      ...{ sweepAge: 86_400_000, scratch: root, etcdutl: undefined as never, agentVersion: 'test' },
      ...overrides,
    },
    {
      log: pino({ level: 'silent' }),
      progress: { phase() {}, bytes() {}, end() {} },
      signal: new AbortController().signal,
      budget: new Budget(),
    },
    async () => originOf(text, suspect),
  );

const catalog = (store: Store = directory()) => readCatalog(new Folder(store, 'orders'));
/** The snapshot that a restore by the key takes, without the folder. */
const atKey = async (name = 'store', key = KEY) => {
  const { id, manifest } = await readExactEntry(directory(name), key, {});
  for await (const _ of readStored(directory(name), manifest));
  return id;
};
const named = async (name: string) => (await whole(new Folder(directory(), 'orders'), name)).id;

test('a manifest that the store acknowledges and does not store ends the backup, and the payload stays', async () => {
  await take(directory(), 'a');
  const store = directory();
  const { put } = store;
  store.put = (key, ...rest) => (key.endsWith('.json') ? Promise.resolve({}) : put.call(store, key, ...rest));
  await expect(take(store, 'b', { retention: { last: 1 } })).rejects.toMatchObject({
    exitCode: ExitCode.storeUnreachable,
    message: expect.stringMatching(/does not return .*\.json as it was just written.*may appear later$/),
  });
  expect((await filesIn()).map((name) => name.replace(/^.*?\./, ''))).toEqual(
    expect.arrayContaining(['db', 'json', 'db', 'taking']),
  );
});

class Failing extends FilesystemStore {
  override async put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions) {
    if (key === KEY) throw new AgentError(ExitCode.storeUnreachable, 'away');
    return super.put(key, body, options);
  }
}

/** A store in which something happens right after the first put of such a key. */
function storeThat(isKey: (key: string) => boolean, happens: () => Promise<unknown>): Store {
  let isFirst = true;
  return new (class extends FilesystemStore {
    override async put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions) {
      const put = await super.put(key, body, options);
      if (isFirst && isKey(key)) {
        isFirst = false;
        await happens();
      }
      return put;
    }
  })({ path: join(root, 'store') });
}
const isAtKey = (key: string) => key === KEY;

describe('an export', () => {
  test('is the bytes of the snapshot, which is stored under its own id', async () => {
    const { manifest, targets } = await take(directory(), 'a', { key: KEY });
    expect(manifest.exports).toEqual([{ key: KEY, kept: true }]);
    expect(targets).toMatchObject([{ key: KEY, verified: 'read' }]);
    expect(await bytesAt(KEY)).toBe(await bytesAt(`orders/${manifest.id}.db`));
    expect(await filesIn()).toEqual([`orders/${manifest.id}.db`, `orders/${manifest.id}.json`, KEY, `${KEY}.json`]);
    expect(await atKey()).toBe(manifest.id);
  });

  test('under a name by time lies in the folder, and names the snapshot', async () => {
    const fileName = 'daily';
    const first = await take(directory(), 'a', { fileName, compression: 'gzip' });
    const second = await take(directory(), 'b', { fileName, compression: 'gzip' });
    expect([first, second].map(({ manifest }) => exportKeys(manifest))).toEqual([
      ['orders/daily.db.gz'],
      ['orders/daily-1.db.gz'],
    ]);
    expect(await named('daily')).toBe(first.manifest.id);
    expect(await named('daily-1')).toBe(second.manifest.id);
    expect(await named('orders/daily-1.db.gz')).toBe(second.manifest.id);
  });

  test('is replaced by the export of the next backup, and found as that of the newest', async () => {
    await take(directory(), 'a', { key: KEY });
    const { manifest } = await take(directory(), 'b', { key: KEY });
    expect(await bytesAt(KEY)).toBe(await bytesAt(`orders/${manifest.id}.db`));
    expect(await named(KEY)).toBe(manifest.id);
  });

  test('replaces nothing else, unless it may overwrite', async () => {
    await write(KEY, 'theirs');
    await expect(take(directory(), 'a', { key: KEY })).rejects.toMatchObject({ exitCode: ExitCode.refused });
    expect(await filesIn()).toEqual([KEY]);
    const { manifest } = await take(directory(), 'a', { key: KEY, overwrite: true });
    expect(await bytesAt(KEY)).toBe(await bytesAt(`orders/${manifest.id}.db`));
  });

  test('does not replace what another program writes there during the backup', async () => {
    class Meanwhile extends FilesystemStore {
      override async put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions) {
        if (key === KEY) await write(KEY, 'theirs');
        return super.put(key, body, options);
      }
    }
    const { manifest, targets } = await take(new Meanwhile({ path: join(root, 'store') }), 'a', { key: KEY });
    expect(targets).toMatchObject([
      {
        key: manifest.object.key,
        verified: 'read',
        keyError: { message: expect.stringMatching(/latest.db exists .* stored as orders/) },
      },
    ]);
    expect(await bytesAt(KEY)).toBe('theirs');
    // It is not taken for an export later, and retention leaves it.
    await expect(take(directory(), 'b', { key: KEY })).rejects.toMatchObject({ exitCode: ExitCode.refused });
  });

  test('that fails leaves the snapshot, and what was exported before', async () => {
    const before = await take(directory(), 'a', { key: KEY });
    const { manifest, targets } = await take(new Failing({ path: join(root, 'store') }), 'b', { key: KEY });
    expect(targets).toMatchObject([{ keyError: { message: expect.stringMatching(/^away; the snapshot itself/) } }]);
    expect((await catalog()).map(({ state }) => state)).toEqual(['verified', 'verified']);
    expect(await named(KEY)).toBe(manifest.id);
    expect(await bytesAt(KEY)).toBe(await bytesAt(before.manifest.object.key));
  });

  test('that failed, and whose snapshot is gone meanwhile, is replaced by the next one', async () => {
    await take(directory(), 'a', { key: KEY, retention: { last: 1 } });
    await take(new Failing({ path: join(root, 'store') }), 'longer', { key: KEY, retention: { last: 1 } });
    const { manifest, targets } = await take(directory(), 'c', { key: KEY, retention: { last: 1 } });
    expect(targets).toMatchObject([{ key: KEY }]);
    expect(targets[0]!.keyError).toBeUndefined();
    expect(await atKey()).toBe(manifest.id);
  });

  test.each([ExitCode.storeUnreachable, ExitCode.storeRefused])(
    'whose manifest the store does not give out (%i) costs no backup',
    async (exitCode) => {
      await take(directory(), 'a', { key: KEY });
      class Silent extends FilesystemStore {
        override get(key: string, options?: CallOptions) {
          if (key === `${KEY}.json`) return Promise.reject(new AgentError(exitCode, 'away'));
          return super.get(key, options);
        }
      }
      const { manifest, targets } = await take(new Silent({ path: join(root, 'store') }), 'b', { key: KEY });
      expect(targets).toMatchObject([
        { key: manifest.object.key, keyError: { message: expect.stringContaining('away') } },
      ]);
    },
  );

  test('is restored by its key where the snapshot is damaged, and where nothing else is', async () => {
    const { manifest } = await take(directory(), 'a', { key: KEY });
    await write(manifest.object.key, 'damaged');
    expect(await atKey()).toBe(manifest.id);
    await rm(join(root, 'store/orders'), { recursive: true });
    expect(await atKey()).toBe(manifest.id);
  });

  test('that somebody has replaced is not restored as if it were one', async () => {
    await take(directory(), 'a', { key: KEY });
    await write(KEY, (await bytesAt(KEY)).replaceAll('a', 'b'));
    await expect(atKey()).rejects.toThrow(/its payload has|sha256 differs/);
  });

  test('of another cluster is not replaced', async () => {
    await take(directory(), 'a', { key: KEY, cluster: 'other' });
    await expect(take(directory(), 'b', { key: KEY })).rejects.toMatchObject({ exitCode: ExitCode.refused });
  });

  test('of another cluster is replaced whole by one that may overwrite', async () => {
    await take(directory(), 'a', { key: KEY, cluster: 'other' });
    const { manifest, targets } = await take(directory(), 'b', { key: KEY, overwrite: true });
    expect(targets[0]!.keyError).toBeUndefined();
    expect(await atKey()).toBe(manifest.id);
  });

  test('that fails leaves the snapshot that an earlier agent has stored beside the key', async () => {
    const { manifest } = await take(directory('old'), 'old');
    const id = 'etcd-snapshot-20260101-000000-aaaaaa';
    const at = `${KEY}.${id}`;
    await mkdir(join(root, 'store/releases'), { recursive: true });
    await copyFile(join(root, 'old', manifest.object.key), join(root, 'store', at));
    const old = { ...manifest, id, object: { ...manifest.object, key: at } };
    await write(`${KEY}.json`, JSON.stringify(old));
    await take(new Failing({ path: join(root, 'store') }), 'b', { key: KEY, overwrite: true });
    expect(await atKey()).toBe(id);
  });

  test('whose answer was lost is one', async () => {
    const store = storeThat(isAtKey, () => Promise.reject(new AgentError(ExitCode.refused, 'it exists')));
    const { manifest, targets } = await take(store, 'a', { key: KEY });
    expect(targets).toMatchObject([{ key: KEY }]);
    expect(await atKey()).toBe(manifest.id);
  });

  test('is made although the one before is deleted meanwhile', async () => {
    await take(directory(), 'a', { key: KEY });
    const store = storeThat(isAtKey, async () => {
      for (const key of [KEY, `${KEY}.json`]) await rm(join(root, 'store', key));
    });
    const { manifest } = await take(store, 'b', { key: KEY });
    expect(await atKey()).toBe(manifest.id);
  });

  test('does not take what somebody puts there after its own failed', async () => {
    await take(new Failing({ path: join(root, 'store') }), 'a', { key: KEY });
    await write(KEY, 'theirs');
    await expect(take(directory(), 'b', { key: KEY })).rejects.toMatchObject({ exitCode: ExitCode.refused });
    expect(await bytesAt(KEY)).toBe('theirs');
  });

  test('of a later run stays, and the result of the earlier one does not claim it', async () => {
    let later: SnapshotManifest | undefined;
    const isCommit = (key: string) => /etcd-snapshot-.*\.json$/.test(key);
    const store = storeThat(isCommit, async () => {
      await sleep(2);
      later = (await take(directory(), 'b', { key: KEY })).manifest;
    });
    const { manifest, targets } = await take(store, 'a', { key: KEY });
    expect(targets).toMatchObject([{ key: manifest.object.key }]);
    expect(await atKey()).toBe(later!.id);
  });

  test('of two runs at once is that of the later one, whoever writes last', async () => {
    const first = await take(directory(), 'a', { key: KEY });
    // The other run writes both, between the payload and the manifest of this one.
    const store = storeThat(isAtKey, () => take(directory(), 'c', { key: KEY }));
    await take(store, 'b', { key: KEY });
    const id = await atKey();
    expect(id).not.toBe(first.manifest.id);
    expect((await catalog()).map((entry) => entry.id)).toContain(id);
  });

  test('is not made for a retry that asks for another key', async () => {
    await take(directory(), 'a', { key: KEY, request: 'r' });
    const { targets } = await take(directory(), 'a', { key: 'other.db', request: 'r' });
    expect(targets).toMatchObject([{ keyError: { message: 'the snapshot of this request is not for other.db' } }]);
  });

  test('is not made of a suspect snapshot', async () => {
    await take(directory(), 'a', { key: KEY });
    const { manifest, targets } = await take(directory(), 'b', { key: KEY, suspect: ['Corrupt'] });
    expect(manifest.exports).toBeUndefined();
    expect(targets).toMatchObject([{ keyError: { message: 'a suspect snapshot is not exported' } }]);
    expect(await bytesAt(KEY)).toContain('aaaa');
  });

  test.each([
    ['under the key', 'releases/latest.db'],
    ['beside the key', 'releases/latest.db.etcd-snapshot-20260101-000000-aaaaaa'],
  ])('takes the place of the snapshot that an earlier agent has stored %s', async (_, at) => {
    const { manifest } = await take(directory('old'), 'old');
    const id = 'etcd-snapshot-20260101-000000-aaaaaa';
    await write(at, await bytesAt(manifest.object.key, 'old'));
    const old = { ...manifest, id, object: { ...manifest.object, key: at } };
    await write(`${KEY}.json`, JSON.stringify(old));
    await expect(take(directory(), 'a', { key: KEY })).rejects.toMatchObject({ exitCode: ExitCode.refused });
    const taken = await take(directory(), 'a', { key: KEY, overwrite: true });
    const own = taken.manifest.id;
    expect(await filesIn()).toEqual([`orders/${own}.db`, `orders/${own}.json`, KEY, `${KEY}.json`]);
  });

  test('cannot be adopted', async () => {
    await take(directory(), 'a', { fileName: 'daily' });
    const entries = await catalog();
    expect((await new Folder(directory(), 'orders').list()).unclaimed(entries)).toEqual([]);
    const context = { store: directory(), cluster: 'orders', entries, warn: () => {}, forceForeign: false } as never;
    expect(await findAdoptable(context, {})).toEqual({ found: [], skipped: [] });
    expect(await findByKey('orders/daily.db', context, {})).toMatchObject({
      why: 'it already has a manifest: orders/daily.db.json',
      isDone: true,
    });
  });

  test('killed at any step: the snapshot is whole or none, what was there before is whole, and a retry completes it', async () => {
    const counted = new CrashingStore(directory('counted'));
    await take(directory('counted'), 'a', { key: KEY });
    await take(counted, 'b', { key: KEY, request: 'r' });
    expect(counted.steps.length).toBeGreaterThan(5);
    for (let step = 1; step <= counted.steps.length; step++) {
      const name = `killed-${step}`;
      const before = await take(directory(name), 'a', { key: KEY });
      await take(new CrashingStore(directory(name), step), 'b', { key: KEY, request: 'r' }).catch(() => {});
      const bytes = await bytesAt(KEY, name);
      const entries = await catalog(directory(name));
      expect(entries.map(({ state }) => state)).toEqual(entries.map(() => 'verified'));
      const payloads = await Promise.all(
        [before.manifest.id, ...entries.map(({ id }) => id)].map((id) => bytesAt(`orders/${id}.db`, name)),
      );
      expect(payloads).toContain(bytes);
      const { manifest, targets } = await take(directory(name), 'b', { key: KEY, request: 'r' });
      expect(targets[0]!.keyError).toBeUndefined();
      expect(await bytesAt(KEY, name)).toBe(await bytesAt(manifest.object.key, name));
      expect(await atKey(name)).toBe(manifest.id);
    }
  });
});

describe('retention', () => {
  const retention = { last: 1 };
  const days = async (count: number, options: Options) => {
    const taken = [];
    for (let day = 0; day < count; day++) taken.push((await take(directory(), `${day}`, options)).manifest);
    return taken;
  };

  test('deletes the exports of a snapshot with it', async () => {
    const [, , last] = await days(3, { fileName: 'daily-%Y', retention });
    const [key] = exportKeys(last!);
    expect(await filesIn()).toEqual([key, `${key}.json`, `orders/${last!.id}.db`, `orders/${last!.id}.json`]);
  });

  test('leaves an export that is that of a newer snapshot', async () => {
    const [, last] = await days(2, { key: KEY, retention });
    expect(await filesIn()).toEqual([`orders/${last!.id}.db`, `orders/${last!.id}.json`, KEY, `${KEY}.json`]);
    expect(await bytesAt(KEY)).toBe(await bytesAt(last!.object.key));
  });

  test('leaves the newest snapshot under a key of the user', async () => {
    const first = await take(directory(), 'a', { key: 'before-upgrade.db' });
    await days(3, { key: KEY, retention });
    expect(await filesIn()).toContain('before-upgrade.db');
    expect(await named('before-upgrade.db')).toBe(first.manifest.id);
  });

  test('leaves the snapshot whose export is there, if that of a later one failed', async () => {
    const { manifest } = await take(directory(), 'a', { key: KEY, retention });
    await take(new Failing({ path: join(root, 'store') }), 'b', { key: KEY, retention });
    expect(await atKey()).toBe(manifest.id);
    expect((await catalog()).map(({ id }) => id)).toContain(manifest.id);
  });

  test('leaves what another program has written in place of an export', async () => {
    const first = await take(directory(), 'a', { fileName: 'daily-%Y' });
    const [key] = exportKeys(first.manifest);
    await write(key!, 'theirs');
    await take(directory(), 'b', { retention });
    expect(await bytesAt(key!)).toBe('theirs');
    expect((await catalog()).length).toBe(1);
  });

  test('keeps what a list names by the name of an export', async () => {
    const first = await take(directory(), 'a', { fileName: 'daily' });
    await take(directory(), 'b', { retention, keep: async () => new Map([['daily', 'a restore']]) });
    expect((await catalog()).map(({ id }) => id)).toContain(first.manifest.id);
  });

  test('leaves the export that took the place of a payload of an earlier agent', async () => {
    const old = await take(directory('old'), 'old');
    const daily = { ...old.manifest, id: 'daily', object: { ...old.manifest.object, key: 'orders/daily.db' } };
    await write('orders/daily.db', await bytesAt(old.manifest.object.key, 'old'));
    await write('orders/daily.json', JSON.stringify(daily));
    const key = 'orders/daily.db';
    const { manifest } = await take(directory(), 'a', { key, overwrite: true, retention });
    await take(directory(), 'b', { retention });
    expect(await atKey('store', key)).toBe(manifest.id);
  });

  test('killed at any step of a deletion: the next run completes it', async () => {
    const prepare = (name: string) => take(directory(name), 'a', { fileName: 'daily' });
    await prepare('counted');
    const counted = new CrashingStore(directory('counted'));
    await take(counted, 'b', { retention });
    const first = counted.steps.findIndex((step) => step.startsWith('before delete orders/daily'));
    expect(first).toBeGreaterThan(0);
    for (let step = first + 1; step <= counted.steps.length; step++) {
      const name = `killed-${step}`;
      await prepare(name);
      await take(new CrashingStore(directory(name), step), 'b', { retention }).catch(() => {});
      await take(directory(name), 'c', { retention, sweepAge: 0 });
      const [last] = await catalog(directory(name));
      await take(directory(name), 'd', { retention, sweepAge: 0 });
      expect((await filesIn(name)).filter((file) => file.includes('daily'))).toEqual([]);
      expect(last!.state).toBe('verified');
    }
  });
});
