import type { StatusResponse } from '../../../etcd/maintenance.ts';
import { AgentError, ExitCode, usageError } from '../../../lib/errors.ts';
import type { Finding } from '../../../lib/finding.ts';

/**
 * Number of Raft entries by which a follower may lag and still be a source: etcd keeps 5,000 entries for slow
 * followers.
 */
const MAX_LAG = 5_000;

export interface ObservedMember {
  readonly endpoint: string;
  readonly status: StatusResponse;
}

const unavailable = (message: string, finding?: Finding) =>
  new AgentError(ExitCode.etcdUnavailable, message, { finding });

/**
 * Returns the members that a snapshot can be taken from, best first: followers with little lag, then the leader. Excludes
 * learners and members that disagree with the majority about the cluster or the leader. Also excludes members with a CORRUPT
 * alarm, unless all have one.
 */
export function rankSources<M extends ObservedMember>(observed: readonly M[], corrupt: ReadonlySet<string>): M[] {
  const voters = observed.filter(({ status }) => !status.isLearner);
  if (voters.length === 0)
    throw unavailable('only learners answered, and a learner may lack writes', { kind: 'learnersOnly' });
  const clusterId = majority(voters.map(({ status }) => status.clusterId));
  if (!clusterId) {
    throw usageError('the endpoints belong to different etcd clusters; name the members of one cluster', {
      at: 'endpoints',
    });
  }
  const ofCluster = voters.filter(({ status }) => status.clusterId === clusterId);
  const leaders = ofCluster.map(({ status }) => status.leader).filter((leader) => leader !== '0');
  const leader = majority(leaders);
  if (!leader) {
    if (leaders.length === 0) throw unavailable('no member knows a leader: quorum is lost', { kind: 'noQuorum' });
    throw unavailable('the members disagree about the leader; try again');
  }
  const newest = Math.max(...ofCluster.map(({ status }) => status.raftIndex));
  const lag = ({ status }: M) => newest - status.raftAppliedIndex;
  const agreeing = ofCluster.filter(({ status }) => status.leader === leader);
  const healthy = agreeing.filter(({ status }) => !corrupt.has(status.memberId));
  const candidates = healthy.length > 0 ? healthy : agreeing;
  const followers = candidates
    .filter((member) => member.status.memberId !== leader && lag(member) <= MAX_LAG)
    .sort((a, b) => lag(a) - lag(b) || a.status.memberId.localeCompare(b.status.memberId));
  const sources = [...followers, ...candidates.filter(({ status }) => status.memberId === leader)];
  if (sources.length === 0) {
    throw unavailable(
      `every follower that answered is more than ${MAX_LAG} entries behind, and the leader did not answer`,
    );
  }
  return sources;
}

/** Returns the value that occurs more often than any other. */
function majority(values: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a);
  return first && first[1] !== second?.[1] ? first[0] : undefined;
}
