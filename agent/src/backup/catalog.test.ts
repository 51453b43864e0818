import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ManifestChanges, manifestOf } from '../../test/manifest-of.ts';
import { ExitCode } from '../errors.ts';
import { FilesystemStore } from '../store/filesystem.ts';
import { isVerified, readCatalog, selectEntry } from './catalog.ts';
import type { Level, Verification } from './manifest.ts';

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
const list = () => readCatalog(store, 'orders');
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

async function verified(outcome: Verification['outcome'], level: Level): Promise<boolean> {
  const schema = 'cdk8s-etcd/verification/v1';
  await write(`${ID}.verify.json`, { schema, id: ID, level, outcome, at, agent: { version: 'test' } });
  return isVerified(await only());
}

test('a snapshot is its manifest and its payload', async () => {
  await store1();
  const entry = await only();

  expect(entry).toMatchObject({ id: ID, pinned: false, restoredAs: [], manifest: { trigger: 'manual' } });
  expect(entry.problem).toBeUndefined();
  expect(isVerified(entry)).toBe(true);
});

test('what has no manifest is no snapshot, whatever lies around it', async () => {
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

describe('is listed with what is wrong with it, and never counts as verified', () => {
  const newer = { ...manifestOf(payload), schema: 'cdk8s-etcd/snapshot/v2' };
  const { content: _, ...lacking } = manifestOf(payload);

  test.each([
    ['a newer major version', newer, /schema 'cdk8s-etcd\/snapshot\/v2'.*use a newer one/],
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
    expect(() => selectEntry([entry], ID, 'here')).toThrow(
      expect.objectContaining({ exitCode: ExitCode.verificationFailed }),
    );
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

describe('verified', () => {
  test('is what the manifest says, from level read on', async () => {
    await store1({ verified: { level: 'stream', at } });
    expect(isVerified(await only())).toBe(false);
    await store1({ verified: undefined });
    expect(isVerified(await only())).toBe(false);
    await store1({ verified: { level: 'open', at } });
    expect(isVerified(await only())).toBe(true);
  });

  test('is not what a later verification found bad', async () => {
    await store1();
    expect(await verified('failed', 'read')).toBe(false);
    expect(await verified('verified', 'open')).toBe(true);
  });

  test('is what a later verification proved, from level read on', async () => {
    await store1({ verified: { level: 'stream', at } });
    expect(await verified('verified', 'stream')).toBe(false);
    expect(await verified('inconclusive', 'open')).toBe(false);
    expect(await verified('verified', 'read')).toBe(true);
  });

  test('is still what it was after a verification that came to nothing or cannot be read', async () => {
    await store1();
    expect(await verified('inconclusive', 'open')).toBe(true);
    await write(`${ID}.verify.json`, '{');
    expect(isVerified(await only())).toBe(true);
  });

  test('is never what came of a suspect source', async () => {
    await store1({ source: { suspect: ['MembersInconsistent'] } });
    expect(await verified('verified', 'open')).toBe(false);
  });
});

test('the newest comes first, by the time in the manifest and not by name', async () => {
  const times = { b: '2026-01-03T00:00:00Z', c: '2026-01-01T00:00:00Z', a: '2026-01-02T00:00:00Z' };
  for (const [id, createdAt] of Object.entries(times)) await store1({ id, createdAt });
  await write(`${ID}.json`, 'unreadable');

  expect((await list()).map(({ id }) => id)).toEqual(['b', 'a', 'c', ID]);
});

test('pins and restores are read from the names beside it', async () => {
  await store1();
  await write(`${ID}.pin`, '');
  for (const clusterId of ['1a', '2b']) await write(`${ID}.restored-${clusterId}.json`, {});
  const { pinned, restoredAs, objects } = await only();

  expect({ pinned, restoredAs: [...restoredAs].sort() }).toEqual({ pinned: true, restoredAs: ['1a', '2b'] });
  expect(objects).toHaveLength(5);
});

test('a manifest that is deleted while it is read was none', async () => {
  await store1();
  await store1({ id: 'gone' });
  class Deleting extends FilesystemStore {
    override async get(key: string) {
      if (key.endsWith('gone.json')) await this.delete(key);
      return super.get(key);
    }
  }

  expect((await readCatalog(new Deleting({ path: root }), 'orders')).map(({ id }) => id)).toEqual([ID]);
});

describe('what is asked for', () => {
  test('latest is the newest verified one', async () => {
    await store1({ id: 'old', createdAt: '2026-01-01T00:00:00Z' });
    await store1({ id: 'new', createdAt: '2026-01-02T00:00:00Z' });
    await store1({ id: 'newest', createdAt: '2026-01-03T00:00:00Z', verified: undefined });
    const entries = await list();

    expect(selectEntry(entries, undefined, 'here').id).toBe('new');
    expect(selectEntry(entries, 'latest', 'here').id).toBe('new');
    expect(selectEntry(entries, 'newest', 'here').id).toBe('newest');
  });

  test('what is not there is told so', async () => {
    const nothing = expect.objectContaining({ exitCode: ExitCode.nothingThere });
    expect(() => selectEntry([], undefined, 'here')).toThrow(nothing);
    expect(() => selectEntry([], ID, 'here')).toThrow(nothing);
  });
});
