import { dateOf, namesAreLocal, timeInName } from './name-time.ts';

test.each([
  ['etcd-snapshot-20261121-023807-3f9c2a', '2026-11-21T02:38:07.000Z', true],
  ['etcd-snapshot-20261121-023807-0130ab.db.zst', '2026-11-21T02:38:07.000Z', true],
  ['etcd-20261121-0238-1200f3.db', '2026-11-21T02:38:00.000Z'],
  ['etcd-2026-11-21T02-38-07-0130ab.db', '2026-11-21T02:38:07.000Z'],
  ['etcd-20261121-023807-0100-node1.db', '2026-11-21T02:38:07.000Z'],
  ['etcd-20261121-023807-0500.db', '2026-11-21T02:38:07.000Z'],
  ['snapshot_2026-11-21T02:38:07Z', '2026-11-21T02:38:07.000Z', true],
  ['2026.11.21_02.38', '2026-11-21T02:38:00.000Z'],
  ['db-202611210238', '2026-11-21T02:38:00.000Z'],
  ['etcd-snapshot-node1-1795228687', '2026-11-21T02:38:07.000Z', true],
  ['etcd-2026-11-21T10:38:07+08:00.db', '2026-11-21T02:38:07.000Z', true],
  ['etcd-2026-11-21T11:38:07+0800.db', '2026-11-21T03:38:07.000Z', true],
  ['etcd-2026-11-21T02-38-07-0500.db', '2026-11-21T07:38:07.000Z', true],
  ['etcd-20261121T080807+0530', '2026-11-21T02:38:07.000Z', true],
  ['2026-11-21T10:38+08', '2026-11-21T02:38:00.000Z', true],
  ['2026-11-21_02-38-07_UTC.db', '2026-11-21T02:38:07.000Z', true],
  ['2026-11-21T02%3A38%3A07.123Z.db', '2026-11-21T02:38:07.000Z', true],
  ['etcd-20261121-023807-0001.db', '2026-11-21T02:38:07.000Z'],
  ['etcd-20261121-023807-12.db', '2026-11-21T02:38:07.000Z'],
  ['backup-2026-11-21', undefined],
  ['20261321-023807', undefined],
  ['20260230-023807', undefined],
  ['v3.5.21-12', undefined],
])('the time in %s', (name, time, isUtc = false) => {
  expect(timeInName(name)).toEqual(time === undefined ? undefined : { time: new Date(time), isUtc });
});

const HOUR = 3_600_000;
const named = (time: string) => `db_${time.replace(':', '-')}.db`;
/** Files named by an hour of a clock, and when the store got them. */
const files = (...times: [name: string, modified: string][]) =>
  times.map(([name, modified]) => ({ name: named(name), modified: new Date(`${modified}:20Z`) }));

describe('names are in local time', () => {
  test.each([
    ['one that is an hour ahead', files(['2026-11-20 03:38', '2026-11-20T02:38'])],
    ['one of Nepal', files(['2026-11-20 08:23', '2026-11-20T02:38'])],
    ['one of Hawaii', files(['2026-11-19 16:38', '2026-11-20T02:38'])],
    ['of each day', files(['2026-11-20 03:38', '2026-11-20T02:38'], ['2026-11-21 03:38', '2026-11-21T02:38'])],
    ['of winter and summer', files(['2026-01-20 00:00', '2026-01-19T23:00'], ['2026-07-20 00:00', '2026-07-19T22:00'])],
    ['of London', files(['2026-01-20 00:00', '2026-01-20T00:00'], ['2026-07-20 00:00', '2026-07-19T23:00'])],
  ])('%s', (_, given) => expect(namesAreLocal(given)).toBe(true));

  test.each([
    ['without a time', [{ name: 'a.db', modified: new Date() }]],
    ['one that was copied a month later', files(['2026-10-20 00:00', '2026-11-20T10:38'])],
    ['one that was copied within the hour', files(['2026-11-20 02:00', '2026-11-20T02:38'])],
    ['further ahead than any zone', files(['2026-11-21 17:00', '2026-11-21T01:00'])],
    [
      'two of one day that were copied at once',
      files(['2026-11-20 01:00', '2026-11-20T12:00'], ['2026-11-20 02:00', '2026-11-20T12:01']),
    ],
    [
      'every hour, copied slowly',
      files(
        ...Array.from(
          { length: 12 },
          (_, n) => [`2026-11-20 ${10 + n}:00`, `2026-11-21T00:${10 + 4 * n}`] as [string, string],
        ),
      ),
    ],
    [
      'of winter and summer, but of UTC by their Z',
      [{ name: '2026-11-20T03:38:00Z.db', modified: new Date('2026-11-20T02:38:00Z') }],
    ],
    ['Unix seconds', [{ name: 'etcd-1795228687.db', modified: new Date(1795228687_000 + 2 * HOUR) }]],
  ])('not those %s', (_, given) => expect(namesAreLocal(given)).toBe(false));
});

test('a time in the future is not used', () => {
  const modified = new Date('2026-11-20T02:38:00Z');
  expect(dateOf({ name: 'db-20271120-023800.db', modified }, false, modified.getTime())).toEqual({
    createdAt: modified,
    warning: 'its name says 2027-11-20T02:38:00Z, the store says 2026-11-20T02:38:00Z; using the time of the store',
  });
});

describe('a day without a time', () => {
  const now = Date.parse('2026-11-24T12:00:00Z');
  const dayIn = (name: string, modified: string) => dateOf({ name, modified: new Date(modified) }, false, now);

  test.each([
    ['of a copy, is its first moment', 'orders-2025-01-28.db.gz', '2026-11-24T11:00:00Z', '2025-01-28T00:00:00Z'],
    [
      'of a file written then, is the store’s time',
      'orders-20261121.db',
      '2026-11-21T02:38:00Z',
      '2026-11-21T02:38:00Z',
    ],
    ['of the evening before in UTC, too', 'orders-20261121.db', '2026-11-20T11:00:00Z', '2026-11-20T11:00:00Z'],
    ['of the morning after in UTC, too', 'orders-20261121.db', '2026-11-22T11:00:00Z', '2026-11-22T11:00:00Z'],
    ['that is to come, does not count', 'orders-20271121.db', '2026-11-22T11:00:00Z', '2026-11-22T11:00:00Z'],
    ['that never was, does not count', 'orders-20260230.db', '2026-11-22T11:00:00Z', '2026-11-22T11:00:00Z'],
  ])('%s', (_, name, modified, createdAt) => {
    expect(dayIn(name, modified)).toMatchObject({ createdAt: new Date(createdAt), warning: expect.any(String) });
  });
});
