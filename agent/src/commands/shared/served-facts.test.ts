import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { highestInStore } from '../../control-plane/state/served-revisions.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { CommandContext } from '../cli/command.ts';
import { answeringOf } from './answering.ts';
import { servedFacts } from './served-facts.ts';
import { openedStore } from './store-run.ts';

const HOUR = 3_600_000;
const [early, later] = ['etcd-snapshot-20261101-020000-00000a', 'etcd-snapshot-20261102-020000-00000b'];

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'served-'));
  await mkdir(join(path, 'orders'));
  const bytes = Buffer.from('x');
  const createdAt = '2026-11-01T02:00:00Z';
  const manifest = manifestOf(bytes, bytes, { id: early, createdAt, content: { revision: 7 } });
  await writeFile(join(path, `orders/${early}.json`), JSON.stringify(manifest));
  await writeFile(join(path, `orders/${early}.db`), bytes);
});
afterEach(() => rm(path, { recursive: true }));

async function highest() {
  const { signal } = new AbortController();
  const settings = { wanted: () => ({ cluster: 'orders' }) };
  const context = { signal, settings, log: { warn() {} } } as unknown as CommandContext;
  const opened = await openedStore(new FilesystemStore({ path }), {} as never, context);
  const facts = await servedFacts(opened, await answeringOf(opened, context), context);
  const restored = facts.entries.find(({ id }) => id === early)!;
  return highestInStore({ ...facts, restored, revision: 7 });
}

test.each([
  ['was lost', 2],
  ['is not written yet', 0],
])('a later snapshot whose manifest %s makes the revision unknown', async (_, hoursAgo) => {
  expect(await highest()).toEqual({ revision: 7, unknown: [] });
  const payload = join(path, `orders/${later}.db`);
  await writeFile(payload, 'y');
  await utimes(payload, new Date(), new Date(Date.now() - hoursAgo * HOUR));
  expect(await highest()).toEqual({
    revision: 1e9 + 7,
    unknown: [expect.stringMatching(`^${later} was taken later, and it has no manifest`)],
  });
});

test.each([`${later}.restored-c1.json`, '.restored-c1.json'])('the note %s counts', async (name) => {
  await writeFile(join(path, 'orders', name), JSON.stringify({ id: 'x', clusterId: 'c1', revision: 5e9 }));
  expect(await highest()).toEqual({ revision: 5e9, unknown: [] });
});
