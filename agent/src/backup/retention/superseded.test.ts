import type { Brief } from '../catalog/manifest.ts';
import { type Dated, sinceOf, successorOf } from './superseded.ts';

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

test('the snapshot after a payload proves it too, if it says that those before were of the same etcd', () => {
  expect(successor(15, at(20, { since: 10 }), at(30))).toBe('s30');
  expect(successor(15, at(20, { since: 10 }), at(30, { revision: 5 }))).toBe('s20');
  // It began after the payload was taken, or with it.
  expect(successor(15, at(20, { since: 16 }), at(30))).toBeUndefined();
  expect(successor(15, at(20, { since: 15 }), at(30))).toBeUndefined();
  expect(successor(15, at(20), at(30, { since: 10 }))).toBeUndefined();
  // What is there counts more.
  expect(successor(15, at(12, { clusterId: 'b' }), at(20, { since: 10 }))).toBeUndefined();
});

const brief = (day: number, revision: number | undefined, change: object = {}): Brief =>
  ({
    ...{ id: `s${day}`, createdAt: `2026-11-0${day}T00:00:00.000Z`, source: { clusterId: 'a' } },
    ...{ content: { sizeBytes: 1, sha256: '', ...(revision !== undefined && { revision }) } },
    ...change,
  }) as Brief;

test('a snapshot says since when those before it are of its etcd, and nothing if that is not known', () => {
  const [first, second] = [brief(1, 5), brief(2, 5)];
  expect(sinceOf(second, first)).toBe(first.createdAt);
  expect(sinceOf(brief(3, 6), { ...second, sameEtcdSince: first.createdAt })).toBe(first.createdAt);
  expect(sinceOf(first, undefined)).toBeUndefined();
  expect(sinceOf(brief(2, 4), first)).toBeUndefined();
  expect(sinceOf(brief(2, undefined), first)).toBeUndefined();
  expect(sinceOf(brief(2, 5, { source: { clusterId: 'b' } }), first)).toBeUndefined();
  const adopted = brief(1, 5, { source: { clusterId: 'unknown' } });
  expect(sinceOf(brief(2, 5, { source: { clusterId: 'unknown' } }), adopted)).toBeUndefined();
});
