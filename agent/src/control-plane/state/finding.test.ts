import { type FindingRequest, finding } from './finding.ts';
import type { PeerAnswer } from './health.ts';
import type { SeenRevision } from './served-revisions.ts';

const url = (n: number) => `https://10.0.0.${n}:2380`;
const members = [1, 2, 3].map((n) => ({ name: `cp${n}`, peerUrls: [url(n)] }));
const answer = (n: number, clusterId = 'c0', of = members): PeerAnswer => ({ url: url(n), clusterId, members: of });
const seen = (revision: number, clusterId = 'c0', more: Partial<SeenRevision> = {}): SeenRevision => ({
  ...{ revision, clusterId, where: 'etcd', hasQuorum: true },
  ...more,
});
const found = (more: Partial<FindingRequest>): string =>
  finding({
    member: { name: 'cp1', peerUrls: url(1), listenPeerUrls: [url(1)] },
    ...{ here: [], answers: [], snapshot: { createdAt: 'T', revision: 1000, members, clusterIds: ['c0'] } },
    ...more,
  });
const dead = { trouble: 'etcd does not answer yet' };

test('all serve: restore only if the data is wrong', () => {
  const answers = [1, 2, 3].map((n) => answer(n));
  expect(found({ answers, here: [seen(1500)] })).toBe(
    'etcd on this node is healthy and has a quorum (cp1, cp2, cp3, revision 1500): restore only if its data is wrong, because everything since the snapshot of T (revision 1000) will be lost',
  );
});

test('one disk is lost and two members serve: no restore', () => {
  const others = { answers: [answer(2), answer(3)], here: [seen(1500)] };
  const message =
    /^No restore is needed to serve again: other members have a quorum .* \(cp2, cp3, revision 1500\)\. Remove its member .*kubeadm join\)\. The steps below discard everything since .* on all nodes$/;
  expect(found({ ...dead, ...others })).toMatch(message);
  // Without their client URLs, as of an adopted snapshot.
  expect(found({ ...dead, answers: others.answers })).toMatch(/^No restore is needed .*\(cp2, cp3\)/);
  // kubelet and etcd have begun anew on the empty disk.
  const alone = [members[0]!];
  const fresh = [seen(3, 'c9', { isFresh: true }), seen(1500)];
  expect(found({ answers: [answer(1, 'c9', alone), ...others.answers], here: fresh })).toMatch(message);
});

test('an empty etcd is not a healthy one', () => {
  const answers = [answer(1, 'c9', [members[0]!])];
  expect(found({ answers, here: [seen(3, 'c9', { isFresh: true })] })).toMatch(
    /^etcd on this node does not have the data of the snapshot: it began later in an empty directory, and has revision 3 and 1 member, where the snapshot has revision 1000 and 3 members\. /,
  );
});

test('a quorum is missing', () => {
  expect(found({ ...dead, answers: [answer(2)], here: [seen(1500, 'c0', { hasQuorum: false })] })).toMatch(
    /^No quorum serves, .*: only cp2 answers\. etcd on this node: etcd does not answer yet\. If 2 members can be started with their data, do that instead/,
  );
  expect(found(dead)).toMatch(/no member answers/);
});

test('an alarm is cured without a restore', () => {
  const answers = [1, 2, 3].map((n) => answer(n));
  expect(found({ trouble: 'etcd has the alarm NOSPACE', answers, here: [seen(1500)] })).toMatch(
    /^etcd on this node: etcd has the alarm NOSPACE\. Its cluster has a quorum .*: cure that instead of a restore/,
  );
});

test('an etcd that began empty in the place of a member, or is of another cluster, does not serve the snapshot', () => {
  const local: SeenRevision = { revision: 1500, clusterId: 'c0', where: 'the data' };
  const here = [seen(1500, 'c0', { hasQuorum: false }), local, seen(3, 'c9')];
  const empty = answer(2, 'c9', [members[1]!]);
  expect(found({ trouble: 'no quorum', answers: [answer(1), empty], here })).toMatch(
    /^No quorum serves, .*: only cp1 answers\. cp2 began empty \(cluster c9, revision 3\), without the data of the snapshot\. /,
  );
  const foreign = answer(2, 'ff', [{ name: 'other', peerUrls: [url(2)] }]);
  for (const more of [[], [seen(9000, 'ff')]]) {
    expect(found({ ...dead, answers: [foreign], here: [local, ...more] })).toMatch(
      /^No quorum serves, .*: no member answers\. cp2 answers for another cluster \(ff\)\. etcd on this node: /,
    );
  }
  // All others began empty: a majority of the members is not the data, nor is the id, which follows from their flags.
  for (const id of ['c0', 'c9']) {
    const answers = [2, 3].map((n) => answer(n, id));
    expect(found({ ...dead, answers, here: [local, seen(3, id), seen(3, id)] })).toMatch(
      /^No quorum serves, .* cp2, cp3 began empty/,
    );
  }
});

test('a member counts once, and only as a voter of its cluster', () => {
  const member = { name: 'cp1', peerUrls: url(1), listenPeerUrls: ['https://0.0.0.0:2380'] };
  const twice = [answer(1), { ...answer(1), url: 'https://0.0.0.0:2380' }];
  expect(found({ member, trouble: 'no quorum', answers: twice })).toMatch(/^No quorum serves, .*: only cp1 answers\. /);
  const learner = { name: 'cp4', peerUrls: [url(4)], isLearner: true };
  const withLearner = [...members, learner];
  expect(found({ ...dead, answers: [2, 4].map((n) => answer(n, 'c0', withLearner)) })).toMatch(/^No quorum serves, /);
  expect(found({ ...dead, answers: [2, 3].map((n) => answer(n, 'c0', withLearner)) })).toMatch(
    /^No restore is needed .*\(cp2, cp3\)/,
  );
});

test('what serves clients counts, even if no peer answers', () => {
  const here = [2, 3].map((n) => seen(1500, 'c0', { where: `etcd at https://10.0.0.${n}:2379` }));
  expect(found({ ...dead, here })).toMatch(
    /^No restore is needed .* \(etcd at https:\/\/10\.0\.0\.2:2379, etcd at https:\/\/10\.0\.0\.3:2379, revision 1500\)/,
  );
  expect(found({ here })).toMatch(/^etcd on this node is healthy and has a quorum \(etcd at /);
});
