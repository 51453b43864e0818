import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { Folder } from './folder.ts';
import { setPins } from './pin.ts';

const ID = 'etcd-snapshot-20261121-023807-3f9c2a';

let root: string;
let store: FilesystemStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'pin-'));
  store = new FilesystemStore({ path: root });
  await mkdir(join(root, 'orders'));
  const bytes = Buffer.alloc(64);
  await writeFile(join(root, 'orders', `${ID}.db`), bytes);
  await writeFile(join(root, 'orders', `${ID}.json`), JSON.stringify(manifestOf(bytes, bytes, { id: ID })));
});
afterEach(() => rm(root, { recursive: true }));

const set = async (pinned: boolean) => {
  const [{ changed } = { changed: undefined }] = await setPins(new Folder(store, 'orders'), [ID], pinned);
  return { changed, isThere: (await readdir(join(root, 'orders'))).includes(`${ID}.pin`) };
};

test('a snapshot is pinned and unpinned once', async () => {
  expect(await set(true)).toEqual({ changed: true, isThere: true });
  expect(await set(true)).toEqual({ changed: false, isThere: true });
  expect(await set(false)).toEqual({ changed: true, isThere: false });
  expect(await set(false)).toEqual({ changed: false, isThere: false });
});

test('a listing that still shows a pin which is gone does not count', async () => {
  const { list } = store;
  store.list = async function* (prefix, options) {
    yield* list.call(store, prefix, options);
    yield { key: `orders/${ID}.pin`, size: 0, modified: new Date() };
  };
  expect(await set(true)).toEqual({ changed: true, isThere: true });
});

test('a pin that a listing leaves out is removed', async () => {
  await set(true);
  const { list } = store;
  store.list = async function* (prefix, options) {
    for await (const object of list.call(store, prefix, options)) if (!object.key.endsWith('.pin')) yield object;
  };
  expect(await set(false)).toEqual({ changed: true, isThere: false });
});

test('a pin that comes after the deletion fails, and nothing is left of it', async () => {
  const { put } = store;
  store.put = async (...args) => {
    await store.delete(`orders/${ID}.json`);
    return put.apply(store, args);
  };
  await expect(set(true)).rejects.toMatchObject({ exitCode: ExitCode.nothingThere });
  expect(await readdir(join(root, 'orders'))).toEqual([`${ID}.db`]);
});
