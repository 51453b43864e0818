import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentError, ExitCode } from '../../../lib/errors.ts';
import { FilesystemStore } from '../../../store/filesystem/filesystem-store.ts';
import { holderOf, locate, otherFolders } from './locate.ts';

const wanted = { cluster: 'orders', namespace: 'shop' };

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'locate-'));
  await mkdir(join(root, 'prod/orders'), { recursive: true });
  await writeFile(join(root, 'prod/orders/etcd-snapshot-20260101-000000-aaaaaa.json'), '{}');
});
afterEach(() => rm(root, { recursive: true }));

/** Lists what there is, and then fails, or never ends. */
class Listing extends FilesystemStore {
  readonly #end: () => Promise<unknown>;

  constructor(end: () => Promise<unknown>) {
    super({ path: root });
    this.#end = end;
  }

  override async *list(prefix: string, options: { signal?: AbortSignal } = {}) {
    yield* super.list(prefix, options);
    await this.#end();
  }
}
const hang = () => new Promise<never>(() => {});

test('a command that finds nothing names the folders with snapshots of that name', async () => {
  expect(await otherFolders(new FilesystemStore({ path: root }), wanted, {})).toEqual({
    ...{ kind: 'elsewhere', folders: ['prod/orders (1)'], isNamesake: true },
  });
});

describe('nothing is known of other folders', () => {
  test('if the listing never ends', async () => {
    expect(await otherFolders(new Listing(hang), wanted, { limit: 50 })).toBeUndefined();
  });

  test.each([
    ['an error of the store', new AgentError(ExitCode.storeUnreachable, 'gone')],
    ['any other', new TypeError('broken')],
  ])('as the listing fails with %s', async (_what, error) => {
    expect(await otherFolders(new Listing(() => Promise.reject(error)), wanted, {})).toBeUndefined();
  });

  test('if the time limit of the run is reached', async () => {
    const { signal, abort } = aborting(new AgentError(ExitCode.timedOut, 'not done'));
    expect(
      await otherFolders(new Listing(() => Promise.resolve(abort()).then(hang)), wanted, { signal }),
    ).toBeUndefined();
  });
});

test('a search for the namespace ends with the run, even if the store does not answer', async () => {
  const { signal, abort } = aborting(new AgentError(ExitCode.timedOut, 'not done'));
  const store = new Listing(() => Promise.resolve(abort()).then(hang));
  await expect(locate(store, { cluster: 'orders' }, { signal, warn: () => {} })).rejects.toThrow('not done');
});

test('a run that is stopped ends', async () => {
  const { signal, abort } = aborting(new Error('stopped'));
  const store = new Listing(() => Promise.resolve(abort()).then(hang));
  await expect(otherFolders(store, wanted, { signal })).rejects.toThrow('stopped');
});

function aborting(reason: Error) {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(reason) };
}

describe('a folder of the same name without a manifest', () => {
  const warnings: string[] = [];
  const found = () =>
    locate(new FilesystemStore({ path: root }), { cluster: 'orders' }, { warn: (message) => warnings.push(message) });
  const putBeside = async (name: string) => {
    await mkdir(join(root, 'orders'), { recursive: true });
    await writeFile(join(root, 'orders', `etcd-snapshot-20260101-000000-bbbbbb${name}`), '');
  };
  beforeEach(() => {
    warnings.length = 0;
  });

  test('is ignored, with a warning, if it has no snapshot at all', async () => {
    await putBeside('.pin');
    expect(await found()).toEqual({ cluster: 'orders', namespace: 'prod' });
    expect(warnings).toEqual([
      expect.stringMatching(/: orders \(no snapshot, only objects that lay beside one\) is ignored$/),
    ]);
  });

  test('is listed with the number of its payloads if it has some', async () => {
    await putBeside('.db.zst');
    const folders = ['orders (1 without a manifest, as a killed backup or copy leaves it)', 'prod/orders (1)'];
    await expect(found()).rejects.toMatchObject({
      message: expect.stringContaining(folders.join(', ')),
      finding: { kind: 'severalFolders', namespaces: ['', 'prod'] },
    });
    expect(await otherFolders(new FilesystemStore({ path: root }), wanted, {})).toMatchObject({ folders });
  });

  test('is used if there is no other', async () => {
    await rm(join(root, 'prod'), { recursive: true });
    await putBeside('.pin');
    expect(await found()).toEqual({ cluster: 'orders', namespace: undefined });
  });
});

test('a folder whose name cannot be that of a cluster is ignored, because the name may be a command', async () => {
  const id = 'etcd-snapshot-20260101-000000-aaaaaa';
  const putFolder = async (folder: string) => {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, `${id}.json`), '{}');
  };
  await rm(join(root, 'prod'), { recursive: true });
  for (const folder of ['$(touch pwned)', 'prod/`id`', 'a b']) await putFolder(folder);
  const store = new FilesystemStore({ path: root });
  expect(await otherFolders(store, { cluster: 'orders' }, {})).toBeUndefined();
  expect(await holderOf(store, id, { cluster: 'orders' }, {})).toBeUndefined();
  await putFolder('prod/good.one');
  expect(await holderOf(store, id, { cluster: 'orders' }, {})).toEqual({ cluster: 'good.one', namespace: 'prod' });
});

describe('if the root cannot be listed', () => {
  const refused = () => Promise.reject(new AgentError(ExitCode.storeRefused, 'cannot list /b/ro'));
  class Refusing extends Listing {
    override async *list(prefix: string, options: { signal?: AbortSignal } = {}) {
      if (prefix === '') await refused();
      yield* FilesystemStore.prototype.list.call(this, prefix, options);
    }
  }
  const found = (warn = (_message: string) => {}) => locate(new Refusing(refused), { cluster: 'orders' }, { warn });

  test('a folder without a namespace is used if it has objects, with a warning', async () => {
    await mkdir(join(root, 'orders'));
    await writeFile(join(root, 'orders/etcd-snapshot-20260101-000000-bbbbbb.json'), '{}');
    const warnings: string[] = [];
    expect(await found((message) => warnings.push(message))).toEqual({ cluster: 'orders', namespace: undefined });
    expect(warnings).toEqual([expect.stringContaining('cannot list /b/ro')]);
  });

  test('the run ends with that error otherwise: the folder may be below a namespace', async () => {
    await expect(found()).rejects.toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: 'cannot list /b/ro, so the folder of orders cannot be found',
      finding: { kind: 'namespaceUnknown' },
    });
  });
});
