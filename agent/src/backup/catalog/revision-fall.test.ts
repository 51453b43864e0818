import type { Candidate } from './candidate.ts';
import { higherBefore } from './revision-fall.ts';

const HOUR = 3_600_000;
const at = (hour: number, revision: number | undefined, changes: Partial<Candidate> = {}): Candidate => ({
  ...{ id: `s${hour}`, createdAt: new Date(hour * HOUR), clusterId: 'a', revision, verified: true },
  ...{ pinned: false, locked: false, readable: true },
  ...changes,
});
const higher = (later: Candidate, ...earlier: Candidate[]) => higherBefore([later, ...earlier], later)?.id;

test('the newest snapshot of the same etcd with a higher revision is found', () => {
  expect(higher(at(9, 50), at(8, 51), at(7, 60), at(6, 40))).toBe('s8');
  expect(higher(at(9, 50), at(8, 40), at(7, 60))).toBe('s7');
  // Its manifest says what etcd said, whether or not the payload was read back.
  expect(higher(at(9, 50), at(8, 51, { verified: false }))).toBe('s8');
  // Nothing was lost since.
  expect(higher(at(9, 50), at(8, 50), at(7, 3))).toBeUndefined();
  // The fall was made up for.
  expect(higher(at(9, 50), at(8, 3), at(7, 49))).toBeUndefined();
});

test.each<[string, Candidate]>([
  ['of another etcd', at(8, 60, { clusterId: 'b' })],
  ['of an unknown revision', at(8, undefined)],
  ['newer', at(10, 60)],
  ['at a revision that no etcd reaches', at(8, Number.MAX_SAFE_INTEGER)],
])('one that is %s does not count', (_, other) => {
  expect(higher(at(9, 50), other)).toBeUndefined();
});

test('nothing is known of an adopted snapshot, or of one without a revision', () => {
  const clusterId = 'unknown';
  expect(higher(at(9, 50, { clusterId }), at(8, 60, { clusterId }))).toBeUndefined();
  expect(higher(at(9, undefined), at(8, 60))).toBeUndefined();
});

test('of two members at the same time, one may be some writes behind the other', () => {
  const minutes = (count: number) => 9 - count / 60;
  expect(higher(at(9, 50), at(minutes(4), 60))).toBeUndefined();
  expect(higher(at(9, 50), at(minutes(6), 60))).toBeDefined();
  expect(higher(at(9, 29), at(minutes(4), 60))).toBeDefined();
});
