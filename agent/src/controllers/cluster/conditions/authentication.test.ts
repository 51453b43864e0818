import { unknown } from '../../../protocol/known.ts';
import { World } from '../../port/observed.fixture.ts';
import type { AuthReport } from '../../port/observed.ts';
import { defaultSettings } from '../../port/settings.ts';
import { clusterStatus } from './status.ts';

// The condition shows what etcd has, never what was only asked for.

const on: AuthReport = { isWanted: true, removed: 0, seen: { isEnabled: true, hasUsers: true, age: 0 } };
const off: AuthReport = { isWanted: false, removed: 0, seen: { isEnabled: false, hasUsers: false, age: 0 } };

const world = (authentication: AuthReport | undefined): World => {
  const made = new World(3);
  return made.resource({ ...(authentication && { authentication }) });
};
const said = (authentication: AuthReport | undefined) => {
  const found = world(authentication)
    .plan()
    .conditions.find(({ type }) => type === 'AuthReady');
  return found && `${found.status} ${found.reason}: ${found.message}`;
};

test('there is none without a certificate of root and without a wish', () => {
  expect(said(undefined)).toBeUndefined();
});

test('True if etcd has what is asked for', () => {
  expect(said(on)).toMatch(/^True AuthenticationOn: /);
  expect(said(off)).toMatch(/^True AuthenticationOff: .*everybody with a client certificate/);
});

test('False if it has not, with the cause', () => {
  const why = 'AuthEnable: etcdserver: root user does not exist';
  expect(said({ ...on, seen: off.seen!, why })).toBe(
    `False AuthNotSwitchedOn: authentication is off, although it is asked for: everybody with a client certificate may read and write everything: ${why}`,
  );
  expect(said({ ...off, seen: on.seen!, why: 'spec.paused is true' })).toMatch(
    /^False AuthNotSwitchedOff: .*: spec.paused is true$/,
  );
  const message = "the certificate has the name 'x'";
  expect(said({ ...on, refusal: { reason: 'RootCertificateUnusable', message } })).toBe(
    `False RootCertificateUnusable: ${message}`,
  );
});

test('False if nobody but root gets in, with the number of the users that were deleted', () => {
  const seen = { isEnabled: true, hasUsers: false, age: 0 };
  expect(said({ ...on, seen })).toMatch(/^False OnlyRoot: .*create EtcdUsers, or set spec.auth to false$/);
  expect(said({ ...on, seen, removed: 2 })).toMatch(/; 2 users of etcd without an EtcdUser were deleted$/);
  expect(said({ ...on, seen, removed: 1 })).toMatch(/; 1 user of etcd without an EtcdUser was deleted$/);
});

test('Unknown before etcd was asked, and if the answer is old', () => {
  const { seen: _, ...unseen } = on;
  expect(said(unseen)).toBe('Unknown StateUnknown: etcd was not asked yet');
  expect(said({ ...unseen, why: 'no leader answers' })).toBe('Unknown StateUnknown: no leader answers');
  const age = defaultSettings.authOld;
  expect(said({ ...on, seen: { ...on.seen!, age } })).toMatch(/^True /);
  expect(said({ ...on, seen: { ...on.seen!, age: age + 1 }, why: 'no leader answers' })).toBe(
    'Unknown StateUnknown: no leader answers',
  );
});

test('a cluster that is ready names the problem beside', () => {
  const made = world({ ...on, seen: { isEnabled: true, hasUsers: false, age: 0 } });
  const status = clusterStatus(made.o, made.plan().conditions, 0, defaultSettings);
  expect(status).toMatchObject({ phase: 'Ready', reason: 'OnlyRoot' });
});

test('not a fault while a cluster forms or is restored', () => {
  const waiting: AuthReport = { ...on, seen: off.seen! };
  const reasonOf = (change: object, report = waiting) => world(report).doc(change).reason('AuthReady');
  expect(reasonOf({ phase: 'Seeding' })).toBe('Bootstrapping');
  expect(reasonOf({ phase: 'Restoring', seeded: false })).toBe('Restoring');
  expect(reasonOf({})).toBe('AuthNotSwitchedOn');
  expect(reasonOf({ phase: 'Seeding' }, on)).toBe('AuthenticationOn');
  const unread = world(waiting).set({ record: unknown('no API') });
  expect(unread.reason('AuthReady')).not.toBe('Bootstrapping');
});
