import { parseYaml } from './yaml.ts';

test('a document, with aliases', () => {
  expect(parseYaml('a: &x [1]\nb: *x\n? &k c\n: d\n')).toEqual({ a: [1], b: [1], c: 'd' });
  expect(parseYaml('')).toBeNull();
  const lines = Array.from({ length: 200 }, () => '- - !!str &a -1\n').join('');
  expect(parseYaml(lines)).toHaveLength(200);
});

test.each([
  ['two documents', 'a: 1\n---\nb: 2\n', /multiple documents/],
  ['an unclosed list', '[1', /flow sequence/i],
  ['a key that is a map', '{a: 1}: 2', /a key is a list or a map/],
  ['a key that is an alias of a list', 'a: &x [1]\n*x : 2\n', /a key is a list or a map/],
])('%s is refused', (_, text, message) => {
  expect(() => parseYaml(text)).toThrow(message);
});

// Written out, the names of maps that are keys of each other would take minutes; the lists would end the process.
test.each([
  ['maps that are keys of each other', `${'{'.repeat(1_000)}1${'}'.repeat(1_000)}`],
  ['lists within lists', '- '.repeat(100_000)],
  ['lists within lists, within brackets', '['.repeat(100_000)],
  ['keys without a name', '? '.repeat(100_000)],
  ['lists where a line cannot have one', `a: ${'- '.repeat(100_000)}`],
  ['anchors', '&a '.repeat(100_000)],
  ['tags within brackets', `[${'!a '.repeat(100_000)}`],
  ['maps within maps', Array.from({ length: 1_000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
])('too many levels are refused: %s', (_, text) => {
  expect(() => parseYaml(text)).toThrow('has more than 100 levels');
});
