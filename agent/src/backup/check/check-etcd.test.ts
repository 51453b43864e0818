import type { StatusResponse } from '../../etcd/maintenance.ts';
import { ExitCode } from '../../lib/errors.ts';
import { ObservedCluster, type ReachedMember } from '../take/source/observe-cluster.ts';
import { checkAdvisories, checkAlarms, checkMember } from './check-etcd.ts';

const member = (changes: Partial<StatusResponse>) =>
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

test('a version with known vulnerabilities is a warning that names the version to use', () => {
  const observed = (...versions: string[]) =>
    new ObservedCluster(
      versions.map((version) => member({ version })),
      [],
    );
  expect(checkAdvisories(observed('3.6.16', '3.5.35', '3.7.3'))).toEqual([]);
  expect(checkAdvisories(observed('3.6.11', '3.6.11', '3.4.23'))).toMatchObject([
    { outcome: 'warning', detail: expect.stringMatching(/^etcd 3\.4\.23 has .*no fix/) },
    { outcome: 'warning', detail: expect.stringMatching(/^etcd 3\.6\.11 has .*CVE-2026-73499.*use 3\.6\.14 or newer/) },
  ]);
});
