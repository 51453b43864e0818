import type { ClusterStatus, ReportedCondition, ReportedMember } from './cluster-status.ts';
import type { Condition, ConditionType } from './conditions.ts';
import {
  answers,
  healthyVoters,
  lacksManifests,
  lagOf,
  leaderOf,
  learners,
  listed,
  ordinalOf,
  podAt,
  podsOf,
  recorded,
  statefulSet,
  statusOf,
  volumeLost,
  voters,
} from './facts.ts';
import { podName } from './names.ts';
import type { Member, Observed } from './observed.ts';
import type { Reason } from './reasons.ts';
import type { Settings } from './settings.ts';
import { compareVersions, minorOf } from './versions.ts';
import { View } from './view.ts';

/** Undefined when the resource or the record could not be read: what is not known is not reported. */
export function clusterStatus(
  observed: Observed,
  conditions: readonly Condition[],
  now: number,
  settings: Settings,
): ClusterStatus | undefined {
  const { cluster } = observed;
  if (!cluster.known || !cluster.v) return undefined;
  const { generation, status } = cluster.v;
  const view = new View(observed, now, settings);
  if (!observed.record.known && !lacksManifests(view)) return undefined;
  const record = observed.record.known ? observed.record.v : undefined;
  return withoutUndefined({
    observedGeneration: generation,
    ...inOneWord(conditions),
    ...(record ? recordFacts(view) : { epoch: status.epoch, clusterUid: status.clusterUid }),
    lastBackup: newest([status.lastBackup, record?.doc.lastBackup, cluster.v.backups?.last]),
    size: statefulSet(view)?.replicas,
    ...(record && observed.members.known ? memberFacts(view) : {}),
    members: record ? members(view) : [],
    conditions: conditions.map((condition) => dated(condition, status.conditions, now, generation)),
  });
}

/** From one status to the next; false for what only the passing of time changed. */
export const isSameStatus = (a: object | undefined, b: object): boolean =>
  a !== undefined && canonical(a) === canonical(b);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

function recordFacts(v: View): Partial<ClusterStatus> {
  const { epoch, clusterId, clusterUid, lastRestoreId } = v.record;
  // A bootstrap that has not begun is no proof that there ever was a cluster.
  return { epoch: epoch > 0 ? epoch : undefined, clusterId, clusterUid, lastRestoreId };
}

/** One that was told stays: its EtcdBackup may be gone. */
const newest = (backups: readonly ClusterStatus['lastBackup'][]): ClusterStatus['lastBackup'] =>
  backups
    .filter((backup) => backup !== undefined)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .at(-1);

function memberFacts(v: View): Partial<ClusterStatus> {
  const versions = listed(v)
    .flatMap(({ id }) => statusOf(v, id)?.version ?? [])
    .sort(compareVersions);
  const leader = listed(v).find(({ id }) => id === leaderOf(v));
  const [learner] = learners(v);
  return {
    voters: voters(v).length,
    readyVoters: healthyVoters(v).length,
    learner: learner && podOf(v, learner),
    leader: leader && podOf(v, leader),
    version: versions.findLast((version) => minorOf(version) === v.record.versions.current) ?? versions[0],
    minVersion: versions[0],
  };
}

const podOf = (v: View, member: Member): string | undefined => {
  const ordinal = ordinalOf(v, member);
  return ordinal === undefined ? undefined : podName(v.cluster, ordinal);
};

function members(v: View): ReportedMember[] {
  const ordinals = [
    ...Object.keys(v.record.members).map(Number),
    ...podsOf(v).map(({ ordinal }) => ordinal),
    ...listed(v).flatMap((member) => ordinalOf(v, member) ?? []),
  ];
  return [...new Set(ordinals)].sort((a, b) => a - b).map((ordinal) => reported(v, ordinal));
}

function reported(v: View, ordinal: number): ReportedMember {
  const member = listed(v).find((each) => ordinalOf(v, each) === ordinal);
  const memberId = member?.id ?? recorded(v, ordinal)?.memberId;
  const status = memberId === undefined ? undefined : statusOf(v, memberId);
  return withoutUndefined({
    ordinal,
    pod: podName(v.cluster, ordinal),
    memberId,
    role: member && roleOf(v, member),
    version: status?.version,
    healthy: memberId !== undefined && answers(v, memberId),
    dbSize: status && roughly(status.dbSize),
    lag: status && memberId !== undefined ? lagAbove(lagOf(v, memberId), v.s.restartLag) : undefined,
    reason: reasonOf(v, ordinal, memberId),
  });
}

const roleOf = (v: View, { id, isLearner }: Member): ReportedMember['role'] => {
  if (isLearner) return 'Learner';
  return leaderOf(v) === id ? 'Leader' : 'Follower';
};

function reasonOf(v: View, ordinal: number, memberId: string | undefined): string | undefined {
  const agent = v.o.agents[ordinal];
  const pod = podAt(v, ordinal);
  if (!pod) return 'PodMissing';
  if (!pod.running) return 'PodNotRunning';
  if (!agent?.known) return 'AgentSilent';
  if (agent.v.reason) return agent.v.reason;
  if (memberId !== undefined && volumeLost(v, ordinal, memberId)) return 'VolumeLost';
  return memberId === undefined ? agent.v.state : undefined;
}

const mebibyte = 1024 * 1024;

/** A status that says each byte would be written with each pass. */
const roughly = (bytes: number): number => Math.ceil(bytes / mebibyte) * mebibyte;
const lagAbove = (lag: number, small: number): number => (lag > small ? lag : 0);

interface Telling {
  type: ConditionType;
  status: Condition['status'];
  /** Default any. */
  reasons?: readonly Reason[];
  /** Default the reason. */
  phase?: string;
}

/** The first that holds says the phase and why. */
const telling: readonly Telling[] = [
  { type: 'Progressing', status: 'False', reasons: ['Paused'] },
  { type: 'Held', status: 'True', phase: 'Held' },
  // Without a quorum, but somebody asked for it.
  { type: 'Progressing', status: 'True', reasons: ['Restoring', 'Recovering'] },
  { type: 'QuorumLost', status: 'True', phase: 'QuorumLost' },
  { type: 'Accepted', status: 'False', phase: 'Refused' },
  { type: 'Progressing', status: 'True' },
  { type: 'Degraded', status: 'True', phase: 'Degraded' },
  { type: 'Available', status: 'False' },
  { type: 'Ready', status: 'True', phase: 'Ready' },
  { type: 'Ready', status: 'False', phase: 'Waiting' },
];

function inOneWord(conditions: readonly Condition[]): Pick<ClusterStatus, 'phase' | 'reason' | 'message'> {
  for (const { type, status, reasons, phase } of telling) {
    const found = conditions.find((each) => each.type === type && each.status === status);
    if (!found || (reasons && !reasons.includes(found.reason))) continue;
    return { phase: phase ?? found.reason, reason: found.reason, message: found.message };
  }
  return { phase: 'Unknown', reason: 'UnknownState', message: 'nothing is known yet' };
}

function dated(
  condition: Condition,
  before: readonly ReportedCondition[] | undefined,
  now: number,
  observedGeneration: number | undefined,
): ReportedCondition {
  const old = before?.find(({ type }) => type === condition.type);
  const since = old?.status === condition.status ? old.lastTransitionTime : new Date(now).toISOString();
  return withoutUndefined({ ...condition, lastTransitionTime: since, observedGeneration });
}

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T;
