import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { readCatalog } from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import { sweepReserved } from '../retention/sweep-begun.ts';
import { reserve } from './markers.ts';

const hour = 3_600_000;

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'reservation-'));
  await mkdir(join(root, 'orders'));
});
afterEach(() => rm(root, { recursive: true }));

async function write(name: string, age: number): Promise<void> {
  const path = join(root, 'orders', name);
  await writeFile(path, 'x');
  const time = new Date(Date.now() - age);
  await utimes(path, time, time);
}
const left = async () => (await readdir(join(root, 'orders'))).sort();

/** Writes a snapshot from before what was left behind, and one from after. */
async function writeSnapshots(): Promise<void> {
  for (const [id, at] of [
    ['older', Date.now() - 72 * hour],
    ['newer', Date.now()],
  ] as const) {
    const changes = { id, createdAt: new Date(at).toISOString(), content: { revision: 5 } };
    await writeFile(join(root, `orders/${id}.db`), 'x');
    const manifest = manifestOf(Buffer.alloc(64), Buffer.from('x'), changes);
    await writeFile(join(root, `orders/${id}.json`), JSON.stringify(manifest));
  }
}

test('leftovers of a dead run are deleted with its reservation', async () => {
  for (const name of ['nightly.reserved', 'nightly.db', 'other.db']) await write(name, 48 * hour);
  await writeSnapshots();
  const store = new FilesystemStore({ path: root });
  const names = await new Folder(store, 'orders').list();
  expect(
    await sweepReserved(new Folder(store, 'orders'), names, 24 * hour, await readCatalog(new Folder(store, 'orders'))),
  ).toEqual(['orders/nightly.db', 'orders/nightly.reserved']);
  expect(await left()).toEqual(['newer.db', 'newer.json', 'older.db', 'older.json', 'other.db']);
});

test('a payload is kept with its reservation until a newer verified snapshot exists: it may be good', async () => {
  for (const name of ['nightly.reserved', 'nightly.db']) await write(name, 48 * hour);
  const store = new FilesystemStore({ path: root });
  const names = await new Folder(store, 'orders').list();
  expect(await sweepReserved(new Folder(store, 'orders'), names, 24 * hour, [])).toEqual([]);
  expect(await left()).toEqual(['nightly.db', 'nightly.reserved']);
});

test.each([
  ['payload', ['nightly.reserved', 'nightly.db']],
  ['reservation', ['nightly.reserved']],
  ['extra files', ['nightly.reserved', 'nightly.extra.tar.age']],
])('an outdated listing does not delete the new %s of another run', async (_what, anew) => {
  for (const name of ['nightly.reserved', 'nightly.db']) await write(name, 48 * hour);
  await writeSnapshots();
  const store = new FilesystemStore({ path: root });
  const names = await new Folder(store, 'orders').list();
  await rm(join(root, 'orders/nightly.db'));
  for (const name of anew) await write(name, 0);
  expect(
    await sweepReserved(new Folder(store, 'orders'), names, 24 * hour, await readCatalog(new Folder(store, 'orders'))),
  ).toEqual([]);
  expect(await left()).toEqual([...anew, 'newer.db', 'newer.json', 'older.db', 'older.json'].sort());
});

test('in a store that hides fresh writes, no name can be reserved, and nothing is left behind', async () => {
  class Hiding extends FilesystemStore {
    override async get(key: string): ReturnType<FilesystemStore['get']> {
      throw new AgentError(ExitCode.nothingThere, `has no ${key}`);
    }
  }
  await expect(reserve(new Folder(new Hiding({ path: root }), 'orders'), 'nightly')).rejects.toMatchObject({
    exitCode: ExitCode.storeUnreachable,
    message: expect.stringContaining('does not show orders/nightly.reserved right after it was written'),
  });
  expect(await readdir(root)).toEqual([]);
});
