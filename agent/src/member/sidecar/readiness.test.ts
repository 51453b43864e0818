import type { Identity } from '../../protocol/agent-status.ts';
import { recordOf } from '../../protocol/record.fixture.ts';
import type { EtcdMetrics } from './etcd-metrics.ts';
import { etcdReadiness, notServed } from './readiness.ts';

const identity: Identity = {
  ...{ v: 1, clusterUid: 'uid', epoch: 2, token: 't', ordinal: 1, volumeId: 'n1', permitId: 'p', mode: 'existing' },
  ...{ memberId: 'a1', state: 'sealed', lastVersion: '3.6.16', runs: 1 },
};
const seed: Identity = { ...identity, ordinal: 0, mode: 'new' };
const epoch2 = recordOf({ epoch: 2, minEpoch: 2 });

test.each([
  ['no record was ever seen: a member that joined', { identity }, undefined],
  ['no record was ever seen: the seed', { identity: seed }, /waiting for the reconciler to see/],
  ['of the record’s epoch', { identity, record: epoch2 }, undefined],
  ['below the minEpoch of the pod template', { identity, minEpoch: 3 }, /epoch 2, but the cluster is at epoch 3/],
  ['below the minEpoch of the record', { identity, record: { ...epoch2, minEpoch: 3 } }, /at epoch 3/],
  ['below the epoch of the record', { identity, record: recordOf({ epoch: 4 }) }, /at epoch 4/],
  ['above an old record: a member', { identity, record: recordOf() }, undefined],
  ['above an old record: the seed', { identity: seed, record: recordOf() }, /waiting for the reconciler to see/],
  [
    'the seed, not seeded',
    { identity: seed, record: { ...epoch2, seeded: false } },
    /waiting for the reconciler to see/,
  ],
  ['the seed, seeded', { identity: seed, record: epoch2 }, undefined],
  [
    'the seed of a restore',
    { identity: { ...seed, mode: 'restore' }, record: { ...epoch2, seeded: false } },
    /waiting for the reconciler to see/,
  ],
  [
    'removed',
    { identity, record: { ...epoch2, tombstones: [{ memberId: 'a1', ordinal: 1, epoch: 2, at: '', why: 'Dead' }] } },
    /was removed/,
  ],
])('data: %s', (_, facts, why) => {
  const answer = notServed({ minEpoch: 0, ...facts });
  expect(answer).toEqual(why && { ready: false, why: expect.stringMatching(why) });
});

const ok = { status: 200, body: 'ok' };
const metrics = { isLearner: false, hasLeader: true } as EtcdMetrics;

test.each([
  ['3.6.16', { readyz: ok }, undefined],
  ['3.5.19', { readyz: ok }, undefined],
  [
    '3.7.3',
    { readyz: { status: 503, body: '[-]linearizable_read failed\nreadyz check failed\n' } },
    /read failed; readyz/,
  ],
  ['3.6.16', {}, /does not answer \/readyz/],
  ['3.5.18', { readyz: ok, metrics }, undefined],
  ['3.5.18', { readyz: ok, metrics: { ...metrics, isLearner: true } }, /learner/],
  ['3.5.18', { readyz: ok, metrics: { ...metrics, hasLeader: false } }, /no leader/],
  ['3.5.18', { readyz: ok }, /does not answer \/metrics/],
  ['3.5.18', { readyz: { status: 503, body: 'no' }, metrics }, /not ready: no/],
  ['3.4.23', { readyz: { status: 404, body: '' }, metrics }, undefined],
  ['3.4.23', { readyz: { status: 404, body: '' }, metrics: { ...metrics, isLearner: true } }, /learner/],
  ['3.4.30', { readyz: ok, metrics: { ...metrics, isLearner: true } }, /learner/],
])('etcd %s: %j', (etcdVersion, answers, why) => {
  expect(etcdReadiness({ etcdVersion, ...answers })).toEqual(
    why ? { ready: false, why: expect.stringMatching(why) } : { ready: true, why: 'ok' },
  );
});
