import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf } from '../../../../test/support/manifest-of.ts';
import { AgentError, ExitCode } from '../../../lib/errors.ts';
import { FilesystemStore } from '../../../store/filesystem/filesystem-store.ts';
import { folderWith, locate, otherFoldersHint, sameEtcdElsewhere } from './locate.ts';

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
  const hint = await otherFoldersHint(new FilesystemStore({ path: root }), wanted, {});
  expect(hint).toBe('; it has snapshots of prod/orders (1): check --namespace');
});

describe('the hint is empty', () => {
  test('if the listing never ends', async () => {
    expect(await otherFoldersHint(new Listing(hang), wanted, { limit: 50 })).toBe('');
  });

  test.each([
    ['an error of the store', new AgentError(ExitCode.storeUnreachable, 'gone')],
    ['any other', new TypeError('broken')],
  ])('as the listing fails with %s', async (_what, error) => {
    expect(await otherFoldersHint(new Listing(() => Promise.reject(error)), wanted, {})).toBe('');
  });

  test('if the time limit of the run is reached', async () => {
    const { signal, abort } = aborting(new AgentError(ExitCode.timedOut, 'not done'));
    expect(await otherFoldersHint(new Listing(() => Promise.resolve(abort()).then(hang)), wanted, { signal })).toBe('');
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
  await expect(otherFoldersHint(store, wanted, { signal })).rejects.toThrow('stopped');
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
    await expect(found()).rejects.toThrow(
      /orders \(1 without a manifest, as a killed backup or copy leaves it\), prod\/orders \(1\); pass --namespace= or --namespace=prod$/,
    );
    expect(await otherFoldersHint(new FilesystemStore({ path: root }), wanted, {})).toMatch(
      /snapshots of orders \(1 without a manifest, as a killed backup or copy leaves it\), prod\/orders \(1\)/,
    );
  });

  test('is used if there is no other', async () => {
    await rm(join(root, 'prod'), { recursive: true });
    await putBeside('.pin');
    expect(await found()).toEqual({ cluster: 'orders', namespace: undefined });
  });
});

describe('a folder with snapshots of the same etcd', () => {
  const id = 'etcd-snapshot-20260101-000000-aaaaaa';
  const manifest = manifestOf(Buffer.from('x'), undefined, { id });
  const { clusterId } = manifest.source;
  const putFolder = async (folder: string, content: object = manifest) => {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, `${id}.json`), JSON.stringify(content));
  };
  const orders = { cluster: 'orders' };

  test('is found although several folders hang', async () => {
    const hanging = ['a', 'b', 'c'].map((namespace) => `${namespace}/orders`);
    for (const folder of [...hanging, 'other']) await putFolder(folder);
    const store = new FilesystemStore({ path: root });
    const { get } = store;
    store.get = (key, ...more) =>
      hanging.some((folder) => key.startsWith(folder)) ? hang() : get.call(store, key, ...more);
    expect(await sameEtcdElsewhere(store, orders, clusterId, {})).toMatch(/pass --cluster=other --namespace=$/);
  }, 9_000);

  test('is ignored if its name cannot be that of a cluster, because the name may be a command', async () => {
    await rm(join(root, 'prod'), { recursive: true });
    for (const folder of ['$(touch pwned)', 'prod/`id`', 'a b']) await putFolder(folder);
    const store = new FilesystemStore({ path: root });
    expect(await sameEtcdElsewhere(store, orders, clusterId, {})).toBeUndefined();
    expect(await otherFoldersHint(store, orders, {})).toBe('');
    expect(await folderWith(store, id, orders, {})).toBe('');
    await putFolder('prod/good.one');
    expect(await folderWith(store, id, orders, {})).toBe(
      '; prod/good.one has it: pass --cluster=good.one --namespace=prod',
    );
    expect(await sameEtcdElsewhere(store, orders, clusterId, {})).toMatch(/pass --cluster=good.one --namespace=prod$/);
  });
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
      message: 'cannot list /b/ro, so the folder of orders cannot be found; pass --namespace, or --namespace= for none',
    });
  });
});
