import { parseYaml } from './yaml.ts';

test('a document, with aliases', () => {
  expect(parseYaml('a: &x [1]\nb: *x\n? &k c\n: d\n')).toEqual({ a: [1], b: [1], c: 'd' });
  expect(parseYaml('')).toBeNull();
});

test.each([
  ['two documents', 'a: 1\n---\nb: 2\n', /multiple documents/],
  ['an unclosed list', '[1', /flow sequence/i],
  ['a key that is a map', '{a: 1}: 2', /a key is a list or a map/],
  ['a key that is an alias of a list', 'a: &x [1]\n*x : 2\n', /a key is a list or a map/],
])('%s is refused', (_, text, message) => {
  expect(() => parseYaml(text)).toThrow(message);
});

// Written out, their names would take minutes.
test('maps that are keys of each other are refused', () => {
  expect(() => parseYaml(`${'{'.repeat(1_000)}1${'}'.repeat(1_000)}`)).toThrow();
});
