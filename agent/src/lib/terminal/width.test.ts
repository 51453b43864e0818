import { table } from './table.ts';
import { fitting, padded, widthOf } from './width.ts';

test.each([
  ['abc', 3],
  ['证书', 4],
  ['한글 カナ', 9],
  ['e\u0301', 1],
  ['🔥a', 3],
  ['', 0],
])('%j takes %d columns', (text, columns) => {
  expect(widthOf(text)).toBe(columns);
});

test('a text is cut and padded by columns', () => {
  expect([fitting('证书a', 3), fitting('证书a', 4), padded('证', 4)]).toEqual(['证', '证书', '证  ']);
});

test('columns of a table are aligned on the terminal', () => {
  const lines = table(
    ['a', 'b'],
    [
      ['证书', 'x'],
      ['abcd', 'y'],
    ],
  ).split('\n');
  expect(lines).toEqual(['a     b', '证书  x', 'abcd  y']);
});
