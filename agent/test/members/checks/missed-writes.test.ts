import type { Write } from './history.ts';
import { missedWrites } from './missed-writes.ts';

const write = (change: Partial<Write>): Write => ({
  ...{ client: 0, key: 'k', value: 'v', start: 100, end: 1_150, attempts: 3, outcome: 'unknown', error: 'no leader' },
  ...change,
});

const missed = (...writes: Write[]) => missedWrites({ writes }, 100);

test('a write that was tried for its whole second without success has failed', () => {
  expect(missed(write({})).failed).toEqual([expect.stringMatching(/3 attempts: no leader$/)]);
  expect(missed(write({ outcome: 'failed' })).failed).toHaveLength(1);
});

test('a write that was acknowledged, or begun before, does not count', () => {
  expect(missed(write({ outcome: 'ok' }), write({ start: 99 }))).toEqual({ failed: [], starved: 0 });
});

test('nor a write whose attempts took longer than their time-out', () => {
  expect(missed(write({ end: 2_000 }))).toEqual({ failed: [], starved: 1 });
});

test('nor a write on a machine that is too busy', () => {
  const busy = (share: number) => missedWrites({ writes: [write({})] }, 100, { share: () => share });
  expect(busy(0.9)).toEqual({ failed: [], starved: 1 });
  expect(busy(0.5).failed).toHaveLength(1);
});
