import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ManifestChanges, manifestOf } from '../../../test/support/manifest-of.ts';
import { silence, waitUntil } from '../../../test/support/silent-manifest.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { Budget, type Wait } from '../../lib/limits/budget.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { newestFirst, toCandidate } from './candidate.ts';
import { type CatalogOptions, isVerified, readCatalog, readEntry } from './catalog.ts';
import { Folder } from './folder.ts';
import type { Level, Verification } from './manifest.ts';
import { byTime } from './passed-over.ts';
import { whole } from './select.ts';

let root: string;
let store: FilesystemStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'catalog-'));
  store = new FilesystemStore({ path: root });
});
afterEach(() => rm(root, { recursive: true }));

const ID = 'etcd-snapshot-20261121-023807-3f9c2a';
const payload = Buffer.from('database and trailer');
const at = '2026-11-21T02:38:07.000Z';
const list = () => readCatalog(new Folder(store, 'orders'));
const select = (id: string) => whole(new Folder(store, 'orders'), id);
const only = async () => {
  const [entry, ...more] = await list();
  expect(more).toEqual([]);
  return entry!;
};

async function write(name: string, content: unknown): Promise<void> {
  const path = join(root, 'orders', name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content instanceof Buffer || typeof content === 'string' ? content : JSON.stringify(content));
}

async function store1(changes: ManifestChanges = {}): Promise<void> {
  const { id = ID } = changes;
  await write(`${id}.db`, payload);
  await write(`${id}.json`, manifestOf(payload, payload, changes));
}

const verification = (outcome: Verification['outcome'], level: Level = 'read') => {
  const schema = 'cdk8s-etcd/verification/v1';
  return { schema, id: ID, level, outcome, at, agent: { version: 'test' } };
};

async function verified(outcome: Verification['outcome'], level: Level): Promise<boolean> {
  await write(`${ID}.verify.json`, verification(outcome, level));
  return isVerified(await only());
}

test('a snapshot consists of its manifest and its payload', async () => {
  await store1();
  const entry = await only();

  expect(entry).toMatchObject({ id: ID, pinned: false, restoredAs: [], manifest: { source: { clusterId: 'c0' } } });
  expect(entry.problem).toBeUndefined();
  expect(isVerified(entry)).toBe(true);
});

test('objects without a manifest are not listed as a snapshot', async () => {
  await write(`${ID}.db.zst`, payload);
  await write(`${ID}.pin`, '');
  await write(`${ID}.verify.json`, {});
  await write('notes.txt', 'x');
  await write(`deeper/${ID}.json`, manifestOf(payload));

  expect(await list()).toEqual([]);
});

test('fields that a newer agent has added are ignored', async () => {
  await write(`${ID}.db`, payload);
  await write(`${ID}.json`, { ...manifestOf(payload), color: 'blue' });

  expect((await only()).problem).toBeUndefined();
});

describe('a damaged snapshot is listed with its problem and never counts as verified', () => {
  const NO_NEWER = /^its manifest cannot be read: it is damaged, or this agent did not write it$/;
  const newer = { ...manifestOf(payload), schema: 'cdk8s-etcd/snapshot/v2' };
  const { content: _, ...lacking } = manifestOf(payload);

  test.each([
    ['a newer major version', newer, /schema 'cdk8s-etcd\/snapshot\/v2'.*use a newer agent/],
    ['an older major version', { ...newer, schema: 'cdk8s-etcd/snapshot/v0' }, NO_NEWER],
    ['no version', { ...newer, schema: 'cdk8s-etcd/snapshot/' }, NO_NEWER],
    ['a version that is not a number', { ...newer, schema: 'cdk8s-etcd/snapshot/vX' }, NO_NEWER],
    ['no JSON', '{"schema": "cdk8s-etcd/snap', /cannot be read/],
    ['nothing', '', /cannot be read/],
    ['a field too few', lacking, /cannot be read/],
    ['2 MiB', `"${'x'.repeat(2 * 1024 * 1024)}"`, /cannot be read/],
  ])('a manifest of %s', async (_name, manifest, problem) => {
    await write(`${ID}.db`, payload);
    await write(`${ID}.json`, manifest);
    const entry = await only();

    expect(entry.problem).toMatch(problem);
    expect(isVerified(entry)).toBe(false);
    await expect(select(ID)).rejects.toMatchObject({ exitCode: ExitCode.verificationFailed });
  });

  test.each([
    ['missing', undefined, /payload orders\/.*\.db is missing/],
    ['cut', payload.subarray(1), /payload has 19 bytes, not 20/],
    ['longer', Buffer.concat([payload, payload]), /payload has 40 bytes, not 20/],
  ])('a payload that is %s', async (_name, bytes, problem) => {
    if (bytes) await write(`${ID}.db`, bytes);
    await write(`${ID}.json`, manifestOf(payload));
    const entry = await only();

    expect(entry.problem).toMatch(problem);
    expect(isVerified(entry)).toBe(false);
  });
});

