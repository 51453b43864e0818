import { isTooDeep } from './depth.ts';

const nested = (depth: number) => JSON.parse(`${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`);

test('levels of lists and objects', () => {
  for (const document of [null, 1, 'a', {}, [[]], nested(40)]) expect(isTooDeep(document)).toBe(false);
  for (const depth of [60, 100_000]) expect(isTooDeep(nested(depth))).toBe(true);
});
