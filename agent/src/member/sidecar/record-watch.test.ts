import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordOf } from '../../protocol/record.fixture.ts';
import type { RecordAnswer } from '../../protocol/record-schema.ts';
import { cacheRecord, readCache } from '../record/record-cache.ts';
import { openRecordSource } from '../record/record-source.ts';
import { RecordWatch } from './record-watch.ts';

const signal = new AbortController().signal;
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'record-'));
});
afterEach(() => rm(directory, { recursive: true }));

function watching(cache = recordOf()) {
  let answer: RecordAnswer | Error = { kind: 'none' };
  const source = {
    read: async () => {
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const watch = new RecordWatch(source, cache);
  const reads = async (next: RecordAnswer | Error) => {
    answer = next;
    return watch.read('uid', signal);
  };
  return { watch, reads };
}

test('a newer record takes the place of the one before, and permits count only while it is read', async () => {
  const { watch, reads } = watching();
  expect(watch).toMatchObject({ newest: { rev: 7 }, live: undefined });
  expect(await reads({ kind: 'record', doc: recordOf({ rev: 8 }) })).toBe(true);
  expect(watch).toMatchObject({ newest: { rev: 8 }, live: { rev: 8 }, problem: undefined });
  expect(await reads({ kind: 'record', doc: recordOf({ rev: 8 }) })).toBe(false);

  expect(await reads(new Error('no route'))).toBe(false);
  expect(watch).toMatchObject({ newest: { rev: 8 }, live: undefined, problem: { reason: 'RecordUnreachable' } });
});

test.each([
  ['none', { kind: 'none' }, 'NoRecord'],
  ['one that is not understood', { kind: 'refused', reason: 'novelty' }, 'RecordNotUnderstood'],
  ['one put back', { kind: 'record', doc: recordOf({ rev: 6 }) }, 'RecordRolledBack'],
  ['one of another cluster', { kind: 'record', doc: recordOf({ rev: 9, clusterUid: 'x' }) }, 'ForeignRecord'],
] as const)('%s leaves what was seen, and says why', async (_, answer, reason) => {
  const { watch, reads } = watching();
  expect(await reads(answer)).toBe(false);
  expect(watch).toMatchObject({ newest: recordOf(), live: undefined, problem: { reason } });
});

test('the cache never goes back, except to another cluster', async () => {
  expect(await readCache(directory)).toBeUndefined();
  await cacheRecord(directory, recordOf({ rev: 8 }));
  await cacheRecord(directory, recordOf({ rev: 7 }));
  expect(await readCache(directory)).toEqual(recordOf({ rev: 8 }));
  await cacheRecord(directory, recordOf({ rev: 1, clusterUid: 'other' }));
  expect(await readCache(directory)).toMatchObject({ rev: 1, clusterUid: 'other' });
  expect((await stat(join(directory, 'record-cache.json'))).mode & 0o777).toBe(0o600);
});

test('a damaged cache counts as missing, and is replaced', async () => {
  await writeFile(join(directory, 'record-cache.json'), '{"v":1');
  expect(await readCache(directory)).toBeUndefined();
  await cacheRecord(directory, recordOf());
  expect(await readCache(directory)).toEqual(recordOf());
});

test('a record in a file: present, missing, unreadable', async () => {
  const file = join(directory, 'record.json');
  const source = openRecordSource({ record: `file://${file}`, namespace: 'x', recordTimeout: 1_000 });
  expect(await source.read()).toEqual({ kind: 'none' });
  await writeFile(file, JSON.stringify(recordOf()));
  expect(await source.read()).toEqual({ kind: 'record', doc: JSON.parse(await readFile(file, 'utf8')) });
  const inItsPlace = openRecordSource({ record: `file://${directory}`, namespace: 'x', recordTimeout: 1_000 });
  await expect(inItsPlace.read()).rejects.toThrow(/EISDIR/);
});
