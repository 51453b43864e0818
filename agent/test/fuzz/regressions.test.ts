import { corpusOf, regressionsOf } from './corpus.ts';
import { judge, type Verdict } from './judge.ts';
import { targets } from './targets.ts';

// The library's test of render replays its regressions: the agent's tests cannot load the library's sources.
const replayed = targets.filter(({ name }) => name !== 'render');

test.each(replayed.map((target) => [target.name, target] as const))(
  '%s: what was once a counterexample',
  async (_, target) => {
    for (const { name, bytes } of regressionsOf(target)) {
      expect({ name, problem: (await judge(target, bytes)).problem }).toEqual({ name, problem: undefined });
    }
  },
);

test.each(replayed.map((target) => [target.name, target] as const))('%s accepts its corpus', async (_, target) => {
  const found: Verdict[] = [];
  for (const bytes of corpusOf(target)) found.push(await judge(target, bytes));
  expect(found.filter(({ problem }) => problem !== undefined)).toEqual([]);
  // Some targets are about refusals, and accept only one of the entries.
  expect(found.some(({ taken }) => taken)).toBe(true);
});
