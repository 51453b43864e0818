import type { Identity } from '../../protocol/agent-status.ts';
import { recordOf } from '../../protocol/record.fixture.ts';
import type { Permit } from '../../protocol/record.ts';
import { verifyMember } from './verify-member.ts';

const identity: Identity = {
  ...{ v: 1, clusterUid: 'uid', epoch: 1, token: 't', ordinal: 1, volumeId: 'n1', permitId: 'p', mode: 'existing' },
  ...{ memberId: 'a1', state: 'sealed', lastVersion: '3.6.16', runs: 1 },
};
const wal = { memberId: 'a1', clusterId: 'c1' };
const permit = { ordinal: 1, volumeId: 'n1', memberId: 'a9' } as Permit;
const joins = recordOf({ members: {}, permits: { 1: permit } });

test.each([
  ['the member of its permit, without a record', wal, identity, undefined, 'ours'],
  ['the member of its permit', wal, identity, recordOf(), 'ours'],
  ['a learner added again: its id is of the newer permit', { ...wal, memberId: 'a9' }, identity, joins, 'ours'],
  [
    'a learner added again, whose permit is not written yet',
    { ...wal, memberId: 'a9' },
    identity,
    undefined,
    'unknown',
  ],
  [
    'an id of the permit of another volume',
    { ...wal, memberId: 'a9' },
    identity,
    { ...joins, permits: { 1: { ...permit, volumeId: 'n7' } } },
    'unknown',
  ],
  ['a first member, whose id nobody knows', wal, { ...identity, mode: 'new', memberId: undefined }, undefined, 'ours'],
  ['a joined member whose id nobody knows', wal, { ...identity, memberId: undefined }, undefined, 'unknown'],
  ['another etcd cluster than the record’s', { ...wal, clusterId: 'c2' }, identity, recordOf(), 'split'],
  [
    'another etcd cluster than before',
    { ...wal, clusterId: 'c2' },
    { ...identity, clusterId: 'c1' },
    undefined,
    'split',
  ],
  ['a member of another volume', { ...wal, memberId: 'a2' }, identity, recordOf(), 'split'],
  ['one id on two volumes', wal, { ...identity, volumeId: 'n7' }, recordOf(), 'split'],
  ['a record of another epoch says nothing', wal, identity, recordOf({ epoch: 2, clusterId: 'c2' }), 'ours'],
  ['a record of another cluster says nothing', wal, identity, recordOf({ clusterUid: 'x', clusterId: 'c2' }), 'ours'],
] as const)('%s', (_, found, stored, record, kind) => {
  expect(verifyMember(found, stored, record)).toMatchObject({ kind });
});
