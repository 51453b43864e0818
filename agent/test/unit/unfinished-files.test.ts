// A folder that holds only files of a dead run, or of one in progress, is not described as empty.
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { runHere } from '../support/in-process.ts';

const id = 'etcd-snapshot-20261121-020000-000001';
const since = new Date('2026-11-21T02:00:00Z');
const { unfinished } = FilesystemStore.prototype;
let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'unfinished-'));
  await leave(`orders/${id}.db.zst.0123abcd.part`, since);
});
afterEach(async () => {
  FilesystemStore.prototype.unfinished = unfinished;
  await rm(path, { recursive: true });
});

async function leave(name: string, time: Date): Promise<void> {
  const file = join(path, name);
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, 'x');
  await utimes(file, time, time);
}
const run = (command: string, ...more: string[]) =>
  runHere(...command.split(' '), '--cluster=orders', `--store=file://${path}`, ...more);

const one =
  '; orders has 1 unfinished .part file, from 2026-11-21T02:00:00.000Z: a backup or copy is running, or was killed; the next backup or prune removes it once it is older than --sweep-age, by default a day';
const commands: [string, ...string[]][] = [
  ['list'],
  ['status'],
  ['verify'],
  ['adopt'],
  ['prune', '--retention=last=3', '--dry-run'],
  ['restore fetch', '--to=/nowhere/x'],
  ['show'],
];

test.each(commands)('%s says that an unfinished file is there', async (...args) => {
  const { text } = await run(...args);
  expect(text).toContain(one);
  expect(text).not.toMatch(/empty|no folder/);
});

test('also beside the marker of a backup', async () => {
  await leave(`orders/${id}.taking`, since);
  expect((await run('list')).text).toContain(one);
});

test('the list of clusters says it too', async () => {
  const { text } = await runHere('list', `--store=file://${path}`);
  expect(text).toBe(`no snapshots in file://${path}${one.replace('orders', 'the store')}`);
});

test('several are counted, with the time of the oldest', async () => {
  await leave(`orders/${id}.extra.tar.age.89abcdef.part`, new Date('2026-11-21T01:00:00Z'));
  await leave('orders/foreign.part', new Date(0));
  expect((await run('list')).text).toContain(
    '; orders has 2 unfinished .part files, the oldest from 2026-11-21T01:00:00.000Z: a backup or copy is running, or was killed; the next backup or prune removes them once they are older than',
  );
});

test('what cannot be counted changes nothing', async () => {
  // biome-ignore lint/correctness/useYield: a store that refuses
  FilesystemStore.prototype.unfinished = async function* () {
    throw new Error('refused');
  };
  expect(await run('list')).toMatchObject({ exitCode: 0, text: expect.stringContaining('no snapshots of orders') });
});
