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
  const beside = { id: 'beside', objects: [{ key, modified: new Date() }] } as unknown as Entry;
  const restored = { ...beside, id: 'elsewhere', objects: [] };
  const served = await servedBefore({ store, entries: [beside], restored, here: [], own: [] });
  expect(served.notes).toMatchObject([{ id: 'elsewhere', clusterId: 'c1', bump: 1e9 }]);
  expect(await highestInStore({ store, entries: [beside], restored })).toBe(1e9 + 7);
  // The next node of the same restore joins it; one of another snapshot comes out above it.
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
    const entry = { id: 'a', objects } as unknown as Entry;
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
  expect(await highestInStore({ store, entries, restored: entries[0]! })).toBe(1e9 + 9);
  expect(bumpOf(served, { id: restored.id, revision: 7, several: false, token: () => 't' })).toBe(2e9);
});

/** Answers for a snapshot `id` with this revision, and these notes beside it. */
const backup = (id: string, revision: number, notes: readonly string[] = []) =>
  ({
    id,
    objects: notes.map((key) => ({ key, modified: new Date() })),
    manifest: { content: { hashKV: { revision } }, source: { clusterId: 'c0' }, cluster: {} },
  }) as unknown as Entry;

test('a note without a revision counts as a restore one step beyond what is known', async () => {
  const path = await mkdtemp(join(tmpdir(), 'served-'));
  await mkdir(join(path, 'orders'));
  const key = 'orders/b.restored-c1.json';
  await writeFile(join(path, key), JSON.stringify({ id: 'b', clusterId: 'c1', at: new Date() }));
  const entries = [backup('b', 7, [key])];
  const warnings: string[] = [];
  const warn = (line: string) => warnings.push(line);
  const store = new FilesystemStore({ path });
  expect(await highestInStore({ store, entries, restored: entries[0]!, warn })).toBe(1e9 + 7);
  expect(warnings).toEqual([expect.stringContaining('b was restored as the cluster c1, which has no backup')]);
});

test('a note that cannot be read does not hide what the manifests say', async () => {
  class Flaky extends FilesystemStore {
    override async get(): Promise<never> {
      throw new AgentError(ExitCode.storeUnreachable, '503');
    }
  }
  const entries = [backup('a', 7, ['orders/a.restored-c1.json']), backup('b', 5e9)];
  const store = new Flaky({ path: '/' });
  expect(await highestInStore({ store, entries, restored: entries[0]! })).toBe(6e9);
});

test('a revision that no etcd reaches is ignored', async () => {
  const entries = [backup('a', 7), backup('b', Number.MAX_SAFE_INTEGER)];
  expect(await highestInStore({ store: new FilesystemStore({ path: '/' }), entries, restored: entries[0]! })).toBe(7);
});
