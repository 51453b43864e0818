import type { AgentStatus } from '../../../protocol/agent-status.ts';
import type { RecordedMember } from '../../../protocol/record.ts';
import { addsWithDeadVoter, compareVersions } from '../../../protocol/versions.ts';
import { ordinalOfUrl, podName } from '../names.ts';
import type { Alarm, Claim, Job, JobKind, Member, MemberStatus, Pod, StatefulSet } from '../observed.ts';
import { sizeProblem } from '../size.ts';
import type { View } from './view.ts';

// Each fact is true only when it is certain: what is unknown makes it false (or undefined), never "absent".

export const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1;

export const listed = (v: View): Member[] => (v.o.members.known ? v.o.members.v : []);
export const voters = (v: View): Member[] => listed(v).filter((member) => !member.isLearner);
export const learners = (v: View): Member[] => listed(v).filter((member) => member.isLearner);
export const started = (member: Member): boolean => member.name !== '';
export const ordinalOf = (v: View, member: Member): number | undefined => ordinalOfUrl(v.cluster, member.peerUrl);
export const memberAt = (v: View, ordinal: number): Member | undefined =>
  listed(v).find((member) => ordinalOf(v, member) === ordinal);
/** At an address that is none of the pods': added by hand, or under another domain. Nothing is known of it. */
export const foreignMember = (v: View): Member | undefined =>
  listed(v).find((member) => ordinalOf(v, member) === undefined);
export function nameOf(v: View, member: Member): string {
  const ordinal = ordinalOf(v, member);
  return `member ${member.id}${ordinal === undefined ? '' : ` (${podName(v.cluster, ordinal)})`}`;
}
export const isListed = (v: View, memberId: string): boolean => listed(v).some(({ id }) => id === memberId);
/** Certain: a linearizable read did not name it. */
export const isGone = (v: View, memberId: string): boolean => v.o.members.known && !isListed(v, memberId);

export const recorded = (v: View, ordinal: number): RecordedMember | undefined => v.record.members[ordinal];

export const statusOf = (v: View, memberId: string): MemberStatus | undefined => {
  const status = v.o.status[memberId];
  return status?.known ? status.v : undefined;
};

export const leaderOf = (v: View): string | undefined => {
  for (const { id } of voters(v)) {
    const leader = statusOf(v, id)?.leader;
    if (leader && isListed(v, leader)) return leader;
  }
  return undefined;
};

export const leaderIndex = (v: View): number =>
  Math.max(0, ...listed(v).map(({ id }) => statusOf(v, id)?.raftIndex ?? 0));

export const lagOf = (v: View, memberId: string): number => {
  const status = statusOf(v, memberId);
  return status ? leaderIndex(v) - status.appliedIndex : Number.POSITIVE_INFINITY;
};

/** Answers as a member of this cluster, with a leader and a small lag. */
export const answers = (v: View, memberId: string): boolean => {
  const status = statusOf(v, memberId);
  return (
    status !== undefined &&
    status.clusterId === v.record.clusterId &&
    status.leader !== '' &&
    lagOf(v, memberId) < v.s.healthyLag
  );
};

export const lasts = (v: View, since: number | undefined, howLong: number): boolean =>
  since !== undefined && v.now - since >= howLong;

/** answers, has for long enough, and its pod stays: one that is being deleted still answers for seconds. */
export const healthy = (v: View, memberId: string): boolean =>
  answers(v, memberId) && lasts(v, v.o.since.healthy[memberId], v.s.stable) && podStays(v, memberId);

const podStays = (v: View, memberId: string): boolean => {
  const member = listed(v).find(({ id }) => id === memberId);
  return member !== undefined && podAt(v, ordinalOf(v, member) ?? -1)?.deleting === false;
};

export const healthyVoters = (v: View): Member[] => voters(v).filter(({ id }) => healthy(v, id));
export const allVotersHealthy = (v: View): boolean =>
  v.o.members.known && voters(v).length > 0 && healthyVoters(v).length === voters(v).length;

/** Only such a pod is behind a Service. */
const isServing = (pod: Pod | undefined): boolean => pod?.ready === true && !pod.deleting;
export const hasReadyPod = (v: View, member: Member): boolean => isServing(podAt(v, ordinalOf(v, member) ?? -1));
const healthyWithout = (v: View, memberId: string): number =>
  healthyVoters(v).filter(({ id }) => id !== memberId).length;

/** A linearizable read was answered and a quorum of voters answers. */
export const quorumServes = (v: View): boolean =>
  v.o.members.known && voters(v).filter(({ id }) => answers(v, id)).length >= quorumOf(voters(v).length);

/** A majority of agents sees a leader: it is only we who can not read. */
const leaderIsSeen = (v: View): boolean => {
  const members = Object.keys(v.record.members).map(Number);
  const seen = members.filter((ordinal) => agentAt(v, ordinal)?.etcd?.up && agentAt(v, ordinal)?.etcd?.hasLeader);
  return members.length > 0 && seen.length >= quorumOf(members.length);
};

export const quorumLostLong = (v: View): boolean =>
  !quorumServes(v) && !leaderIsSeen(v) && lasts(v, v.o.since.quorumLost, v.s.quorumLost);

/** What stays when m is removed is a quorum of itself. */
export const safeRemove = (v: View, memberId: string): boolean =>
  quorumServes(v) && healthyWithout(v, memberId) >= quorumOf(voters(v).length - 1);

