import { printable } from './printable.ts';
import { table } from './table.ts';

test('a cell cannot forge a row, or what a terminal shows', () => {
  const forged = 'x\u001b[2K\netcd-snapshot-20261129-010000-cccccc  1.0 GiB';
  expect(table(['ID', 'WHY'], [['a', forged]]).split('\n')).toEqual([
    'ID  WHY',
    'a   x\\u001b[2K\\u000aetcd-snapshot-20261129-010000-cccccc  1.0 GiB',
  ]);
});

test('what is printed keeps its lines and other letters', () => {
  expect(printable('a\nb\tü 東 \u009b31m\u202e')).toBe('a\nb\tü 東 \\u009b31m\\u202e');
});
