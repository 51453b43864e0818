import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ManifestChanges, manifestOf } from '../../../test/support/manifest-of.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { readCatalog } from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import { sweep } from './sweep.ts';

const BEFORE = 'etcd-snapshot-20251231-000000-999999';
const WHOLE = 'etcd-snapshot-20260101-000000-aaaaaa';
const PINNED = 'etcd-snapshot-20260101-000000-bbbbbb';
const REST = 'etcd-snapshot-20260101-000000-cccccc';
const hour = 3_600_000;

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sweep-'));
  await mkdir(join(root, 'orders'));
  // Older than all leftovers, and newer.
  await snapshot(BEFORE, { createdAt: '2025-12-31T00:00:00.000Z' });
  await snapshot(WHOLE, { createdAt: '2026-01-01T00:00:01.500Z' });
  for (const name of [`${PINNED}.db`, `${PINNED}.pin`, `${REST}.db`, `${REST}.taking`]) await writeOld(name);
});
afterEach(() => rm(root, { recursive: true }));

const left = async () => (await readdir(join(root, 'orders'))).sort();
const entries = () => readCatalog(new Folder(new FilesystemStore({ path: root }), 'orders'));
const run = async (store: FilesystemStore) => {
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  const { swept } = await sweep(new Folder(store, 'orders'), 24 * hour, await entries(), { warn });
  return { swept, warnings };
};
/** Writes an object that is two days old. */
async function writeOld(name: string, text: string | Buffer = 'x'): Promise<void> {
  const path = join(root, 'orders', name);
  await writeFile(path, text);
  const old = new Date(Date.now() - 48 * hour);
  await utimes(path, old, old);
}
async function snapshot(id: string, changes: ManifestChanges = {}): Promise<void> {
  await writeOld(`${id}.db`);
  await writeOld(`${id}.json`, JSON.stringify(manifest(id, changes)));
}
const manifest = (id: string, { content, ...changes }: ManifestChanges = {}) =>
  manifestOf(Buffer.alloc(64), Buffer.from('x'), { id, content: { revision: 10, ...content }, ...changes });

/** Lists only the payloads of the folder, as a listing that is cut short may. */
class CutShort extends FilesystemStore {
  override async *list(prefix: string) {
    const isWhole = prefix !== 'orders/';
    for await (const object of super.list(prefix)) if (isWhole || object.key.endsWith('.db')) yield object;
  }
}

test('only leftovers of a dead run are deleted', async () => {
  const swept = [`orders/${REST}.db`, `orders/${REST}.taking`];
  expect(await run(new FilesystemStore({ path: root }))).toEqual({ swept, warnings: [] });
  expect(await left()).toEqual([
    `${BEFORE}.db`,
    `${BEFORE}.json`,
    `${WHOLE}.db`,
    `${WHOLE}.json`,
    `${PINNED}.db`,
    `${PINNED}.pin`,
  ]);
});

test('nothing is deleted with a listing that is cut short, and no payload without a marker: its manifest was lost', async () => {
  const before = await left();
  expect(await run(new CutShort({ path: root }))).toEqual({ swept: [], warnings: [] });
  await rm(join(root, `orders/${REST}.taking`));
  expect(await run(new FilesystemStore({ path: root }))).toEqual({ swept: [], warnings: [] });
  expect(await left()).toEqual(before.filter((name) => name !== `${REST}.taking`));
});

test('a marker beside a whole snapshot is removed, and a note of a restore never is', async () => {
  for (const marker of ['taking', 'deleting']) await writeOld(`${WHOLE}.${marker}`);
  // Another object beside it is young, as is what an hourly `verify` writes.
  await writeFile(join(root, `orders/${WHOLE}.pin`), '');
  await writeOld(`${REST}.restored-c1.json`, '{}');
  const { swept } = await run(new FilesystemStore({ path: root }));
  expect(swept.sort()).toEqual([
    ...[`orders/${WHOLE}.deleting`, `orders/${WHOLE}.taking`, `orders/${REST}.db`, `orders/${REST}.taking`],
  ]);
  expect(await left()).toContain(`${REST}.restored-c1.json`);
});

const refuse = (): Promise<never> => Promise.reject(new AgentError(ExitCode.storeRefused, 'AccessDenied'));