/**
 * A restart of a healthy voter leaves a quorum, and only one voter is away at a time; a broken one may go at once.
 * A cluster that is meant to have one or two voters can not be restarted without a pause.
 */
export const safeRestart = (v: View, memberId: string): boolean => {
  const others = voters(v).filter(({ id }) => id !== memberId);
  const justTwo = wantedSize(v) === 2 && voters(v).every((member) => isWanted(v, ordinalOf(v, member)));
  const pauses = others.length === 0 || (others.length === 1 && justTwo);
  if (pauses) return others.every(({ id }) => healthy(v, id));
  if (healthyWithout(v, memberId) < quorumOf(voters(v).length)) return false;
  return !answers(v, memberId) || others.every(({ id }) => healthy(v, id));
};

const lowestVersion = (v: View): string | undefined =>
  voters(v)
    .map(({ id }) => statusOf(v, id)?.version)
    .filter((version) => version !== undefined)
    .sort(compareVersions)[0];

/** Whether etcd would accept a learner now. */
export const canAdd = (v: View): boolean => {
  if (listed(v).some(({ id }) => statusOf(v, id)?.downgradeEnabled)) return false;
  const connected = voters(v).filter(({ id }) => answers(v, id)).length;
  const all = voters(v).length;
  const version = lowestVersion(v);
  if (version && addsWithDeadVoter(version)) return all === 1 ? connected === 1 : connected >= quorumOf(all + 1);
  return all > 0 && connected === all;
};

export const podsOf = (v: View): Pod[] => (v.o.pods.known ? v.o.pods.v : []);
export const podAt = (v: View, ordinal: number): Pod | undefined => podsOf(v).find((pod) => pod.ordinal === ordinal);
export const claimsOf = (v: View): Claim[] => (v.o.claims.known ? v.o.claims.v : []);
export const claimAt = (v: View, ordinal: number): Claim | undefined =>
  claimsOf(v).find((claim) => claim.ordinal === ordinal);
export const statefulSet = (v: View): StatefulSet | undefined =>
  v.o.statefulSet.known ? v.o.statefulSet.v : undefined;
export const alarms = (v: View, type: Alarm['type']): Alarm[] =>
  v.o.alarms.known ? v.o.alarms.v.filter((alarm) => alarm.type === type) : [];
export const jobOf = (v: View, kind: JobKind): Job | undefined =>
  v.o.jobs.known ? v.o.jobs.v.find((job) => job.kind === kind) : undefined;

/** An EtcdCluster without the rest of its manifests, and without the rights that come with them. */
export const lacksManifests = ({ o, cluster }: View): boolean =>
  o.statefulSet.known && o.statefulSet.v === undefined && !cluster.deleting;

/** The agent's answer, if it came from the pod that there is. */
export const agentOf = (v: View, ordinal: number): AgentStatus | undefined => {
  const agent = v.o.agents[ordinal];
  return agent?.known && agent.v.podUid === podAt(v, ordinal)?.uid ? agent.v : undefined;
};

/** The same, and its volume is empty or this cluster's. */
export const agentAt = (v: View, ordinal: number): AgentStatus | undefined => {
  const agent = agentOf(v, ordinal);
  const owner = agent?.volume.identity?.clusterUid;
  return owner === undefined || owner === v.record.clusterUid ? agent : undefined;
};

/** The volumeId with which an empty volume asks for a permit. */
export const requestOf = (v: View, ordinal: number): string | undefined => {
  const agent = agentAt(v, ordinal);
  return agent && !agent.volume.walPresent ? agent.request?.volumeId : undefined;
};

/**
 * The volume of the member at this ordinal is not there any more: its pod asks for a permit with another volumeId, or
 * with the same one after the member had voted (then its data directory was emptied).
 */
export const volumeLost = (v: View, ordinal: number, memberId: string): boolean => {
  const volumeId = requestOf(v, ordinal);
  if (volumeId === undefined) return false;
  const member = recorded(v, ordinal);
  return member?.memberId !== memberId || member.volumeId !== volumeId || member.everVoter;
};

export const evidenceLasts = (v: View, ordinal: number): boolean => lasts(v, v.o.since.evidence[ordinal], v.s.evidence);

/** Named by `replace.force` with its own id. */
export const isForced = (v: View, ordinal: number | undefined, memberId: string): boolean =>
  v.spec.replace.force.some((request) => request.ordinal === ordinal && request.memberId === memberId);

/** Lost for certain, or asked for by name. */
export const removalDue = (v: View, member: Member): boolean => {
  const ordinal = ordinalOf(v, member) ?? -1;
  const lost = volumeLost(v, ordinal, member.id) && evidenceLasts(v, ordinal);
  return isForced(v, ordinal, member.id) || (lost && v.spec.replace.policy === 'OnVolumeLoss');
};

export const highestMember = (v: View): number =>
  Math.max(-1, ...Object.keys(v.record.members).map(Number), ...listed(v).map((m) => ordinalOf(v, m) ?? -1));

/** The size asked for; one that is refused leaves the size as it is. */
export const wantedSize = (v: View): number => (sizeProblem(v.spec) === undefined ? v.spec.size : highestMember(v) + 1);
export const isWanted = (v: View, ordinal: number | undefined): boolean =>
  ordinal !== undefined && ordinal < wantedSize(v);

export const isSeeded = (v: View): boolean => v.record.seeded;
export const isTombstoned = (v: View, memberId: string | undefined): boolean =>
  v.record.tombstones.some((tombstone) => tombstone.memberId === memberId);
