import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { silence } from '../../../test/support/silent-manifest.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { Budget, type Wait } from '../../lib/limits/budget.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { readCatalog } from './catalog.ts';
import { Folder } from './folder.ts';
import { type AskedSnapshot, selectEntry } from './select.ts';

let root: string;
let store: FilesystemStore;
let warnings: string[];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'select-'));
  store = new FilesystemStore({ path: root });
  warnings = [];
  await mkdir(join(root, 'orders'));
});
afterEach(() => rm(root, { recursive: true }));

const payload = Buffer.from('database and trailer');
const idOf = (day: number, name = 'etcd-snapshot') => `${name}-202611${day}-023807-3f9c2a`;

async function storeOne(day: number, changes: { id?: string; clusterId?: string } = {}): Promise<void> {
  const { id = idOf(day), clusterId = 'c0' } = changes;
  const manifest = manifestOf(payload, payload, { id, createdAt: `2026-11-${day}T02:38:07.123Z` });
  await writeFile(join(root, 'orders', `${id}.db`), payload);
  const text = JSON.stringify({ ...manifest, source: { ...manifest.source, clusterId } });
  await writeFile(join(root, 'orders', `${id}.json`), text);
}

let until: (others: number) => Wait;
let silenced: () => void;
const silent = (id: string, answer: () => Promise<never>) => {
  silenced = () => {
    until = silence(store, id, answer);
  };
};

const select = (before?: string) =>
  selectOf({ cluster: 'orders', clusterId: 'c0', ...(before && { before: new Date(before) }) });

async function selectOf(asked: AskedSnapshot): Promise<string> {
  const others = (await readdir(join(root, 'orders'))).filter((name) => name.endsWith('.json')).length - 1;
  // What this store object has read it does not read again.
  store = new FilesystemStore({ path: root });
  silenced();
  const readAnswering = () => readCatalog(new Folder(store, 'orders'), { until: until(others) });
  return (
    await selectEntry(new Folder(store, 'orders'), asked, {
      readAnswering,
      list: () => new Folder(store, 'orders').list(),
      warn: (line) => warnings.push(line),
    })
  ).id;
}

test('a manifest under an own name that the store refuses is named, whenever it was stored', async () => {
  for (const day of [21, 22]) await storeOne(day);
  await storeOne(23, { id: 'nightly' });
  for (const name of ['nightly.db', 'nightly.json']) await utimes(join(root, 'orders', name), 1e9, 1e9);
  silent('nightly', () => Promise.reject(new AgentError(ExitCode.storeRefused, '403')));
  expect(await select()).toBe(idOf(22));
  expect(warnings).toEqual([
    `nightly is passed over: its manifest cannot be read: 403; it may be newer than ${idOf(22)}, and then writes are lost`,
  ]);
});

describe.each<[string, () => Promise<never>, string]>([
  ['hangs', () => new Promise<never>(() => {}), 'the store does not answer in time'],
  ['answers 503', () => Promise.reject(new AgentError(ExitCode.storeUnreachable, '503')), '503'],
])('a manifest that %s', (_, answer, why) => {
  const problem = `its manifest cannot be read: ${why}`;
  beforeEach(async () => {
    for (const day of [20, 21, 22]) await storeOne(day);
  });

  test('of an older snapshot may be of another cluster, unless the caller says which is meant', async () => {
    silent(idOf(20), answer);
    const asked = { cluster: 'orders' };
    await expect(selectOf(asked)).rejects.toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      message: `${store.url}: ${idOf(20)}, which may be of another etcd cluster than ${idOf(22)}: ${problem}`,
      finding: { kind: 'mayBeNewer', newest: idOf(22), clusterId: 'c0' },
    });
    await expect(selectOf({ ...asked, before: new Date('2026-11-20T00:00:00Z') })).rejects.toThrow(/holds no verified/);
  });

  test('of an older snapshot names the cluster only by an id that can be asked for', async () => {
    await storeOne(23, { clusterId: 'unknown' });
    silent(idOf(20), answer);
    await expect(selectOf({ cluster: 'orders' })).rejects.toMatchObject({
      message: `${store.url}: ${idOf(20)}, which may be of another etcd cluster than ${idOf(23)}: ${problem}`,
      finding: { kind: 'mayBeNewer', newest: idOf(23), clusterId: undefined },
    });
  });

  test('of an older snapshot does not keep the newest of a cluster back; a warning names it', async () => {
    silent(idOf(20), answer);
    expect(await select()).toBe(idOf(22));
    expect(warnings).toEqual([
      `1 snapshot that is older than ${idOf(22)} cannot be read, such as ${idOf(20)}: ${problem}`,
    ]);
  });

  test('of the newest, or of one from the same second, ends the search: no older one is taken in its place', async () => {
    silent(idOf(22), answer);
    await expect(select()).rejects.toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      message: `${store.url}: ${idOf(22)}, which may be newer than ${idOf(21)}: ${problem}`,
      finding: { kind: 'mayBeNewer', newest: idOf(21) },
    });
    const sameSecond = idOf(22).replace(/.$/, 'b');
    await storeOne(22, { id: sameSecond });
    await expect(select()).rejects.toThrow(`${idOf(22)}, which may be newer than ${sameSecond}`);
  });

  test('of one from after the asked time does not matter, of one that may be from before it does', async () => {
    silent(idOf(22), answer);
    expect(await select('2026-11-22T00:00:00Z')).toBe(idOf(21));
    expect(await select('2026-11-22T02:38:07Z')).toBe(idOf(21));
    expect(warnings).toEqual([]);
    await expect(select('2026-11-22T02:38:07.100Z')).rejects.toThrow(`${idOf(22)}, which may be newer than`);
  });

  // A name of the user's own is of any time zone, or not of a time at all.
  test.each(['nightly', 'k8s-20261101-000000-x', 'k8s-20991101-000000-x'])(
    'of the name %s counts as taken at any time, whenever the store says that it was stored',
    async (id) => {
      await storeOne(19, { id });
      silent(id, answer);
      await expect(select()).rejects.toThrow(`${id}, which may be newer than ${idOf(22)}`);
      // A copy, or a store whose clock is behind.
      for (const name of [`${id}.db`, `${id}.json`]) await utimes(join(root, 'orders', name), 1e9, 1e9);
      await expect(select()).rejects.toThrow(`${id}, which may be newer than ${idOf(22)}`);
      await expect(select('2026-11-21T00:00:00Z')).rejects.toThrow(`${id}, which may be newer than ${idOf(20)}`);
    },
  );

  test('of the only snapshot is not the same as none', async () => {
    for (const day of [20, 21]) await rm(join(root, 'orders', `${idOf(day)}.json`));
    silent(idOf(22), answer);
    await expect(select()).rejects.toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      message: expect.stringContaining(`${idOf(22)}, which may be the one: its manifest cannot be read: `),
    });
  });

  test('never decides between two clusters of the name that answer', async () => {
    await storeOne(21, { id: idOf(21, 'other'), clusterId: 'c9' });
    silent(idOf(20), answer);
    await expect(selectOf({ cluster: 'orders' })).rejects.toMatchObject({ exitCode: ExitCode.refused });
  });
});

