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

test('many spaces take no time', () => {
  const began = performance.now();
  expect(oneLine(`a${' '.repeat(200_000)}b`)).toHaveLength(200_002);
  expect(performance.now() - began).toBeLessThan(1_000);
});
