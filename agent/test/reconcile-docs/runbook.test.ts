import { readFile } from 'node:fs/promises';
import { reasons } from '../../src/protocol/reasons.ts';

const page = await readFile(new URL('../../../docs/operations/runbook.md', import.meta.url), 'utf8');
const sections = page.split(/^### /m).slice(1);
const headings = sections.map((section) => section.split('\n')[0]);

test('every reason of a condition has its heading in docs/operations/runbook.md, and no heading is of none', () => {
  expect(headings.toSorted()).toEqual(Object.keys(reasons).toSorted());
});

test('every heading is followed by what it means', () => {
  const empty = sections.filter((section) => section.split('\n').slice(1).join('').trim().length < 20);
  expect(empty).toEqual([]);
});
