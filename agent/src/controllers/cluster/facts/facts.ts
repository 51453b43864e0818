import type { RestoreOp } from '../../../protocol/record.ts';
import { addsWithDeadVoter, compareVersions } from '../../../protocol/versions.ts';
import { podName, sizeProblem } from '../../port/names.ts';
import type { Alarm, Job, JobKind, Member, Pod } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';
import { isPlaced, listed, type MemberView, type PlacedMember } from './member-view.ts';
import { agentAt, lasts, podAt, recorded, refusalAt, requestOf, statusOf } from './observations.ts';
import { isPodUnknown } from './sources.ts';

// A fact is true only if it is certain. What is unknown makes it false or undefined; it never counts as "absent".

export const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1;

export const voters = (v: View): MemberView[] => listed(v).filter((member) => !member.isLearner);
export const learners = (v: View): MemberView[] => listed(v).filter((member) => member.isLearner);
export const started = (member: Member): boolean => member.name !== '';
/** Limits members to those at the address of a pod. */
export const placed =
  (of: (v: View) => readonly MemberView[]) =>
  (v: View): PlacedMember[] =>
    of(v).filter(isPlaced);
/** A learner may have been added at the address of a voter's pod by hand. */
export const memberAt = (v: View, ordinal: number): PlacedMember | undefined => {
  const found = placed(listed)(v).filter((member) => member.ordinal === ordinal);
  return found.find(({ isLearner }) => !isLearner) ?? found[0];
};
/** A member at the address of no pod: added by hand, or under another domain. Nothing else is known of it. */
export const foreignMember = (v: View): MemberView | undefined =>
  listed(v).find((member) => member.ordinal === undefined);
export const nameOf = (v: View, { id, ordinal }: MemberView): string =>
  `member ${id}${ordinal === undefined ? '' : ` (${podName(v.cluster, ordinal)})`}`;
export const isListed = (v: View, memberId: string): boolean => listed(v).some(({ id }) => id === memberId);
/** Certain: a linearizable read did not list it. */
export const isGone = (v: View, memberId: string): boolean => v.o.members.known && !isListed(v, memberId);

export const leaderOf = (v: View): string | undefined => {
  for (const { id } of voters(v)) {
    const leader = statusOf(v, id)?.leader;
    if (leader && isListed(v, leader)) return leader;
  }
  return undefined;
};

export const leaderIndex = (v: View): number => Math.max(0, ...listed(v).map(({ status }) => status?.raftIndex ?? 0));

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

/** It has answered for long enough, and its pod stays. A pod that is being deleted still answers for seconds. */
export const healthy = (v: View, memberId: string): boolean =>
  answers(v, memberId) && lasts(v, v.o.since.healthy[memberId], v.s.stable) && podStays(v, memberId);

const podStays = (v: View, memberId: string): boolean => {
  const member = listed(v).find(({ id }) => id === memberId);
  return member !== undefined && member.pod?.deleting === false;
};

/**
 * For reports only. A reconciler that has just started has not watched a member for long enough; the last status says
 * whether its predecessor had.
 */
export const seemsHealthy = (v: View, memberId: string): boolean =>
  healthy(v, memberId) || (wasHealthy(v, memberId) && answers(v, memberId) && podStays(v, memberId));

const wasHealthy = (v: View, memberId: string): boolean =>
  !lasts(v, v.o.since.holder, v.s.stable) &&
  v.cluster.status.members?.some((member) => member.memberId === memberId && member.healthy) === true;

export const healthyVoters = (v: View): MemberView[] => voters(v).filter(({ id }) => healthy(v, id));
export const allVotersHealthy = (v: View): boolean =>
  v.o.members.known && voters(v).length > 0 && healthyVoters(v).length === voters(v).length;

/** Only such a pod receives traffic from a Service. */
const isServing = (pod: Pod | undefined): boolean => pod?.ready === true && !pod.deleting;
export const hasReadyPod = (member: MemberView): boolean => isServing(member.pod);
/** Clients reach them by Services. */
export const readyVoters = (v: View): MemberView[] =>
  voters(v).filter((member) => answers(v, member.id) && hasReadyPod(member));
const healthyWithout = (v: View, memberId: string): number =>
  healthyVoters(v).filter(({ id }) => id !== memberId).length;

/** A linearizable read succeeded, and a quorum of voters answers. */
export const quorumServes = (v: View): boolean =>
  v.o.members.known && voters(v).filter(({ id }) => answers(v, id)).length >= quorumOf(voters(v).length);

/** A majority of agents sees a leader, so only the reconciler cannot read. */
const leaderIsSeen = (v: View): boolean => {
  const members = Object.keys(v.record.members).map(Number);
  const seen = members.filter((ordinal) => agentAt(v, ordinal)?.etcd?.up && agentAt(v, ordinal)?.etcd?.hasLeader);
  return members.length > 0 && seen.length >= quorumOf(members.length);
};

/** No pod is ready without a quorum. So only the reconciler is cut off, or has lost the authority by which it verifies members. */
export const quorumIsReady = (v: View): boolean => {
  const members = Object.keys(v.record.members).map(Number);
  return members.filter((ordinal) => isServing(podAt(v, ordinal))).length >= quorumOf(members.length);
};

export const quorumLostLong = (v: View): boolean =>
  !quorumServes(v) &&
  !leaderIsSeen(v) &&
  !isPodUnknown(v) &&
  !quorumIsReady(v) &&
  lasts(v, v.o.since.quorumLost, v.s.quorumLost);

/** The voters that stay when this one is removed are a quorum of themselves, all healthy. */
export const safeRemove = (v: View, memberId: string): boolean =>
  quorumServes(v) && healthyWithout(v, memberId) >= quorumOf(voters(v).length - 1);

