import { mergePatch } from './merge-patch.ts';

test('what is gone is null, at any depth; lists are replaced as a whole', () => {
  const before = {
    phase: 'Ready',
    waiting: { for: 'a' },
    operation: { type: 'Growing', target: '5' },
    members: [1, 2],
  };
  const after = { phase: 'Ready', waiting: undefined, operation: { type: 'Growing' }, members: [1], epoch: 2 };
  expect(mergePatch(before, after)).toEqual({
    ...{ phase: 'Ready', waiting: null, operation: { type: 'Growing', target: null }, members: [1], epoch: 2 },
  });
  expect(mergePatch(undefined, after)).toBe(after);
});
