import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seal } from '../../../test/mutations/mutate.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { putJson } from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import { type AdoptContext, findAdoptable, findByKey } from './adopt.ts';

const snapshot = seal(Buffer.from('mine'));
let root: string;
let store: FilesystemStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'busy-'));
  store = new FilesystemStore({ path: join(root, 'to') });
  await mkdir(join(root, 'to/orders'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true }));

const adopting = (backupEnded = false) =>
  ({ store, cluster: 'orders', entries: [], warn: () => {}, backupEnded }) as unknown as AdoptContext;

describe('a file that a copy is writing under a name of the user', () => {
  beforeEach(async () => {
    await writeFile(join(root, 'to/orders/mine.db'), snapshot);
    await writeFile(join(root, 'to/orders/mine.taking'), '{}');
  });
  const age = async (hours: number) => {
    const then = new Date(Date.now() - hours * 3_600_000);
    for (const name of ['mine.db', 'mine.taking']) await utimes(join(root, 'to/orders', name), then, then);
  };

  test('is not adopted unless it is named', async () => {
    expect(await findAdoptable(adopting(), {})).toMatchObject({
      found: [],
      skipped: [{ key: 'orders/mine.db', why: expect.stringMatching(/^a copy is writing it, or was killed/) }],
    });
  });

  test('is refused by its name until the copy is over', async () => {
    await expect(findByKey('orders/mine.db', adopting(), {})).rejects.toMatchObject({
      exitCode: ExitCode.refused,
      message: expect.stringMatching(/its copy may still be running/),
    });
    expect(await findByKey('orders/mine.db', adopting(true), {})).toMatchObject({ id: 'mine' });
    await age(2);
    expect(await findByKey('orders/mine.db', adopting(), {})).toMatchObject({ id: 'mine' });
  });
});

test('a copy does not end well if its file has the manifest of an adopted one by then', async () => {
  const createdAt = new Date(Date.now() - 3_600_000).toISOString();
  const manifest = manifestOf(snapshot, snapshot, { id: 'mine', createdAt });
  await mkdir(join(root, 'from/orders'), { recursive: true });
  await writeFile(join(root, 'from/orders/mine.db'), snapshot);
  await writeFile(join(root, 'from/orders/mine.json'), JSON.stringify(manifest));
  const { put } = FilesystemStore.prototype;
  try {
    FilesystemStore.prototype.put = async function (this: FilesystemStore, key, ...rest) {
      if (key === 'orders/mine.json') {
        FilesystemStore.prototype.put = put;
        await putJson(store, key, { ...manifest, source: { clusterId: 'unknown', alarms: [] } }, {});
      }
      return put.call(this, key, ...rest);
    };
    const { exitCode, text } = await runHere(
      ...['copy', '--cluster=orders', `--store=file://${root}/from`, `--to=file://${root}/to`],
    );
    expect({ exitCode, text }).toMatchObject({
      exitCode: ExitCode.refused,
      text: expect.stringMatching(/another file/),
    });
  } finally {
    FilesystemStore.prototype.put = put;
  }
});

test('only the marker of a deletion that was killed is removed', async () => {
  const folder = new Folder(store, 'orders');
  const marker = join(root, 'to/orders/mine.deleting');
  await writeFile(marker, '{}');
  await folder.dropDeleting('mine');
  expect(await folder.mayBeDeletedUntil('mine')).toBeDefined();
  const old = new Date(Date.now() - 2 * 3_600_000);
  await utimes(marker, old, old);
  await folder.dropDeleting('mine');
  expect(await store.stat('orders/mine.deleting')).toBeUndefined();
});
