import type { MemberStatus } from '../../etcd/maintenance.ts';
import { ExitCode } from '../../lib/errors.ts';
import { ObservedCluster, type ReachedMember } from '../take/source/observe-cluster.ts';
import { checkAlarms, checkMember } from './check-etcd.ts';

const member = (changes: Partial<MemberStatus>) =>
  ({
    endpoint: 'http://etcd-0:2379',
    status: { version: '3.6.1', leader: 'a', memberId: 'a', errors: [], dbSize: 1000, dbSizeInUse: 500, ...changes },
  }) as unknown as ReachedMember;

test('a CORRUPT alarm fails as the source of a backup would', () => {
  const errors = ['memberID:10 alarm:CORRUPT '];
  const observed = new ObservedCluster([member({}), member({ errors }), member({ errors })], []);
  expect(checkAlarms(observed)).toMatchObject([
    { outcome: 'failed', exitCode: ExitCode.sourceSuspect, detail: expect.stringContaining('CORRUPT of member a') },
  ]);
  expect(checkAlarms(new ObservedCluster([member({ errors: ['etcdserver: no leader'] })], []))).toMatchObject([
    { outcome: 'ok' },
  ]);
});

test.each([
  ['half full', { dbSizeQuota: 2000 }, 'ok'],
  ['nearly full', { dbSizeQuota: 1200 }, 'warning'],
  ['of an etcd that reports no quota', {}, 'ok'],
  ['with an error of its own', { errors: ['etcdserver: something'] }, 'warning'],
  ['without a leader', { leader: '0' }, 'failed'],
])('a member %s', (_, changes, outcome) => {
  expect(checkMember(member(changes))).toMatchObject([{ outcome }]);
});
