import type { RecordDoc } from './record.ts';

/** Record of a healthy cluster with three members. */
export function recordOf(change: Partial<RecordDoc> = {}): RecordDoc {
  const member = (i: number) => ({ memberId: `a${i}`, volumeId: `n${i}`, epoch: 1, everVoter: true });
  return {
    ...{ v: 1, rev: 7, clusterUid: 'uid', epoch: 1, minEpoch: 1, token: 't1', phase: 'Running', seeded: true },
    clusterId: 'c1',
    permits: {},
    members: { 0: member(0), 1: member(1), 2: member(2) },
    tombstones: [],
    versions: { current: '3.6', allowedMinors: ['3.6'] },
    restores: [],
    ...change,
  };
}