test('of several from the same time, all agree which is the newest', async () => {
  for (const id of ['etcd-B', 'etcd-a', 'etcd-0']) await store1({ id });
  const ids = (entries: readonly { id: string }[]) => entries.map(({ id }) => id);
  const entries = await list();
  expect(ids(entries.map(toCandidate).sort(newestFirst))).toEqual(ids(entries));
  expect(ids(entries.toSorted(byTime))).toEqual(ids(entries));
});

test('one that is read by its id has the finding that the listing leaves out', async () => {
  await store1();
  await write(`${ID}.verify.json`, verification('failed', 'open'));
  const { list: all } = store;
  store.list = async function* (prefix, options) {
    for await (const object of all.call(store, prefix, options)) if (!/verify/.test(object.key)) yield object;
  };
  expect(await only()).toMatchObject({ state: 'verified' });
  expect(await readEntry(new Folder(store, 'orders'), ID)).toMatchObject({ state: 'failed' });
});

describe('a payload under a name of the user', () => {
  const listed = () => new Folder(store, 'orders').list();
  const unclaimed = async () => (await listed()).unclaimed(await list()).map(({ key }) => key);
  const without = async () => (await listed()).withoutManifest(new Date()).map(({ id, state }) => [id, state]);

  test.each(['deleting', 'taking'])(
    'is shown beside a manifest of another program and a marker: %s',
    async (marker) => {
      await write('mine.db', payload);
      await write('mine.json', { color: 'blue' });
      await write(`mine.${marker}`, {});
      expect(await list()).toEqual([]);
      expect(await unclaimed()).toEqual(['orders/mine.db']);
    },
  );

  test('that a copy is writing is not a stray file', async () => {
    await write('mine.db', payload);
    await write('mine.taking', {});
    expect(await unclaimed()).toEqual([]);
    expect(await without()).toEqual([['mine', 'writing']]);
    expect((await listed()).isAnyUnderWay(0)).toBe(true);
  });
});

describe('verified', () => {
  test('is a snapshot whose manifest says so, at level read or higher', async () => {
    await store1({ verified: { level: 'stream', at } });
    expect(isVerified(await only())).toBe(false);
    await store1({ verified: undefined });
    expect(isVerified(await only())).toBe(false);
    await store1({ verified: { level: 'open', at } });
    expect(isVerified(await only())).toBe(true);
  });

  test('is not a snapshot that a later verification found bad', async () => {
    await store1();
    expect(await verified('failed', 'read')).toBe(false);
    expect(await verified('verified', 'open')).toBe(true);
  });

  test('is a snapshot that a later verification proved, at level read or higher', async () => {
    await store1({ verified: { level: 'stream', at } });
    expect(await verified('verified', 'stream')).toBe(false);
    expect(await verified('inconclusive', 'open')).toBe(false);
    expect(await verified('verified', 'read')).toBe(true);
  });

  test('is not changed by an inconclusive verification', async () => {
    await store1();
    expect(await verified('inconclusive', 'open')).toBe(true);
  });

  test.each([
    ['damaged', '{', 'damaged'],
    ['of a newer agent', { ...verification('failed'), schema: 'cdk8s-etcd/verification/v2' }, 'newer'],
  ])('is not known while a later finding is %s', async (_name, finding, state) => {
    await store1();
    await write(`${ID}.verify.json`, finding);
    expect((await only()).state).toBe(state);
    expect((await select(ID)).state).toBe(state);
  });

  test('is never a snapshot from a suspect source', async () => {
    await store1({ source: { suspect: ['MembersInconsistent'] } });
    expect(await verified('verified', 'open')).toBe(false);
  });
});

