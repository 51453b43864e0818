import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JOURNAL_SCHEMA, Journal, type JournalContent, stampOf } from './journal.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'journal-'));
});
afterEach(() => rm(parent, { recursive: true }));

const content = (id: string) =>
  ({ schema: JOURNAL_SCHEMA, state: 'prepared', startedAt: '2026-11-22T03:15:00.123Z', id }) as JournalContent;

test('the newest journal is found, with its last state', async () => {
  await Journal.begin(parent, content('a'));
  const second = await Journal.begin(parent, content('b'));
  await second.set({ state: 'stopped' });
  const found = await Journal.newest(parent);
  expect(found?.folder).toBe(join(parent, 'etcd-restore-20261122-031500-1'));
  expect(found?.content).toMatchObject({ id: 'b', state: 'stopped' });
});

test('unused folders of killed runs are removed; folders with a manifest remain', async () => {
  await mkdir(join(parent, 'etcd-restore-1', 'manifests'), { recursive: true });
  await mkdir(join(parent, 'etcd-restore-2', 'manifests'), { recursive: true });
  await writeFile(join(parent, 'etcd-restore-2', 'manifests', 'etcd.yaml'), '');
  // Reading does not remove folders: one may belong to a run that has just begun.
  expect(await Journal.newest(parent)).toBeUndefined();
  expect(await readdir(parent)).toEqual(['etcd-restore-1', 'etcd-restore-2']);
  await Journal.tidy(parent);
  expect(await readdir(parent)).toEqual(['etcd-restore-2']);
});

test('a parent that is a file is named', async () => {
  const file = join(parent, 'file');
  await writeFile(file, '');
  await expect(Journal.begin(file, content('a'))).rejects.toThrow(`${file} cannot be read (ENOTDIR)`);
});

test('a journal of another version is refused', async () => {
  const journal = await Journal.begin(parent, content('a'));
  await writeFile(join(journal.folder, 'journal.json'), '{"schema":"cdk8s-etcd/control-plane-restore/v2"}');
  await expect(Journal.newest(parent)).rejects.toThrow(/another version/);
});

test('the journal that was begun last is the newest, even if the clock went back', async () => {
  const ended = await Journal.begin(parent, { ...content('a'), startedAt: '2026-11-23T03:15:00.000Z' });
  await ended.set({ state: 'done' });
  const killed = await Journal.begin(parent, content('b'));
  await killed.set({ state: 'stopped' });
  expect((await Journal.newest(parent))?.content).toMatchObject({ id: 'b', state: 'stopped' });
  await Journal.begin(parent, content('c'));
  expect((await Journal.all(parent)).map((each) => each.content.id)).toEqual(['c', 'b', 'a']);
});

test.each(['', '{"schema":', 'null'])('a journal with the content %j is refused with a remedy', async (text) => {
  const journal = await Journal.begin(parent, content('a'));
  await writeFile(join(journal.folder, 'journal.json'), text);
  await expect(Journal.newest(parent)).rejects.toThrow(
    /journal\.json is truncated or damaged; if its restore has ended/,
  );
});

test('a stamp is in UTC', () => {
  expect(stampOf(new Date('2026-11-22T03:15:00.000Z'))).toBe('20261122-031500');
});

test('a journal that cannot be read is not one that has ended', async () => {
  const journal = await Journal.begin(parent, content('a'));
  await rm(join(journal.folder, 'journal.json'));
  await mkdir(join(journal.folder, 'journal.json'));
  await expect(Journal.newest(parent)).rejects.toMatchObject({
    exitCode: 40,
    message: expect.stringMatching(/journal\.json cannot be read \(EISDIR\)/),
  });
});
