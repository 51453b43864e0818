import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryOf } from '../../../test/support/entry-of.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { Budget } from '../../lib/limits/budget.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { CommandContext } from '../cli/command.ts';
import { servedInStore } from './served-in-store.ts';
import { openedStore } from './store-run.ts';

const [early, later] = ['etcd-snapshot-20261101-020000-00000a', 'etcd-snapshot-20261102-020000-00000b'];

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'served-'));
  await mkdir(join(path, 'orders'));
});
afterEach(() => rm(path, { recursive: true }));

const bytes = Buffer.from('x');
const manifest = (id: string, createdAt: string, revision: number) =>
  manifestOf(bytes, bytes, { id, createdAt, content: { revision } });
const restored = entryOf(manifest(early, '2026-11-01T02:00:00Z', 7));

async function served(key = `orders/${early}.json`, isAway = false, broken?: 'get' | 'list') {
  const { signal } = new AbortController();
  const settings = { wanted: () => ({ cluster: 'orders' }) };
  const context = { signal, budget: new Budget({ signal }), settings, log: { warn() {} } } as unknown as CommandContext;
  const store = new FilesystemStore({ path });
  const opened = await openedStore(store, {} as never, context);
  if (isAway) Object.assign(opened, { readAnswering: () => Promise.reject(new Error('503')) });
  const fails = () => {
    throw new AgentError(ExitCode.storeUnreachable, '503');
  };
  if (broken) Object.assign(store, { [broken]: fails });
  return servedInStore(opened, { ...restored, manifestKey: key }, context);
}

test('the backups in the folder and the snapshot itself count', async () => {
  await writeFile(join(path, `orders/${later}.json`), JSON.stringify(manifest(later, '2026-11-02T02:00:00Z', 9)));
  expect(await served()).toMatchObject({
    inStore: [{ revision: 9 }, { revision: 7 }],
    newest: { id: later },
    notes: [],
  });
});

test('a folder that cannot be listed leaves the snapshot itself', async () => {
  expect(await served(undefined, true)).toMatchObject({ inStore: [{ revision: 7 }] });
});

test.each([`${later}.restored-c1.json`, '.restored-c1.json'])('the note %s counts', async (name) => {
  await writeFile(join(path, 'orders', name), JSON.stringify({ id: 'x', clusterId: 'c1', revision: 5e9 }));
  expect(await served()).toMatchObject({ notes: [{ id: 'x', revision: 5e9 }] });
});

test('the note of a member marks its cluster', async () => {
  await writeFile(join(path, `orders/${early}.restored-c1-a1.json`), '{}');
  await writeFile(join(path, `orders/${early}.restored-c2.json`), '{}');
  await writeFile(join(path, `orders/${early}.agreed-c3.json`), '{}');
  expect((await served()).marked).toEqual(['c1']);
});

test.each(['get', 'list'] as const)('what %s does not give of the notes counts as unread', async (method) => {
  await writeFile(join(path, `orders/${early}.restored-c1.json`), '{}');
  expect((await served()).unread).toBeUndefined();
  expect((await served(undefined, true, method)).unread).toBe('503');
});

test('a note beside a snapshot under an exact key counts', async () => {
  await mkdir(join(path, 'special'));
  await writeFile(join(path, 'special/orders.db.restored-beef.json'), JSON.stringify({ revision: 9e9 }));
  await writeFile(join(path, 'special/orders.db.agreed-fee.json'), '{}');
  const { notes } = await served('special/orders.db.json');
  expect(notes.map(({ clusterId, revision }) => [clusterId, revision]).sort()).toEqual([
    ['beef', 9e9],
    ['fee', undefined],
  ]);
  expect((await served()).notes).toEqual([]);
});