test('snapshots are sorted by the time in the manifest and not by name, newest first', async () => {
  const times = { b: '2026-01-03T00:00:00Z', c: '2026-01-01T00:00:00Z', a: '2026-01-02T00:00:00Z' };
  for (const [id, createdAt] of Object.entries(times)) await store1({ id, createdAt });
  await write(`${ID}.json`, 'unreadable');

  expect((await list()).map(({ id }) => id)).toEqual(['b', 'a', 'c', ID]);
});

test('pins and restores are read from the names of objects', async () => {
  await store1();
  await write(`${ID}.pin`, '');
  for (const clusterId of ['1a', '2b']) await write(`${ID}.restored-${clusterId}.json`, {});
  const { pinned, restoredAs, objects } = await only();

  expect({ pinned, restoredAs: [...restoredAs].sort() }).toEqual({ pinned: true, restoredAs: ['1a', '2b'] });
  expect(objects).toHaveLength(5);
});

test('a manifest that is deleted while it is read does not count', async () => {
  await store1();
  await store1({ id: 'gone' });
  class Deleting extends FilesystemStore {
    override async get(key: string) {
      if (key.endsWith('gone.json')) await this.delete(key);
      return super.get(key);
    }
  }

  expect((await readCatalog(new Folder(new Deleting({ path: root }), 'orders'))).map(({ id }) => id)).toEqual([ID]);
});

describe('a manifest that the store refuses to return', () => {
  class Refusing extends FilesystemStore {
    readonly asked: string[] = [];
    override async get(key: string) {
      this.asked.push(key);
      if (key.endsWith('cold.json')) {
        throw new AgentError(ExitCode.storeRefused, 'InvalidObjectState: it lies in cold storage');
      }
      return super.get(key);
    }
  }

  test('is the problem of its own snapshot', async () => {
    await store1();
    await store1({ id: 'cold' });
    const refusing = new Refusing({ path: root });

    expect(await readCatalog(new Folder(refusing, 'orders'))).toMatchObject([
      { id: ID, problem: undefined },
      { id: 'cold', state: 'refused', problem: expect.stringContaining('lies in cold storage') },
    ]);
    await expect(whole(new Folder(refusing, 'orders'), 'cold')).rejects.toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringContaining('lies in cold storage'),
    });
  });

  test('is not read when another snapshot is requested by its id', async () => {
    await store1();
    await store1({ id: 'cold' });
    const refusing = new Refusing({ path: root });

    expect((await whole(new Folder(refusing, 'orders'), ID)).id).toBe(ID);
    expect(refusing.asked).toEqual([`orders/${ID}.json`, `orders/${ID}.verify.json`]);
  });
});

test.each(['../../passwd', '/etc/passwd', 'other/file.db', 'orders/deeper/file.db', 'orders/'])(
  'a manifest that names %s as its payload is the problem of its own snapshot',
  async (key) => {
    await store1();
    await store1({ id: 'stray', object: { key } });

    expect(await list()).toMatchObject([
      { id: 'stray', problem: expect.stringContaining('which is not in the folder orders') },
      { id: ID, problem: undefined },
    ]);
    await expect(select('stray')).rejects.toMatchObject({ exitCode: ExitCode.verificationFailed });
  },
);