/**
 * The restart of a healthy voter leaves a quorum, and only one voter is away at a time. A broken voter may restart at once.
 * A cluster of one or two wanted voters cannot be restarted without a pause.
 */
export const safeRestart = (v: View, memberId: string): boolean => {
  const others = voters(v).filter(({ id }) => id !== memberId);
  const justTwo = wantedSize(v) === 2 && voters(v).every((member) => isWanted(v, member.ordinal));
  const pauses = others.length === 0 || (others.length === 1 && justTwo);
  if (pauses) return others.every(({ id }) => healthy(v, id));
  if (healthyWithout(v, memberId) < quorumOf(voters(v).length)) return false;
  return !answers(v, memberId) || others.every(({ id }) => healthy(v, id));
};

const lowestVersion = (v: View): string | undefined =>
  voters(v)
    .map(({ status }) => status?.version)
    .filter((version) => version !== undefined)
    .sort(compareVersions)[0];

/** Why etcd accepts no member, if a person has to end that. */
export const whyNoneJoins = (v: View): string | undefined =>
  listed(v).some(({ status }) => status?.downgradeEnabled)
    ? 'etcd adds no member while a downgrade is enabled; end it with etcdctl downgrade cancel'
    : undefined;

/** etcd would accept a learner now. */
export const canAdd = (v: View): boolean => {
  if (whyNoneJoins(v) !== undefined) return false;
  const connected = voters(v).filter(({ id }) => answers(v, id)).length;
  const all = voters(v).length;
  const version = lowestVersion(v);
  if (version && addsWithDeadVoter(version)) return all === 1 ? connected === 1 : connected >= quorumOf(all + 1);
  return all > 0 && connected === all;
};

export const alarms = (v: View, type: Alarm['type']): Alarm[] =>
  v.o.alarms.known ? v.o.alarms.v.filter((alarm) => alarm.type === type) : [];
export const jobOf = (v: View, kind: JobKind): Job | undefined =>
  v.o.jobs.known ? v.o.jobs.v.find((job) => job.kind === kind) : undefined;

/** The EtcdCluster was applied without the rest of its manifests, and so without the permissions that come with them. */
export const lacksManifests = ({ o, cluster }: View): boolean =>
  o.statefulSet.known && o.statefulSet.v === undefined && !cluster.deleting;

/** The gate of this member found its volume behind its mark in the record. */
export const isSetBack = (v: View, ordinal: number, memberId: string): boolean =>
  refusalAt(v, ordinal) === 'VolumeSetBack' && agentAt(v, ordinal)?.volume.identity?.memberId === memberId;

/**
 * The volume of the member at this ordinal is lost: its pod asks for a permit with another volumeId, or with the same one
 * after the member has voted, which means that its data directory was emptied. A volume that was set back is lost, too.
 */
export const volumeLost = (v: View, ordinal: number, memberId: string): boolean => {
  if (isSetBack(v, ordinal, memberId)) return true;
  const volumeId = requestOf(v, ordinal);
  if (volumeId === undefined) return false;
  const member = recorded(v, ordinal);
  return member?.memberId !== memberId || member.volumeId !== volumeId || member.everVoter;
};

export const hasLostVolume = (v: View, { ordinal, id }: MemberView): boolean =>
  ordinal !== undefined && volumeLost(v, ordinal, id);

/** The agent at this ordinal has reported the same evidence for long enough. */
export const evidenceLasts = (v: View, { ordinal }: Pick<MemberView, 'ordinal'>): boolean =>
  ordinal !== undefined && lasts(v, v.o.since.evidence[ordinal], v.s.evidence);

/** Its volume is certainly lost. */
export const isLost = (v: View, member: MemberView): boolean => hasLostVolume(v, member) && evidenceLasts(v, member);

/** `replace.force` names it by ordinal and id. */
export const isForced = (v: View, { ordinal, id }: MemberView): boolean =>
  v.spec.replace.force.some((request) => request.ordinal === ordinal && request.memberId === id);

/** Its volume is certainly lost, or `replace.force` names it. */
export const removalDue = (v: View, member: MemberView): boolean => {
  return isForced(v, member) || (isLost(v, member) && v.spec.replace.policy === 'OnVolumeLoss');
};

export const highestMember = (v: View): number =>
  Math.max(-1, ...Object.keys(v.record.members).map(Number), ...placed(listed)(v).map(({ ordinal }) => ordinal));

/** The size of the spec. A size that is refused leaves the cluster as it is. */
export const wantedSize = (v: View): number => (sizeProblem(v.spec) === undefined ? v.spec.size : highestMember(v) + 1);
export const isWanted = (v: View, ordinal: number | undefined): boolean =>
  ordinal !== undefined && ordinal < wantedSize(v);

export const isSeeded = (v: View): boolean => v.record.seeded;
/** A new cluster has reached its size. */
export const isBorn = (v: View): boolean => isSeeded(v) && v.record.phase !== 'Seeding';
export const isTombstoned = (v: View, memberId: string | undefined): boolean =>
  v.record.tombstones.some((tombstone) => tombstone.memberId === memberId);

export const restoreOp = (v: View): RestoreOp | undefined => v.op('Restore') ?? v.op('Recover');

export const beforeFence = (v: View): RestoreOp | undefined =>
  v.record.phase === 'Restoring' ? undefined : restoreOp(v);

/** The restore past its fence; no client is served until its seed is. */
export const pastFence = (v: View): RestoreOp | undefined =>
  v.record.phase === 'Restoring' ? restoreOp(v) : undefined;
