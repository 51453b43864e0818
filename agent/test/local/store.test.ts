import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordDoc } from '../../src/protocol/record.ts';
import { RecordFile } from './record-file.ts';
import { Conflict, FileStore } from './store.ts';

const recordOf = (rev: number) => ({ rev }) as RecordDoc;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'store-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const writer = (times: string) => spawn(process.execPath, [join(import.meta.dirname, 'store-writer.mts'), dir, times]);

test('writers in several processes never overwrite each other', async () => {
  const store = new FileStore(dir);
  store.create('counter', { count: 0 });
  const codes = await Promise.all([1, 2, 3].map(() => once(writer('40'), 'exit')));
  expect(codes.map(([code]) => code)).toEqual([0, 0, 0]);
  expect(store.read<{ count: number }>('counter')?.count).toBe(120);
});

test('the lock of a killed process is free', async () => {
  const store = new FileStore(dir);
  store.create('counter', { count: 0 });
  const holder = writer('hold');
  await once(holder.stdout, 'data');
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(store.update<{ count: number }>('counter', undefined, () => ({ count: 7 })).count).toBe(7);
});

test('a write based on an outdated version is refused', () => {
  const store = new FileStore(dir);
  const { rv, uid } = store.create('pod', { ready: false });
  store.update('pod', rv, () => ({ ready: true }));
  expect(() => store.update('pod', rv, () => ({ ready: false }))).toThrow(Conflict);
  expect(() => store.create('pod', { ready: false })).toThrow(Conflict);
  store.remove('pod', uid);
  store.create('pod', { ready: false });
  expect(() => store.remove('pod', uid)).toThrow(Conflict);
});

test('the record is written only on the version that was read, and the log has each version', async () => {
  const record = new RecordFile(new FileStore(dir));
  const doc = recordOf(1);
  await record.write(doc);
  await expect(record.write(doc)).rejects.toThrow(Conflict);
  const read = await record.read();
  await record.write(recordOf(2), read!.rv);
  await expect(record.write(recordOf(3), read!.rv)).rejects.toThrow(Conflict);
  await record.remove((await record.read())!.rv);
  expect(await record.read()).toBeUndefined();
  const log = readFileSync(join(dir, 'record.log'), 'utf8').trim().split('\n');
  expect(log.map((line) => JSON.parse(line).doc?.rev)).toEqual([1, 2, undefined]);
});

test('a blocked record is unreadable, not absent, and intact afterwards', async () => {
  const store = new FileStore(dir);
  const record = new RecordFile(store);
  await record.write(recordOf(1));
  record.block();
  expect(() => readFileSync(join(dir, 'record.json'))).toThrow('EISDIR');
  writeFileSync(join(dir, 'unreachable'), '');
  expect(record.now()?.doc.rev).toBe(1);
  record.unblock();
  rmSync(join(dir, 'unreachable'));
  expect(record.now()?.doc.rev).toBe(1);
});
