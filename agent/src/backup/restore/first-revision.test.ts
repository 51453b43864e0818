import { HIGHEST_REVISION } from '../payload/plausible-revision.ts';
import { firstRevision } from './first-revision.ts';

const at = (date: string) => Date.parse(date);

test('a restored cluster begins at the time in microseconds', () => {
  expect(firstRevision(7, at('2026-11-30T00:00:00.123Z'))).toBe(1_795_996_800_123_000);
});

test('two restores never collide: a million writes a second do not reach the next one, nor does a clock that is behind', () => {
  const now = at('2026-11-30T00:00:00Z');
  const first = firstRevision(7, now);
  expect(firstRevision(7, now + 1000)).toBe(first + 1e6);
  // The second one knows the first, and may not know how far it got.
  expect(firstRevision(first + 5, now)).toBe(first + 5 + 1e9);
  expect(firstRevision(first, at('1970-01-01T00:00:00Z'))).toBe(first + 1e9);
});

test('the number is one that can be believed of a store for the next 80 years', () => {
  expect(firstRevision(7, at('2106-01-01T00:00:00Z'))).toBeLessThan(HIGHEST_REVISION);
});
