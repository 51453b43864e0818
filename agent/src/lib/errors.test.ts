import { oneLine } from './errors.ts';

test.each([
  ['a', 'a'],
  [' a \n\n  b.\n', 'a b'],
  ['a...', 'a...'],
  ['a  b\r\nc.', 'a  b c'],
  ['\n', ''],
])('%j on one line', (text, line) => {
  expect(oneLine(text)).toBe(line);
});

// With backtracking, these take minutes.
test('many spaces', () => {
  expect(oneLine(`a${' '.repeat(200_000)}b`)).toHaveLength(200_002);
});
