import type { RegisterOperation } from './history.ts';
import { ANY, contradiction, contradictions } from './linearizable.ts';

type Of = Partial<Pick<RegisterOperation, 'outcome' | 'clusterId' | 'key'>>;
const at = (start: number, end: number, of: Of) =>
  ({ client: 0, key: 'r', outcome: 'ok', clusterId: 'a', start, end, ...of }) as const;
const write = (value: string, start: number, end: number, of: Of = {}): RegisterOperation => ({
  ...at(start, end, of),
  kind: 'write',
  value,
});
const read = (value: string | undefined, start: number, end: number, of: Of = {}): RegisterOperation => ({
  ...at(start, end, of),
  kind: 'read',
  value,
});
const swap = (from: string, value: string, start: number, end: number, of: Of = {}): RegisterOperation => ({
  ...at(start, end, of),
  kind: 'swap',
  from,
  value,
});
const unknown = { outcome: 'unknown' } as const;

describe('fits an order', () => {
  test.each<[string, RegisterOperation[]]>([
    ['nothing', []],
    [
      'one after the other',
      [read(undefined, 0, 1), write('a', 2, 3), read('a', 4, 5), swap('a', 'b', 6, 7), read('b', 8, 9)],
    ],
    [
      'a read beside a write sees the old or the new value',
      [write('a', 0, 1), write('b', 2, 9), read('a', 3, 4), read('b', 5, 6)],
    ],
    ['two writes at once, in either order', [write('a', 0, 9), write('b', 1, 8), read('a', 10, 11)]],
    [
      'an unknown write is seen much later',
      [write('a', 0, 1), write('b', 2, 3, unknown), read('a', 10, 11), read('b', 20, 21)],
    ],
    ['an unknown write is never seen', [write('a', 0, 1), write('b', 2, 3, unknown), read('a', 10, 11)]],
    [
      'an unknown swap whose value is swapped on',
      [write('a', 0, 1), swap('a', 'b', 2, 3, unknown), swap('b', 'c', 9, 10), read('c', 11, 12)],
    ],
    ['a write that failed', [write('a', 0, 1), write('b', 2, 3, { outcome: 'failed' }), read('a', 4, 5)]],
  ])('%s', (_, history) => expect(contradiction(history)).toBeUndefined());

  test('of the first two concurrent swaps only one succeeds, and the other reads its value', () => {
    expect(contradiction([write('a', 0, 1), swap('a', 'b', 2, 9), read('b', 3, 8)])).toBeUndefined();
  });
});

describe('fits no order', () => {
  test.each<[string, RegisterOperation[], string | undefined]>([
    ['a lost write', [write('a', 0, 1), write('b', 2, 3), read('a', 4, 5)], 'a'],
    ['a lost first write', [write('a', 0, 1), read(undefined, 2, 3)], undefined],
    ['a stale read after a fresh one', [write('a', 0, 1), write('b', 2, 9), read('b', 3, 4), read('a', 5, 6)], 'a'],
    ['a value out of nowhere', [write('a', 0, 1), read('x', 2, 3)], 'x'],
    ['a value from the future', [read('a', 0, 1), write('a', 2, 3)], 'a'],
    ['two swaps from one value', [write('a', 0, 1), swap('a', 'b', 2, 9), swap('a', 'c', 3, 8)], 'b'],
    ['a write that failed is seen', [write('a', 0, 1), write('b', 2, 3, { outcome: 'failed' }), read('b', 4, 5)], 'b'],
    [
      'an unknown write is undone after it was seen',
      [write('a', 0, 1), write('b', 2, 3, unknown), read('b', 4, 5), read('a', 6, 7)],
      'a',
    ],
    [
      'an unknown swap from a value that was over',
      [write('a', 0, 1), write('b', 2, 3), swap('a', 'c', 4, 5, unknown), read('c', 6, 7)],
      'c',
    ],
  ])('%s', (_, history, value) => expect(contradiction(history)).toMatchObject({ value }));
});

test('after a restore the first value may be any value, but only one', () => {
  expect(contradiction([read('a', 0, 1), read('a', 2, 3)], ANY)).toBeUndefined();
  expect(contradiction([read('a', 0, 1), read('b', 2, 3)], ANY)).toMatchObject({ value: 'b' });
});

test('each cluster and each register is judged separately', () => {
  const restored = { clusterId: 'b' };
  const history = [write('1', 0, 1), write('2', 2, 3), read('1', 10, 11, restored), read('2', 4, 5)];
  expect(contradictions(history, ['a', 'b'])).toEqual([]);
  expect(
    contradictions(
      history.map((operation) => ({ ...operation, clusterId: 'a' })),
      ['a'],
    ),
  ).toEqual([
    expect.stringContaining('register r of cluster a: ok read of 1 by client 0, 10.0 to 11.0 ms fits no order'),
  ]);
  expect(contradictions([...history, read('9', 0, 1, { key: 'other' })], ['a', 'b'])).toHaveLength(1);
});

test('an unknown write shows in the cluster in which it took place', () => {
  const restored = { clusterId: 'b' };
  const late = [
    write('1', 0, 1),
    read('1', 10, 11, restored),
    write('2', 20, 21, unknown),
    read('2', 30, 31, restored),
  ];
  expect(contradictions(late, ['a', 'b'])).toEqual([]);
  const early = [write('1', 0, 1), write('2', 2, 3, unknown), read('2', 4, 5), read('1', 10, 11, restored)];
  expect(contradictions(early, ['a', 'b'])).toEqual([]);
});

test('a long history, and the same with one stale answer', () => {
  const turn = (i: number): RegisterOperation[] => [
    write(`${i}`, 100 * i, 100 * i + 60),
    write(`${i}x`, 100 * i + 10, 100 * i + 50, unknown),
    read(`${i}`, 100 * i + 65, 100 * i + 80),
    swap(`${i}`, `${i}y`, 100 * i + 70, 100 * i + 95),
    read(`${i}y`, 100 * i + 75, 100 * i + 90),
  ];
  const history = Array.from({ length: 5_000 }, (_, i) => turn(i)).flat();
  expect(contradiction(history)).toBeUndefined();
  expect(contradiction([...history, read('4998y', 600_000, 600_001)])).toMatchObject({ value: '4998y' });
});