test('without the right to list uploads everything else is swept, with a warning', async () => {
  class NoUploads extends FilesystemStore {
    override sweep = refuse;
  }
  expect(await run(new NoUploads({ path: root }))).toEqual({
    swept: [`orders/${REST}.db`, `orders/${REST}.taking`],
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
  expect(await left()).toHaveLength(8);
});

test('a payload that another manifest names is not swept', async () => {
  const store = new FilesystemStore({ path: root });
  const key = `orders/${REST}.db`;
  const copied = 'copied';
  await writeOld(
    `${copied}.json`,
    JSON.stringify(manifestOf(Buffer.alloc(64), Buffer.from('x'), { id: copied, object: { key } })),
  );
  expect(await run(store)).toEqual({ swept: [], warnings: [] });
  await rm(join(root, `orders/${copied}.json`));
  await writeOld(`${REST}.db.json`, '{}');
  expect(await run(store)).toEqual({ swept: [], warnings: [] });
  await rm(join(root, `orders/${REST}.db.json`));
  expect(await run(store)).toEqual({ swept: [key, `orders/${REST}.taking`], warnings: [] });
});

test('an object that another run, such as a copy, has stored since the listing is kept', async () => {
  const store = new FilesystemStore({ path: root });
  const names = await new Folder(store, 'orders').list();
  await writeFile(join(root, 'orders', `${REST}.db`), 'anew');
  expect(
    await sweep(new Folder(store, 'orders'), 24 * hour, await entries(), { warn: () => {}, listing: names }),
  ).toEqual({ swept: [] });
  expect(await left()).toHaveLength(8);
});

test.each([6, -6, 2_880])(
  'nothing is deleted while the clock of the store is %d minutes ahead of ours',
  async (minutes) => {
    class Off extends FilesystemStore {
      override now = async () => new Date(Date.now() + minutes * 60_000);
    }
    const before = await left();
    for (const name of ['.check-0123456789abcdef', 'weekly.deleting']) await writeOld(name);
    expect(await run(new Off({ path: root }))).toEqual({ swept: [], warnings: [] });
    expect(await left()).toEqual(expect.arrayContaining(before));
  },
);

test('one leftover that may not be deleted does not keep the others', async () => {
  const refused = 'etcd-snapshot-20251230-000000-000000';
  for (const name of [`${refused}.taking`, '.check-0123456789abcdef']) await writeOld(name);
  await writeOld('weekly.deleting', JSON.stringify({ payload: 'orders/weekly.db' }));
  class Refusing extends FilesystemStore {
    override async delete(key: string) {
      if (!key.includes(REST)) throw new AgentError(ExitCode.storeRefused, `${key}: AccessDenied`);
      return super.delete(key);
    }
  }
  const { swept, warnings } = await run(new Refusing({ path: root }));
  expect(swept).toEqual([`orders/${REST}.db`, `orders/${REST}.taking`]);
  expect(warnings).toEqual([expect.stringMatching(/^leftovers .* orders\/\.check-.*: AccessDenied \(and 2 more\)$/)]);
});

test('a store that refuses every deletion is asked only so often', async () => {
  let asked = 0;
  class Refusing extends FilesystemStore {
    override async delete(): Promise<never> {
      asked++;
      throw new AgentError(ExitCode.storeRefused, 'AccessDenied');
    }
  }
  for (let n = 0; n < 60; n++) await writeOld(`etcd-snapshot-20251230-000000-0000${n + 10}.taking`);
  expect((await run(new Refusing({ path: root }))).warnings).toHaveLength(1);
  expect(asked).toBe(20);
});

test('a payload whose marker names another etcd than the snapshots around it is kept', async () => {
  await writeOld(`${REST}.taking`, JSON.stringify({ clusterId: 'bbbb' }));
  const { clusterId } = manifest(WHOLE).source;
  expect((await run(new FilesystemStore({ path: root }))).swept).toEqual([]);
  await writeOld(`${REST}.taking`, JSON.stringify({ clusterId }));
  expect((await run(new FilesystemStore({ path: root }))).swept).toContain(`orders/${REST}.db`);
});

test('a payload that retention was deleting is swept, although no snapshot is older', async () => {
  await rm(join(root, `orders/${BEFORE}.json`));
  for (const name of [`${REST}.db`, `${REST}.taking`]) await rm(join(root, 'orders', name));
  const key = `orders/${BEFORE}.db`;
  expect((await run(new FilesystemStore({ path: root }))).swept).toEqual([]);
  await writeOld(`${BEFORE}.deleting`);
  expect((await run(new FilesystemStore({ path: root }))).swept.sort()).toEqual([key, `orders/${BEFORE}.deleting`]);
});

describe('under a name of the user', () => {
  const begun = async (payload = 'orders/monthly.1.db') => {
    for (const name of ['monthly.1.db', 'monthly-1.verify.json', 'monthly-1.txt']) await writeOld(name);
    await writeOld('monthly-1.deleting', JSON.stringify({ payload }));
    for (const name of [`${REST}.db`, `${REST}.taking`]) await rm(join(root, 'orders', name));
  };
  const swept = async () => (await run(new FilesystemStore({ path: root }))).swept.sort();
  const gone = ['orders/monthly-1.deleting', 'orders/monthly-1.verify.json', 'orders/monthly.1.db'];

  test('what retention was deleting is swept, with the payload that its marker names, and nothing else', async () => {
    await begun();
    expect(await swept()).toEqual(gone);
    expect(await left()).toContain('monthly-1.txt');
  });

  test.each(['monthly-1.json', 'monthly-1.pin', 'monthly.1.db.json', 'monthly.json', 'monthly.pin'])(
    'no payload is swept while %s exists',
    async (name) => {
      await begun();
      await writeOld(name, name.endsWith('.json') ? JSON.stringify(manifest('other')) : '');
      await swept();
      expect(await left()).toContain('monthly.1.db');
    },
  );

  test.each([`orders/${WHOLE}.db`, '../monthly.1.db', 'other/monthly.1.db', ''])(
    'a marker that names %p deletes nothing',
    async (payload) => {
      await begun(payload);
      expect(await swept()).toEqual([]);
    },
  );

  test('a payload that was stored since is kept, and so is the marker', async () => {
    await begun();
    await writeFile(join(root, 'orders/monthly.1.db'), 'anew');
    expect(await swept()).toEqual([]);
  });

  test('a marker beside a whole snapshot is removed', async () => {
    await begun();
    await writeOld('monthly.1.db');
    await writeOld('monthly-1.json', JSON.stringify(manifest('monthly-1', { object: { key: 'orders/monthly.1.db' } })));
    expect(await swept()).toEqual(['orders/monthly-1.deleting']);
  });
});

describe('a payload without a manifest may be good, and is kept', () => {
  const later = { createdAt: '2026-02-01T00:00:00.000Z' };
  const newer = 'etcd-snapshot-20260201-000000-dddddd';
  const expectKept = async () => {
    expect(await run(new FilesystemStore({ path: root }))).toEqual({ swept: [], warnings: [] });
    expect(await left()).toContain(`${REST}.db`);
  };
  beforeEach(() => rm(join(root, `orders/${WHOLE}.json`)));

  test('if no snapshot has a manifest', async () => {
    await rm(join(root, `orders/${BEFORE}.json`));
    await expectKept();
  });

  test('if all that are verified are older', async () => {
    await expectKept();
  });

  test('if there is none before it', async () => {
    await snapshot(newer, later);
    await rm(join(root, `orders/${BEFORE}.json`));
    await expectKept();
  });

  test.each<[string, ManifestChanges, ManifestChanges]>([
    ['fell', { content: { revision: 11 } }, {}],
    ['of the one before is not known', { content: { revision: undefined } }, {}],
    ['of the one after is not known', {}, { content: { revision: undefined } }],
  ])('if the revision of the same etcd %s', async (_, before, after) => {
    await snapshot(BEFORE, { createdAt: '2025-12-31T00:00:00.000Z', ...before });
    await snapshot(newer, { ...later, ...after });
    await expectKept();
  });

  test('if the newer one that is verified is from after a fall of the revision', async () => {
    await snapshot(newer, { ...later, verified: undefined, content: { revision: 12 } });
    await snapshot('etcd-snapshot-20260202-000000-dddddd', { createdAt: '2026-02-02T00:00:00.000Z' });
    await expectKept();
  });

  test.each(['20251231-120000', '20260101-000002'])('if the one beside it is adopted: %s', async (time) => {
    const [, day, clock] = /(.*)-(.*)/.exec(time)!;
    const createdAt = new Date(
      `${day!.replace(/(....)(..)(..)/, '$1-$2-$3')}T${clock!.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`,
    ).toISOString();
    await snapshot(newer, later);
    await snapshot('adopted', { createdAt, source: { clusterId: 'unknown' } });
    await expectKept();
  });

  test.each([
    ['damaged', `${PINNED}.json`, '{'],
    ['damaged, under a name of the user’s own', 'nightly.json', '{'],
    ['of a newer format', 'nightly.json', '{"schema":"cdk8s-etcd/snapshot/v2"}'],
    ['that of another snapshot', 'nightly.json', JSON.stringify(manifest(newer))],
  ])('if a manifest in the folder is %s; what is no payload is swept', async (_, name, text) => {
    await snapshot(newer, later);
    await writeOld('nightly.db');
    await writeOld(name, text);
    const rest = 'etcd-snapshot-20260101-000000-eeeeee.extra.tar.age';
    await writeOld(rest);
    expect((await run(new FilesystemStore({ path: root }))).swept).toEqual([`orders/${rest}`]);
  });

  test('if the manifest of a snapshot whose name has no ending is damaged', async () => {
    await snapshot(newer, later);
    await writeOld('etcd-snapshot-node1-1795228687');
    await writeOld('etcd-snapshot-node1-1795228687.json', '{');
    await expectKept();
  });

  test('if a manifest is refused', async () => {
    await snapshot(newer, later);
    class Refusing extends FilesystemStore {
      override get(key: string) {
        return key.endsWith(`${BEFORE}.json`) ? refuse() : super.get(key);
      }
    }
    const store = new Refusing({ path: root });
    const listed = await readCatalog(new Folder(store, 'orders'));
    expect(await sweep(new Folder(store, 'orders'), 24 * hour, listed, { warn: () => {} })).toEqual({ swept: [] });
  });

  test('if `adopt` begins while the successor is read', async () => {
    await snapshot(newer, later);
    const listed = await entries();
    class Slow extends FilesystemStore {
      override async get(key: string) {
        await writeOld(`${REST}.db.adopting-123456`);
        const now = new Date(Date.now() - hour);
        await utimes(join(root, `orders/${REST}.db.adopting-123456`), now, now);
        return super.get(key);
      }
    }
    expect(
      (await sweep(new Folder(new Slow({ path: root }), 'orders'), hour / 2, listed, { warn: () => {} })).swept,
    ).not.toContain(`orders/${REST}.db`);
  });

  test.each<[string, ManifestChanges]>([
    ['not verified', { verified: undefined }],
    ['suspect', { source: { suspect: ['CORRUPT'] } }],
    ['of another cluster', { cluster: { name: 'payments' } }],
    ['of an unknown etcd', { source: { clusterId: 'unknown' } }],
    ['dated in the future', { createdAt: new Date(Date.now() + 48 * hour).toISOString() }],
    ['without its payload', { object: { key: 'orders/gone.db' } }],
    ['with a payload of another size', { object: { sizeBytes: 7 } }],
  ])('if the newer one is %s', async (_, changes) => {
    await snapshot(newer, { ...later, ...changes });
    await expectKept();
  });

  test('if the newer one is no longer what was listed', async () => {
    await snapshot(newer, later);
    const listed = await entries();
    await writeOld(`${newer}.json`, JSON.stringify(manifest(newer, { ...later, verified: undefined })));
    expect(
      await sweep(new Folder(new FilesystemStore({ path: root }), 'orders'), 24 * hour, listed, { warn: () => {} }),
    ).toEqual({
      swept: [],
    });
    expect(await left()).toContain(`${REST}.db`);
  });

  test('if the snapshot before it is of another etcd than the one after it', async () => {
    await snapshot(newer, later);
    const before = { createdAt: '2025-12-31T00:00:00.000Z', source: { clusterId: 'b0' } };
    await snapshot(BEFORE, before);
    await expectKept();
    await snapshot('etcd-snapshot-20251231-010000-eeeeee', { createdAt: '2025-12-31T01:00:00.000Z' });
    expect((await run(new FilesystemStore({ path: root }))).swept).toContain(`orders/${REST}.db`);
  });

  test('for a day while `adopt` is reading it, however short the age', async () => {
    await snapshot(newer, later);
    const store = new FilesystemStore({ path: root });
    const marker = join(root, `orders/${REST}.db.adopting-3f9c2a`);
    await writeFile(marker, '');
    const hours = async (ago: number) => {
      const time = new Date(Date.now() - ago * hour);
      await utimes(marker, time, time);
      return (await sweep(new Folder(store, 'orders'), hour, await entries(), { warn: () => {} })).swept;
    };
    expect(await hours(2)).not.toContain(`orders/${REST}.db`);
    expect(await hours(25)).toEqual(expect.arrayContaining([`orders/${REST}.db`, `orders/${REST}.db.adopting-3f9c2a`]));
  });
});

test('a marker beside a whole snapshot that retention writes again meanwhile stays', async () => {
  await writeOld(`${WHOLE}.deleting`, '{}');
  const store = new FilesystemStore({ path: root });
  const listing = await new Folder(store, 'orders').list();
  await writeFile(join(root, 'orders', `${WHOLE}.deleting`), '{}');
  await sweep(new Folder(store, 'orders'), 24 * hour, await entries(), { listing, warn: () => {} });
  expect(await left()).toContain(`${WHOLE}.deleting`);
});
