import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Write } from './history.ts';
import { Journal } from './journal.ts';

const directory = mkdtempSync(join(tmpdir(), 'journal-'));
const path = join(directory, 'journal');
afterAll(() => rmSync(directory, { recursive: true }));

const begun: Write = {
  ...{ client: 0, key: 'w/0/00000000', value: '0-0', start: 5, end: 5 },
  ...{ outcome: 'unknown', attempts: 0 },
};
const done: Write = { ...begun, end: 9, outcome: 'ok', clusterId: 'c', revision: 2, attempts: 1 };
const next: Write = { ...begun, key: 'w/0/00000001', value: '0-1', start: 12, end: 12 };
const term = { clusterId: 'c', term: 3 };

test('the next process knows what was done and what was begun, and continues the clock', () => {
  const first = new Journal(path);
  expect(first.past).toEqual({ writes: [], registers: [], terms: [], clusterIds: [] });
  first.begins({ write: begun });
  first.ends({ term });
  first.ends({ write: done });
  first.begins({ write: next });
  const second = new Journal(path);
  expect(second.past).toEqual({ writes: [done, next], registers: [], terms: [term], clusterIds: ['c'] });
  const before = first.now;
  expect(second.now).toBeGreaterThanOrEqual(before - 1);
  appendFileSync(path, '{"write":{"clie');
  const third = new Journal(path);
  third.ends({ write: { ...next, outcome: 'failed' } });
  expect(new Journal(path).past.writes).toEqual([done, { ...next, outcome: 'failed' }]);
});