describe('of many snapshots', () => {
  class Counting extends FilesystemStore {
    gets: string[] = [];
    override async get(key: string) {
      this.gets.push(key);
      return super.get(key);
    }
  }
  const idOf = (n: number) => `etcd-snapshot-20260101-0000${String(n).padStart(2, '0')}-${String(n).padStart(6, '0')}`;
  const fill = async (from: number, to: number) => {
    for (let n = from; n < to; n++) {
      await store1({ id: idOf(n), createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString() });
    }
  };
  const keepIndex = (error: unknown) => {
    throw error;
  };

  test('a run reads each manifest once, and the next run only those that are new or changed', async () => {
    await fill(0, 70);
    const first = new Counting({ path: root });
    expect(await readCatalog(new Folder(first, 'orders'), { keepIndex })).toHaveLength(70);
    expect(first.gets).toHaveLength(71);
    await fill(70, 72);
    await readCatalog(new Folder(first, 'orders'), { keepIndex });
    expect(first.gets).toHaveLength(73);

    await store1({ id: idOf(5), createdAt: '2026-01-01T00:00:05Z', verified: { level: 'open', at } });
    await write(`${idOf(6)}.verify.json`, verification('failed'));
    await rm(join(root, 'orders', `${idOf(7)}.db`));
    const second = new Counting({ path: root });
    const entries = await readCatalog(new Folder(second, 'orders'));
    expect(second.gets.map((key) => key.slice('orders/'.length)).sort()).toEqual(
      ['.index.jsonl.gz', ...[5, 6, 70, 71].map((n) => `${idOf(n)}.json`), `${idOf(6)}.verify.json`].sort(),
    );
    const fresh = entries.map(({ id, state }) => [id, state]);
    expect(Object.fromEntries(fresh)).toMatchObject({
      [idOf(5)]: 'verified',
      [idOf(6)]: 'failed',
      [idOf(7)]: 'broken',
    });
    // The index gives the same result as the manifests.
    await rm(join(root, 'orders/.index.jsonl.gz'));
    expect(entries).toEqual(await readCatalog(new Folder(new FilesystemStore({ path: root }), 'orders')));
  });

  test('a finding that one reader may not read is not hidden from others by the index', async () => {
    await fill(0, 70);
    await write(`${idOf(69)}.verify.json`, verification('failed'));
    class Refusing extends FilesystemStore {
      override async get(key: string) {
        if (key.endsWith('.verify.json')) throw new AgentError(ExitCode.storeRefused, 'AccessDenied');
        return super.get(key);
      }
    }
    const refused = await readCatalog(new Folder(new Refusing({ path: root }), 'orders'), { keepIndex });
    expect(refused[0]).toMatchObject({ state: 'refused', problem: expect.stringContaining('AccessDenied') });
    expect(isVerified(refused[0]!)).toBe(false);
    expect((await list())[0]!.state).toBe('failed');
  });

  test.each(['', 'no gzip', gzipSync('{"schema":"cdk8s-etcd/index/v1"}\n{}\n')])(
    'an index that is damaged costs nothing but time',
    async (bytes) => {
      await fill(0, 70);
      await write('.index.jsonl.gz', bytes);
      expect((await list()).filter(isVerified)).toHaveLength(70);
    },
  );

  test('a failure to write the index is reported and changes nothing else', async () => {
    await fill(0, 70);
    class Full extends FilesystemStore {
      override put(): Promise<never> {
        return Promise.reject(new AgentError(ExitCode.storeRefused, 'full'));
      }
    }
    const failures: unknown[] = [];
    const entries = await readCatalog(new Folder(new Full({ path: root }), 'orders'), {
      keepIndex: (error) => failures.push(error),
    });
    expect(entries).toHaveLength(70);
    expect(failures).toEqual([expect.objectContaining({ message: 'full' })]);
  });
});

