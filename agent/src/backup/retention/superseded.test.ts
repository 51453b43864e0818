import type { Entry } from '../catalog/catalog.ts';
import type { Brief } from '../catalog/manifest.ts';
import { type Dated, sameEtcdSpan, successorOf } from './superseded.ts';

const at = (time: number, change: Partial<Dated> = {}): Dated => ({
  ...{ id: `s${time}`, time, clusterId: 'a', revision: time, verified: true },
  ...change,
});
const successor = (time: number, ...all: Dated[]) => successorOf(time, all)?.id;

test('a payload is superseded by a verified snapshot, between snapshots of one etcd whose revision never fell', () => {
  expect(successor(15, at(10), at(20), at(30))).toBe('s30');
  expect(successor(15, at(10), at(20, { verified: false }))).toBeUndefined();
  expect(successor(15, at(20), at(30))).toBeUndefined();
  expect(successor(15, at(10))).toBeUndefined();
  expect(successor(15, at(10), at(20, { clusterId: 'b' }), at(30))).toBeUndefined();
  expect(successor(15, at(10), at(20, { revision: 5 }), at(30))).toBeUndefined();
  expect(successor(15, at(10), at(20), at(30, { revision: 5 }))).toBe('s20');
  const { clusterId: _, ...adopted } = at(10);
  expect(successor(15, adopted, at(20))).toBeUndefined();
});

test('a later snapshot proves it too, if it says that those before were of the same etcd', () => {
  const span = { since: 10, until: 18 };
  expect(successor(15, at(20, span), at(30))).toBe('s30');
  expect(successor(15, at(20), at(30, span))).toBe('s30');
  expect(successor(15, at(20, span), at(30, { revision: 5 }))).toBe('s20');
  // It began after the payload was taken, or with it, or ended before.
  expect(successor(15, at(20, { since: 16, until: 18 }), at(30))).toBeUndefined();
  expect(successor(15, at(20, { since: 15, until: 18 }), at(30))).toBeUndefined();
  expect(successor(15, at(20, { since: 10, until: 14 }), at(30))).toBeUndefined();
  // An older version of the agent has written it.
  expect(successor(15, at(20, { since: 10 }), at(30))).toBeUndefined();
  expect(successor(15, at(20), at(30, { ...span, clusterId: 'b' }))).toBeUndefined();
  // What is there counts more.
  expect(successor(15, at(12, { clusterId: 'b' }), at(20, span))).toBeUndefined();
});

const brief = (day: number, revision: number | undefined, change: object = {}): Brief =>
  ({
    ...{ id: `s${day}`, createdAt: `2026-11-0${day}T00:00:00.000Z`, source: { clusterId: 'a' } },
    ...{ content: { sizeBytes: 1, sha256: '', ...(revision !== undefined && { revision }) } },
    ...change,
  }) as Brief;

describe('the time in which all snapshots of a folder are known to be of the etcd of a run', () => {
  const entry = (day: number, change: object = {}): Entry =>
    ({ id: `s${day}`, manifest: { ...brief(day, day), cluster: { name: 'orders' }, ...change } }) as unknown as Entry;
  const span = (since: number, until: number) => ({
    sameEtcdSince: brief(since, 0).createdAt,
    sameEtcdUntil: brief(until, 0).createdAt,
  });
  const spanOf = (entries: readonly Entry[], isUnderWay = false) =>
    sameEtcdSpan(brief(9, 9), entries, 'orders', isUnderWay);

  test('ends with the newest one', () => {
    expect(spanOf([entry(1)])).toEqual(span(1, 1));
    expect(spanOf([entry(2, span(1, 1)), entry(1)])).toEqual(span(1, 2));
    // Retention has deleted the older ones.
    expect(spanOf([entry(4, span(1, 3))])).toEqual(span(1, 4));
    expect(spanOf([])).toEqual({});
  });

  test('does not grow while another run may add one that is older than the newest', () => {
    expect(spanOf([entry(4, span(1, 3)), entry(3)], true)).toEqual(span(1, 3));
  });

  test.each<[string, object]>([
    ['is of another etcd', { source: { clusterId: 'b' } }],
    ['is of another cluster', { cluster: { name: 'payments' } }],
    ['is adopted', { source: { clusterId: 'unknown' } }],
    ['has a higher revision', { content: { revision: 8 } }],
  ])('begins again if one in it %s', (_, change) => {
    expect(spanOf([entry(4, span(1, 2)), entry(3, change), entry(2)])).toEqual(span(4, 4));
    expect(spanOf([entry(4, span(2, 3)), entry(3), entry(2), entry(1, change)])).toEqual(span(2, 4));
    expect(spanOf([entry(4, change), entry(3)])).toEqual('content' in change ? span(4, 4) : {});
  });

  test('is not known if a manifest cannot be read, or if an older version of the agent has written it', () => {
    expect(spanOf([entry(4, span(1, 3)), { id: 'x' } as Entry])).toEqual({});
    expect(spanOf([entry(4, { sameEtcdSince: brief(1, 0).createdAt })])).toEqual(span(4, 4));
  });
});
