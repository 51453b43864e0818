import { bumpBeyond } from './bump-beyond.ts';

test.each([
  [0, 0, 1e9],
  [499_999_999, 7, 1e9],
  [500_000_007, 7, 1e9],
  [500_000_008, 7, 2e9],
  [1_999_999_999, 7, 3e9],
  // Added, not multiplied: the revision of a cluster that is restored again and again grows by steps, and does not double.
  [4_000_000_010, 4_000_000_003, 1e9],
])('beyond %d, from %d on, there is room for what was served since', (highest, revision, bump) => {
  expect(bumpBeyond(highest, revision)).toBe(bump);
});