describe('a run that can do without some manifests', () => {
  const id = (day: number) => `etcd-snapshot-2026112${day}-023807-3f9c2a`;
  const day = (n: number) => ({ id: id(n), createdAt: `2026-11-2${n}T02:38:07.000Z` });
  const bad = (error: () => Promise<never>, what = id(2)) => {
    const { get } = store;
    store.get = (key: string) => (key.includes(what) ? error() : get.call(store, key));
  };
  const states = async (until?: Wait, signal?: AbortSignal) => {
    return (await readCatalog(new Folder(store, 'orders', signal), { ...(until && { until }) })).map((entry) => [
      entry.id,
      entry.state,
      entry.problem,
    ]);
  };
  beforeEach(async () => {
    for (const n of [1, 2, 3]) await store1(day(n));
    await write(`${id(2)}.restored-c1.json`, {});
  });

  test.each<[string, () => Promise<never>, string]>([
    ['fails', () => Promise.reject(new AgentError(ExitCode.storeUnreachable, '503')), '503'],
    ['hangs', () => new Promise<never>(() => {}), 'the store does not answer in time'],
  ])('gets the others, and the names of one that %s', async (_, error, why) => {
    const until = silence(store, id(2), error);
    expect(await states(until(2))).toEqual([
      [id(3), 'verified', undefined],
      [id(1), 'verified', undefined],
      [id(2), 'unreachable', `its manifest cannot be read: ${why}`],
    ]);
    // The others are known by now.
    const entries = await readCatalog(new Folder(store, 'orders'), { until: until(0) });
    expect(entries.at(-1)).toMatchObject({ state: 'unreachable', restoredAs: ['c1'] });
  });

  test.each(['ffffff', 'index'])('gets what is known and what answers, however many hang: %s', async (what) => {
    for (let n = 10; n < 90; n++) {
      await store1({ id: `etcd-snapshot-20261122-1200${n}-3f9c2a`, createdAt: '2026-11-22T12:00:00.000Z' });
    }
    await readCatalog(new Folder(store, 'orders'), { keepIndex: () => {} });
    // For another run, which has the index, the newest hang.
    store = new FilesystemStore({ path: root });
    await store1({ id: `etcd-snapshot-20261119-000000-3f9c2a` });
    const away = Array.from({ length: 9 }, (_, n) => `etcd-snapshot-20261129-12000${n}-ffffff`);
    for (const id of away) await store1({ id });
    bad(() => new Promise<never>(() => {}), what);
    const unread = (await states(new Budget().wait(6_000))).filter(([, state]) => state === 'unreachable');
    expect(unread.map(([id]) => id).sort()).toEqual(what === 'ffffff' ? away : []);
  });

  test('waits for a slow store that answers, and not for one that hangs', async () => {
    for (let n = 10; n < 60; n++) {
      await store1({ id: `etcd-snapshot-20261122-1200${n}-3f9c2a`, createdAt: '2026-11-22T12:00:00.000Z' });
    }
    const { get } = store;
    store.get = async (key: string) => {
      await new Promise((resolve) => setTimeout(resolve, key.includes(id(2)) ? 1e6 : 150).unref());
      return get.call(store, key);
    };
    const read = await states(new Budget().answers(600));
    expect(read.filter(([, state]) => state === 'verified')).toHaveLength(52);
    expect(read.at(-1)).toEqual([
      id(2),
      'unreachable',
      'its manifest cannot be read: the store does not answer in time',
    ]);
  });

  test('still ends when it is stopped itself', async () => {
    bad(() => Promise.reject(new AgentError(ExitCode.storeUnreachable, '503')));
    await expect(states(new Budget().wait(200), AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  });
});

describe('an object that the store does not give out', () => {
  const id = (day: number) => `etcd-snapshot-2026112${day}-023807-3f9c2a`;
  let asked: string[];
  const fail = () => Promise.reject<never>(new AgentError(ExitCode.storeUnreachable, '500'));
  const away = (isAway: (key: string) => boolean, answer = fail) => {
    const get = FilesystemStore.prototype.get;
    asked = [];
    store.get = (key) => {
      if (!isAway(key)) return get.call(store, key);
      asked.push(key);
      return answer();
    };
  };
  const within = async (given: number, options: CatalogOptions = {}) => {
    const budget = new Budget({ given });
    const folder = new Folder(Object.assign(store, { budget }), 'orders', budget.signal);
    const entries = await readCatalog(folder, options);
    budget.end();
    return entries.map((one) => [one.id, one.state, one.problem]);
  };
  beforeEach(async () => {
    for (const n of [1, 2, 3]) await store1({ id: id(n), createdAt: `2026-11-2${n}T02:38:07.000Z` });
  });

  test.each<[string, () => Promise<never>, RegExp]>([
    ['fails', fail, /^its manifest cannot be read: 500$/],
    [
      'hangs',
      () => new Promise<never>(() => {}),
      /^its manifest cannot be read: .*get orders.*: no sign of life for 1 s/,
    ],
  ])('is the problem of its own snapshot if it %s, and is asked for once in a run', async (_, answer, why) => {
    away((key) => key.endsWith(`${id(1)}.json`), answer);
    const found = [
      [id(3), 'verified', undefined],
      [id(2), 'verified', undefined],
      [id(1), 'unreachable', expect.stringMatching(why)],
    ];
    expect(await within(4_000)).toEqual(found);
    expect(await within(4_000)).toEqual(found);
    expect(asked).toHaveLength(1);
  });

  test('may be a finding of `verify`', async () => {
    await write(`${id(1)}.verify.json`, verification('failed'));
    away((key) => key.endsWith('.verify.json'));
    expect((await list())[2]).toMatchObject({
      state: 'unreachable',
      manifest: { source: { clusterId: 'c0' } },
      problem: 'the finding of `verify` cannot be read: 500',
    });
  });

  test('may be the index', async () => {
    for (let n = 10; n < 80; n++) await store1({ id: `etcd-snapshot-20261122-1200${n}-3f9c2a` });
    await readCatalog(new Folder(store, 'orders'), { keepIndex: () => {} });
    for (const answer of [fail, () => new Promise<never>(() => {})]) {
      store = new FilesystemStore({ path: root });
      away((key) => key.includes('index'), answer);
      expect((await within(4_000)).filter(([, state]) => state === 'verified')).toHaveLength(73);
    }
  });

  test('is an error if there is no other, unless the run can do without all', async () => {
    away((key) => key.endsWith('.json'));
    await expect(within(4_000)).rejects.toMatchObject({ exitCode: ExitCode.storeUnreachable, message: '500' });
    expect(await within(4_000, { mayLackAll: true })).toHaveLength(3);
    await expect(within(4_000)).rejects.toThrow('500');
    expect(asked).toHaveLength(3);
  });

  test('costs little time, however many there are', async () => {
    for (let n = 100; n < 300; n++) await store1({ id: `etcd-snapshot-20261120-120000-000${n}` });
    away(
      (key) => key.includes('20261120-12'),
      () => new Promise<never>(() => {}),
    );
    const began = Date.now();
    const states = (await within(8_000)).map(([, state]) => state);
    expect(states.filter((state) => state === 'unreachable').length).toBeGreaterThanOrEqual(200);
    expect(asked.length).toBeLessThan(100);
    expect(Date.now() - began).toBeLessThan(12_000);
  }, 20_000);
});

test('a damaged manifest beside a file without an ending is found by its name too', async () => {
  const name = 'etcd-snapshot-node1-1795228687';
  await write(name, payload);
  await write(`${name}.json`, '{');
  expect((await list()).map(({ id }) => id)).toEqual([name]);
  expect(await readEntry(new Folder(store, 'orders'), name)).toMatchObject({ problem: expect.any(String) });
});

describe('a payload that is not listed', () => {
  const LINK = 'etcd-snapshot-20261120-023807-3f9c2a';
  let asked: string[];
  const answer = (stat: (key: string) => Promise<never>) => {
    asked = [];
    store.stat = (key: string) => {
      asked.push(key);
      return stat(key);
    };
  };
  const fail = () => Promise.reject<never>(new AgentError(ExitCode.storeUnreachable, '500'));
  const found = async (options: CatalogOptions = {}) =>
    (await readCatalog(new Folder(store, 'orders'), options)).map(({ id, problem, state }) => [id, state, problem]);
  beforeEach(async () => {
    await store1();
    await write(`${LINK}.json`, manifestOf(payload, payload, { id: LINK, object: { key: 'orders/link.db' } }));
    await symlink(`${ID}.db`, join(root, 'orders/link.db'));
    await write(`${ID}.json`, manifestOf(payload, payload, { object: { key: `orders/${ID}.db` } }));
  });

  test('and cannot be asked for is the problem of its own snapshot, also once it is known', async () => {
    const away = [
      [ID, 'verified', undefined],
      [LINK, 'unreachable', 'its payload cannot be read: 500'],
    ];
    const { stat } = store;
    expect((await found()).map(([id]) => id)).toEqual([ID, LINK]);
    answer(fail);
    expect((await found()).toSorted()).toEqual(away.toSorted());
    expect((await found()).toSorted()).toEqual(away.toSorted());
    expect(asked).toEqual(['orders/link.db']);
    store.stat = stat;
  });

  test('does not end or delay a run that waits no longer', async () => {
    await found();
    answer(() => new Promise<never>(() => {}));
    expect((await found({ until: waitUntil() })).toSorted()).toEqual(
      [
        [ID, 'verified', undefined],
        [LINK, 'unreachable', expect.stringMatching(/^its payload cannot be read: the store does not answer/)],
      ].toSorted(),
    );
  });

  test('is missing in a store without links, which is not asked', async () => {
    Object.assign(store, { links: undefined });
    answer(fail);
    expect(await found()).toContainEqual([LINK, 'broken', 'its payload orders/link.db is missing']);
    expect(asked).toEqual([]);
  });

  test('is a snapshot by a link if that of its file is broken', async () => {
    const sizeBytes = payload.length + 1;
    await write(`${ID}.json`, manifestOf(payload, payload, { object: { key: `orders/${ID}.db`, sizeBytes } }));
    expect(await found()).toContainEqual([LINK, 'verified', undefined]);
    expect((await readEntry(new Folder(store, 'orders'), LINK))?.problem).toBeUndefined();
  });

  test('is a link however it is read, and its pin holds the file', async () => {
    await write(`${LINK}.pin`, '');
    expect((await readEntry(new Folder(store, 'orders'), LINK))?.problem).toMatch(/is a link to/);
    expect(await list()).toMatchObject([
      { id: ID, pinned: true },
      { id: LINK, pinned: true, problem: expect.stringContaining('is a link to') },
    ]);
  });
});
