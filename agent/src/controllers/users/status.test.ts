import { userNameOf } from '../objects/user-object.ts';
import type { SeenCertificate } from '../port/observed.ts';
import { readyOf, statusOf } from './status.ts';
import { user } from './users.fixture.ts';

const plain = user('api');
const withSecret = user('api', [], { certificateSecret: 'orders-user-api' });
const certificate: SeenCertificate = {
  ...{ secret: 'orders-user-api', notAfter: '2026-04-01T00:00:00Z', renewAt: '2026-03-01T00:00:00Z' },
  span: { notBefore: 0, notAfter: 0 },
};
const now = Date.parse('2026-01-02T00:00:00Z');

test('ready when etcd has it, and its certificate is there if it asks for one', () => {
  expect(readyOf(plain, { kind: 'done' }, undefined, true)).toMatchObject({ status: 'True', reason: 'UserReady' });
  expect(readyOf(plain, { kind: 'call' }, undefined, true)).toMatchObject({ status: 'False', reason: 'Pending' });
  const of = (found: Parameters<typeof readyOf>[2], isManaged = true) =>
    readyOf(withSecret, { kind: 'done' }, found, isManaged);
  expect(of(undefined)).toMatchObject({ status: 'False', reason: 'CertificatePending' });
  expect(of({ certificate })).toMatchObject({ status: 'True' });
  expect(of({ certificate, problem: { reason: 'CannotWrite', message: 'forbidden' } })).toEqual({
    ...{ status: 'False', reason: 'CertificateProblem', message: 'forbidden' },
  });
  expect(of({ problem: { reason: 'Issuing', message: 'soon' } })).toMatchObject({ reason: 'CertificatePending' });
  expect(of({ certificate }, false)).toMatchObject({ reason: 'CertificateProblem' });
});

test('a status is written once, and says since when', () => {
  const ready = readyOf(withSecret, { kind: 'done' }, { certificate }, true);
  const first = statusOf(withSecret, ready, { certificate }, now)!;
  expect(first).toMatchObject({
    observedGeneration: 1,
    userName: userNameOf(withSecret),
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-02T00:00:00Z', observedGeneration: 1 },
      { type: 'Reconciling', status: 'False' },
      { type: 'Stalled', status: 'False' },
    ],
    certificate: { notAfter: certificate.notAfter, renewAt: certificate.renewAt },
  });
  const after = { ...withSecret, status: first };
  expect(statusOf(after, ready, { certificate }, now + 5_000)).toBeUndefined();
  // What is unknown of the certificate stays.
  const unknown = readyOf(
    after,
    { kind: 'unknown', reason: 'ClusterNotServing', message: 'no leader' },
    undefined,
    true,
  );
  expect(statusOf(after, unknown, undefined, now + 5_000)).toMatchObject({
    conditions: [
      { status: 'Unknown', lastTransitionTime: '2026-01-02T00:00:05Z' },
      { type: 'Reconciling', status: 'True' },
      { type: 'Stalled', status: 'False', lastTransitionTime: '2026-01-02T00:00:00Z' },
    ],
    certificate: { notAfter: certificate.notAfter },
  });
  expect(statusOf({ ...plain, status: first }, ready, undefined, now)?.certificate).toBeUndefined();
});
