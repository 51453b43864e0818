import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seal } from '../../test/mutations/mutate.ts';
import { runHere } from '../../test/support/in-process.ts';
import { type ManifestChanges, manifestOf } from '../../test/support/manifest-of.ts';

const ids = ['1', '2', '3'].map((n) => `etcd-snapshot-2026112${n}-020000-00000${n}`);
let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'prune-'));
  await mkdir(join(path, 'orders'));
  for (const [at, id] of ids.entries()) await put(id, 10 - at);
});
afterEach(() => rm(path, { recursive: true }));

async function put(id: string, daysAgo: number, changes: ManifestChanges = {}): Promise<void> {
  const snapshot = seal(Buffer.from(id));
  const createdAt = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
  await writeFile(join(path, `orders/${id}.db`), snapshot);
  await writeFile(
    join(path, `orders/${id}.json`),
    JSON.stringify(manifestOf(snapshot, snapshot, { id, createdAt, ...changes })),
  );
}

const prune = (...args: string[]) => runHere('prune', '--cluster=orders', ...args);

test.each(['', 'orders/', 'orders/..', 'orders/\u0000'])(
  'a snapshot whose manifest names the key %j is not the one in favour of which others are deleted',
  async (key) => {
    await put('etcd-snapshot-20261124-020000-000004', 1, { object: { key } });

    const { data } = await prune(`--store=file://${path}`, '--retention=last=1');
    expect(data.deleted).not.toContain(ids[2]);
    expect(await readdir(join(path, 'orders'))).toEqual(expect.arrayContaining([`${ids[2]}.db`, `${ids[2]}.json`]));
  },
);

describe('rules of the store', () => {
  const config = async (retention?: object) => {
    const file = join(path, 'config.json');
    const stores = [{ filesystem: { path }, retention: { last: 2 } }];
    await writeFile(file, JSON.stringify({ stores, ...(retention && { retention }) }));
    return `--config=${file}`;
  };

  test('count without a warning over those that the config file has for all stores', async () => {
    const { log, data } = await prune(await config({ last: 5 }), '--dry-run');
    expect({ log, deleted: data.deleted }).toEqual({ log: [], deleted: [ids[0]] });
  });

  test.each([{ last: 5 }, undefined])('count over --retention, with a warning', async (common) => {
    const { log, data } = await prune(await config(common), '--retention=last=1', '--dry-run');
    expect(log).toEqual([expect.stringMatching(/^--retention=last=1 /)]);
    expect(data.deleted).toEqual([ids[0]]);
  });

  test('count without a warning where --retention says the same', async () => {
    expect((await prune(await config({ last: 5 }), '--retention=last=2', '--dry-run')).log).toEqual([]);
  });
});
