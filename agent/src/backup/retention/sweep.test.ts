import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { listNames } from '../catalog/names.ts';
import { sweep } from './sweep.ts';

const WHOLE = 'etcd-snapshot-20260101-000000-aaaaaa';
const PINNED = 'etcd-snapshot-20260101-000000-bbbbbb';
const REST = 'etcd-snapshot-20260101-000000-cccccc';
const hour = 3_600_000;

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sweep-'));
  await mkdir(join(root, 'orders'));
  const names = [`${WHOLE}.db`, `${WHOLE}.json`, `${PINNED}.db`, `${PINNED}.pin`, `${REST}.db`];
  const old = new Date(Date.now() - 48 * hour);
  for (const name of names) {
    const path = join(root, 'orders', name);
    await writeFile(
      path,
      name.endsWith('.json') ? JSON.stringify(manifestOf(Buffer.alloc(64), undefined, { id: WHOLE })) : 'x',
    );
    await utimes(path, old, old);
  }
});
afterEach(() => rm(root, { recursive: true }));

const left = async () => (await readdir(join(root, 'orders'))).sort();
const run = async (store: FilesystemStore) => {
  const warnings: string[] = [];
  const swept = await sweep(store, 'orders', 24 * hour, new Set(), { warn: (message) => warnings.push(message) });
  return { swept, warnings };
};

/** Lists payloads only, as a listing that is cut short may. */
class CutShort extends FilesystemStore {
  override async *list(prefix: string) {
    for await (const object of super.list(prefix)) if (object.key.endsWith('.db')) yield object;
  }
}

test.each([
  ['whole', FilesystemStore],
  ['cut short', CutShort],
])('with a listing that is %s only leftovers of a dead run are deleted', async (_name, Kind) => {
  expect(await run(new Kind({ path: root }))).toEqual({ swept: [`orders/${REST}.db`], warnings: [] });
  expect(await left()).toEqual([`${WHOLE}.db`, `${WHOLE}.json`, `${PINNED}.db`, `${PINNED}.pin`]);
});

const refuse = (): Promise<never> => Promise.reject(new AgentError(ExitCode.storeRefused, 'AccessDenied'));

test('without the right to list uploads everything else is swept, with a warning', async () => {
  class NoUploads extends FilesystemStore {
    override sweep = refuse;
  }
  expect(await run(new NoUploads({ path: root }))).toEqual({
    swept: [`orders/${REST}.db`],
    warnings: ['leftovers of dead runs could not be removed: AccessDenied'],
  });
});

test('without the right to delete it is a warning', async () => {
  class AppendOnly extends FilesystemStore {
    override delete = refuse;
  }
  expect(await run(new AppendOnly({ path: root }))).toMatchObject({
    swept: [],
    warnings: [expect.stringContaining('AccessDenied')],
  });
  expect(await left()).toHaveLength(5);
});

test('a payload that another manifest names is not swept', async () => {
  const store = new FilesystemStore({ path: root });
  const key = `orders/${REST}.db`;
  expect(await sweep(store, 'orders', 24 * hour, new Set([key]), { warn: () => {} })).toEqual([]);
  await writeFile(join(root, `${key}.json`), '{}');
  const old = new Date(Date.now() - 48 * hour);
  await utimes(join(root, `${key}.json`), old, old);
  expect(await run(store)).toEqual({ swept: [], warnings: [] });
});

test('an object that another run, such as a copy, has stored since the listing is kept', async () => {
  const store = new FilesystemStore({ path: root });
  const names = await listNames(store, 'orders', {});
  await writeFile(join(root, 'orders', `${REST}.db`), 'anew');
  expect(await sweep(store, 'orders', 24 * hour, new Set(), { warn: () => {}, names })).toEqual([]);
  expect(await left()).toHaveLength(5);
});
