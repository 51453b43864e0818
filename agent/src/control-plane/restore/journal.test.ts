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

test('the newest one is found again, with what was noted last', async () => {
  await Journal.begin(parent, content('a'));
  const second = await Journal.begin(parent, content('b'));
  await second.set({ state: 'stopped' });
  const found = await Journal.newest(parent);
  expect(found?.folder).toBe(join(parent, 'etcd-restore-20261122-031500-1'));
  expect(found?.content).toMatchObject({ id: 'b', state: 'stopped' });
});

test('folders of a run that was killed at once go; what holds a manifest stays', async () => {
  await mkdir(join(parent, 'etcd-restore-1', 'manifests'), { recursive: true });
  await mkdir(join(parent, 'etcd-restore-2', 'manifests'), { recursive: true });
  await writeFile(join(parent, 'etcd-restore-2', 'manifests', 'etcd.yaml'), '');
  // Who only looks may see the folder of a run that has just begun.
  expect(await Journal.newest(parent)).toBeUndefined();
  expect(await readdir(parent)).toEqual(['etcd-restore-1', 'etcd-restore-2']);
  await Journal.tidy(parent);
  expect(await readdir(parent)).toEqual(['etcd-restore-2']);
});

test('a journal of another agent is not touched', async () => {
  const journal = await Journal.begin(parent, content('a'));
  await writeFile(join(journal.folder, 'journal.json'), '{"schema":"cdk8s-etcd/control-plane-restore/v2"}');
  await expect(Journal.newest(parent)).rejects.toThrow(/another version/);
});

test('where the clock went back, the last one begun is the newest all the same', async () => {
  const ended = await Journal.begin(parent, { ...content('a'), startedAt: '2026-11-23T03:15:00.000Z' });
  await ended.set({ state: 'done' });
  const killed = await Journal.begin(parent, content('b'));
  await killed.set({ state: 'stopped' });
  expect((await Journal.newest(parent))?.content).toMatchObject({ id: 'b', state: 'stopped' });
  await Journal.begin(parent, content('c'));
  expect((await Journal.all(parent)).map((each) => each.content.id)).toEqual(['c', 'b', 'a']);
});

test.each(['', '{"schema":', 'null'])('a journal that holds %j is named, with what to do', async (text) => {
  const journal = await Journal.begin(parent, content('a'));
  await writeFile(join(journal.folder, 'journal.json'), text);
  await expect(Journal.newest(parent)).rejects.toThrow(
    /journal\.json is truncated or damaged; if its restore has ended/,
  );
});

test('a stamp is a time in UTC', () => {
  expect(stampOf(new Date('2026-11-22T03:15:00.000Z'))).toBe('20261122-031500');
});
