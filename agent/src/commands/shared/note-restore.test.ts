import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { manifestKey, putJson, readCatalog } from '../../backup/catalog/catalog.ts';
import { Folder } from '../../backup/catalog/folder.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { noteKeyNow } from './note-restore.ts';

const named = { cluster: 'orders', namespace: undefined };
let path: string;
let store: FilesystemStore;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'note-'));
  store = new FilesystemStore({ path });
});
afterEach(() => rm(path, { recursive: true }));

async function put(id: string, hoursAgo: number, clusterId: string): Promise<void> {
  const bytes = Buffer.from(id);
  const manifest = manifestOf(bytes, bytes, {
    id,
    createdAt: new Date(Date.now() - hoursAgo * 3_600_000).toISOString(),
    object: { key: `orders/${id}.db` },
  });
  await store.put(`orders/${id}.db`, Readable.from([bytes]));
  await putJson(store, manifestKey('orders', id), { ...manifest, source: { ...manifest.source, clusterId } }, {});
}

test('the note of a restore is beside its snapshot, or beside the newest one of its line if the snapshot is gone', async () => {
  await put('old', 3, 'c0');
  await put('newer', 2, 'c0');
  await put('other', 1, 'c1');
  const entry = (await readCatalog(new Folder(store, 'orders'))).find(({ id }) => id === 'old')!;
  const key = () => noteKeyNow(store, entry, named, 'c0ffee', {});
  expect(await key()).toBe('orders/old.restored-c0ffee.json');
  await store.delete(manifestKey('orders', 'old'));
  expect(await key()).toBe('orders/newer.restored-c0ffee.json');
  await store.delete(manifestKey('orders', 'newer'));
  expect(await key()).toBe('orders/old.restored-c0ffee.json');
});