describe.each<[string, () => Promise<never>]>([
  ['hangs', () => new Promise<never>(() => {})],
  ['answers 503', () => Promise.reject(new AgentError(ExitCode.storeUnreachable, '503'))],
])('a finding of `verify` that %s', (_, answer) => {
  const finding = (id: string) => {
    silenced = () => {
      const { get } = store;
      store.get = (key, options) => (key.includes(`/${id}.verify.json`) ? answer() : get.call(store, key, options));
      until = () => new Budget().wait(1_000);
    };
    return writeFile(join(root, 'orders', `${id}.verify.json`), '{}');
  };
  beforeEach(async () => {
    for (const day of [20, 21, 22]) await storeOne(day);
  });

  test('of an older snapshot of the same etcd is only a warning, for its manifest says whose it is', async () => {
    await finding(idOf(20));
    expect(await selectOf({ cluster: 'orders' })).toBe(idOf(22));
    expect(warnings).toEqual([
      expect.stringContaining(`such as ${idOf(20)}: the finding of \`verify\` cannot be read: `),
    ]);
  });

  test('of an older snapshot of another etcd, or of the newest, still ends the search', async () => {
    await storeOne(19, { clusterId: 'c9' });
    await finding(idOf(19));
    await expect(selectOf({ cluster: 'orders' })).rejects.toThrow(`${idOf(19)}, which may be of another etcd cluster`);
    expect(await selectOf({ cluster: 'orders', clusterId: 'c0' })).toBe(idOf(22));
    await finding(idOf(22));
    await expect(selectOf({ cluster: 'orders' })).rejects.toThrow(`${idOf(22)}, which may be newer than ${idOf(21)}`);
  });
});

describe('an adopted snapshot, whose etcd is not known', () => {
  beforeEach(async () => {
    silenced = () => {
      until = () => new Budget().wait(10_000);
    };
    await storeOne(22, { id: 'weekly', clusterId: 'unknown' });
  });

  test('is not the newest beside snapshots of a known one, unless it is the only one from that time', async () => {
    for (const day of [21, 20]) await storeOne(day);
    await expect(selectOf({ cluster: 'orders' })).rejects.toMatchObject({
      exitCode: ExitCode.refused,
      message: `${store.url}: weekly was adopted, so its etcd is not known, and orders has snapshots of the cluster id c0 too, such as ${idOf(21)}`,
      finding: { kind: 'adoptedNewest', clusterId: 'c0' },
    });
    expect(await select()).toBe(idOf(21));
    expect(await selectOf({ cluster: 'orders', id: 'weekly' })).toBe('weekly');
    await storeOne(23);
    expect(await selectOf({ cluster: 'orders' })).toBe(idOf(23));
  });

  test('is the newest if there is no other, or only a later one', async () => {
    expect(await selectOf({ cluster: 'orders' })).toBe('weekly');
    await storeOne(23);
    expect(await selectOf({ cluster: 'orders', before: new Date('2026-11-23T00:00:00Z') })).toBe('weekly');
  });
});

test('the newest is not one whose finding the listing leaves out', async () => {
  for (const day of [20, 21]) await storeOne(day);
  const found = { schema: 'cdk8s-etcd/verification/v1', id: idOf(21), level: 'open', outcome: 'failed' };
  const text = JSON.stringify({ ...found, at: new Date().toISOString(), agent: { version: 'test' } });
  await writeFile(join(root, 'orders', `${idOf(21)}.verify.json`), text);
  silenced = () => {
    const { list } = store;
    store.list = async function* (prefix, options) {
      for await (const object of list.call(store, prefix, options)) if (!/verify/.test(object.key)) yield object;
    };
    until = () => new Budget().wait(10_000);
  };
  expect(await select()).toBe(idOf(20));
  expect(warnings).toEqual([expect.stringMatching(`${idOf(21)} is passed over: its verification failed`)]);
});
