import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ManifestChanges, manifestOf } from '../../../test/support/manifest-of.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { readCatalog } from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import { newestOfLine } from '../catalog/select.ts';
import { storeStatus } from './store-status.ts';

const NEWEST = 'etcd-snapshot-20261121-023807-3f9c2a';
const DATED = 'etcd-snapshot-20261120-023807-3f9c2a';
const LATER = 'etcd-snapshot-20261122-023807-3f9c2a';
const NAMED = 'monthly-2025-01';

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'status-'));
  await mkdir(join(place, 'orders'));
});
afterEach(() => rm(place, { recursive: true }));

/** Stores a snapshot, at this hour of the day after the one in its manifest. */
async function put(id: string, hour: number): Promise<void> {
  const bytes = Buffer.alloc(64);
  const files = { [`${id}.db`]: bytes, [`${id}.json`]: JSON.stringify(manifestOf(bytes, bytes, { id })) };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(place, 'orders', name), content);
    await utimes(join(place, 'orders', name), 0, Date.UTC(2026, 10, 22, hour) / 1000);
  }
}

test('a snapshot that `restore` refuses, because it may be from after a restore, is not ok', async () => {
  const bytes = Buffer.alloc(64);
  const write = async (id: string, changes: ManifestChanges) => {
    await writeFile(join(place, 'orders', `${id}.db`), bytes);
    await writeFile(join(place, 'orders', `${id}.json`), JSON.stringify(manifestOf(bytes, bytes, { id, ...changes })));
  };
  await write(DATED, { createdAt: '2026-11-20T02:38:07.000Z', source: { clusterId: 'aaaa' } });
  const restored = { source: { clusterId: 'bbbb' }, cluster: { lineage: ['aaaa'] }, verified: undefined };
  await write(NEWEST, { createdAt: '2026-11-21T02:38:07.000Z', ...restored });
  const store = new FilesystemStore({ path: place });
  const status = await storeStatus({ folder: new Folder(store, 'orders'), cluster: 'orders', maxAge: undefined });
  expect(status).toMatchObject({
    ok: false,
    exitCode: ExitCode.refused,
    detail: expect.stringMatching(/it is not known when bbbb was restored from it/),
  });
  const sample = status.metrics.find(({ name }) => name === 'etcd_backup_last_verified_timestamp_seconds');
  expect(sample?.value).toBe(0);
});

test('a newest snapshot that was adopted beside those of a known etcd is not ok, as `restore` refuses it', async () => {
  await put(DATED, 1);
  const bytes = Buffer.alloc(64);
  const adopted = { id: NAMED, createdAt: '2026-11-22T02:38:07.000Z', source: { clusterId: 'unknown' } };
  await writeFile(join(place, 'orders', `${NAMED}.db`), bytes);
  await writeFile(join(place, 'orders', `${NAMED}.json`), JSON.stringify(manifestOf(bytes, bytes, adopted)));
  const folder = new Folder(new FilesystemStore({ path: place }), 'orders');
  const status = await storeStatus({ folder, cluster: 'orders', maxAge: undefined });
  expect(status).toMatchObject({ ok: false, exitCode: ExitCode.refused, detail: expect.stringMatching(/was adopted/) });
  const line = { id: 'c0', lineage: [] };
  expect(newestOfLine(await readCatalog(folder), { cluster: 'orders' }, line).newest).toBeUndefined();
});

test('a snapshot whose finding the listing leaves out does not count as good', async () => {
  await put(NEWEST, 2);
  const found = { schema: 'cdk8s-etcd/verification/v1', id: NEWEST, level: 'open', outcome: 'failed' };
  const text = JSON.stringify({ ...found, at: new Date().toISOString(), agent: { version: 'test' } });
  await writeFile(join(place, 'orders', `${NEWEST}.verify.json`), text);
  const store = new FilesystemStore({ path: place });
  const { list } = store;
  store.list = async function* (prefix, options) {
    for await (const object of list.call(store, prefix, options)) if (!/verify/.test(object.key)) yield object;
  };
  const status = await storeStatus({ folder: new Folder(store, 'orders'), cluster: 'orders', maxAge: undefined });
  expect(status).toMatchObject({ ok: false, exitCode: ExitCode.nothingThere });
});

/** What cannot be read, while the store does not give out the manifest of one snapshot. */
async function unread(id: string, exitCode: ExitCode): Promise<string | undefined> {
  const store = new FilesystemStore({ path: place });
  const get = store.get.bind(store);
  store.get = (key, options) =>
    key.endsWith(`/${id}.json`) ? Promise.reject(new AgentError(exitCode, 'in cold storage')) : get(key, options);
  const status = await storeStatus({ folder: new Folder(store, 'orders'), cluster: 'orders', maxAge: undefined });
  expect(status.id).toBe(NEWEST);
  return status.unread;
}

const { storeRefused: refused, storeUnreachable: unreachable } = ExitCode;

test.each<[string, string, number, ExitCode, boolean]>([
  ['an old one under a name of its own that is refused', NAMED, 1, refused, false],
  ['one under a name of its own that is refused and was stored later', NAMED, 3, refused, true],
  ['one under a name of its own that does not answer', NAMED, 1, unreachable, true],
  ['one that is refused and is older by its name', DATED, 3, refused, false],
  ['one that is refused and is newer by its name', LATER, 1, refused, true],
])('%s hides the newest verified snapshot only if it may be newer', async (_, id, hour, exitCode, isUnread) => {
  await put(NEWEST, 2);
  await put(id, hour);
  const found = await unread(id, exitCode);
  if (isUnread) expect(found).toContain(`${id}: `);
  else expect(found).toBeUndefined();
});
