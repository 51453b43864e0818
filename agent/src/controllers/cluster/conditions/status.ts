import { isSameStatus } from '../../../kube/merge-patch.ts';
import { withoutUndefined } from '../../../lib/without-undefined.ts';
import type { ClusterStatus, ReportedCondition, ReportedMember } from '../../../protocol/cluster-status.ts';
import { type Condition, type ConditionType, hinders } from '../../../protocol/condition.ts';
import type { Reason } from '../../../protocol/reasons.ts';
import { compareVersions, minorOf } from '../../../protocol/versions.ts';
import { podName } from '../../port/names.ts';
import type { Member, Observed } from '../../port/observed.ts';
import type { ReconcilerSettings } from '../../port/settings.ts';
import { View } from '../engine/view.ts';
import {
  answers,
  lacksManifests,
  lagOf,
  leaderOf,
  learners,
  memberAt,
  placed,
  readyVoters,
  volumeLost,
  voters,
} from '../facts/facts.ts';
import { listed, type MemberView } from '../facts/member-view.ts';
import { lasts, podAt, podsOf, recorded, statefulSet, statusOf } from '../facts/observations.ts';
import { certificateReasons, certificatesOf } from './certificates.ts';
import { maintenanceOf, maintenanceWithoutRecord } from './maintenance-report.ts';
import { type Operations, operationsOf } from './operation-report.ts';

/** What a pass knows beside its observation. */
interface Known {
  readonly waiting?: ClusterStatus['waiting'];
  /** With exact numbers. Default: as observed. */
  readonly members?: readonly ReportedMember[];
}

/** Builds the status; undefined while the resource cannot be read, or the record cannot be read for a moment. */
export function clusterStatus(
  observed: Observed,
  conditions: readonly Condition[],
  now: number,
  settings: ReconcilerSettings,
  { waiting, members }: Known = {},
): ClusterStatus | undefined {
  const { cluster } = observed;
  if (!cluster.known || !cluster.v) return undefined;
  const { generation, status } = cluster.v;
  const view = new View(observed, now, settings);
  const isBlind = lasts(view, observed.since.blind, settings.unreachable);
  if (!observed.record.known && !observed.record.unreadable && !lacksManifests(view) && !isBlind) return undefined;
  const record = observed.record.known ? observed.record.v : undefined;
  return withoutUndefined({
    observedGeneration: generation,
    ...inOneWord(conditions),
    ...(record ? recordFacts(view) : lastFacts(status)),
    lastBackup: newest([status.lastBackup, record?.doc.lastBackup, cluster.v.backups?.last]),
    size: statefulSet(view)?.replicas,
    certificates: certificatesOf(cluster.v),
    ...(record && observed.members.known ? memberFacts(view) : {}),
    ...(record ? operationsOf(view, conditions, view.date) : kept(status)),
    waiting,
    maintenance: record ? maintenanceOf(view) : maintenanceWithoutRecord(cluster.v),
    members: record ? (members ?? membersOf(view)).map(roughlySo(settings, status.members)) : [],
    conditions: conditions.map((condition) => dated(condition, status.conditions, view.date, generation)),
  });
}

/** Returns the status to write. Undefined while the present one is equal and recent enough. */
export function statusToWrite(
  before: Partial<ClusterStatus> | undefined,
  status: ClusterStatus,
  now: number,
  { heartbeat }: Pick<ReconcilerSettings, 'heartbeat'>,
): ClusterStatus | undefined {
  const { observedAt, ...said } = before ?? {};
  const age = now - Date.parse(observedAt ?? '');
  // A time in the future comes from another clock.
  if (isSameStatus(said, status) && age >= 0 && age < heartbeat) return undefined;
  return { ...status, observedAt: new Date(now).toISOString().replace(/\.\d+/, '') };
}

function recordFacts(v: View): Partial<ClusterStatus> {
  const { epoch, clusterId, clusterUid, lastRestoreId } = v.record;
  // A bootstrap that has not begun does not prove that there was a cluster.
  return { epoch: epoch > 0 ? epoch : undefined, clusterId, clusterUid, lastRestoreId };
}

/** Facts of a record that is gone or cannot be read, from the last status. */
const lastFacts = ({
  epoch,
  clusterId,
  clusterUid,
  lastRestoreId,
}: Partial<ClusterStatus>): Partial<ClusterStatus> => ({
  ...{ epoch, clusterId, clusterUid, lastRestoreId },
});

const kept = ({ operation, lastOperation }: Partial<ClusterStatus>): Operations => ({ operation, lastOperation });

/** The newest of these backups. A reported one stays, because its EtcdBackup may be gone. */
const newest = (backups: readonly ClusterStatus['lastBackup'][]): ClusterStatus['lastBackup'] =>
  backups
    .filter((backup) => backup !== undefined)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .at(-1);

function memberFacts(v: View): Partial<ClusterStatus> {
  const versions = listed(v)
    .flatMap(({ status }) => status?.version ?? [])
    .sort(compareVersions);
  const leader = listed(v).find(({ id }) => id === leaderOf(v));
  const [learner] = learners(v);
  return {
    voters: voters(v).length,
    readyVoters: v.o.pods.known ? readyVoters(v).length : undefined,
    learner: learner && podOf(v, learner),
    leader: leader && podOf(v, leader),
    version: versions.findLast((version) => minorOf(version) === v.record.versions.current) ?? versions[0],
    minVersion: versions[0],
  };
}

const podOf = (v: View, { ordinal }: MemberView): string | undefined =>
  ordinal === undefined ? undefined : podName(v.cluster, ordinal);

/** The members, with exact numbers. */
export function membersOf(v: View): ReportedMember[] {
  const ordinals = [
    ...Object.keys(v.record.members).map(Number),
    ...podsOf(v).map(({ ordinal }) => ordinal),
    ...placed(listed)(v).map(({ ordinal }) => ordinal),
  ];
  return [...new Set(ordinals)].sort((a, b) => a - b).map((ordinal) => reported(v, ordinal));
}

function reported(v: View, ordinal: number): ReportedMember {
  const member = memberAt(v, ordinal);
  const memberId = member?.id ?? recorded(v, ordinal)?.memberId;
  const status = memberId === undefined ? undefined : statusOf(v, memberId);
  return withoutUndefined({
    ordinal,
    pod: podName(v.cluster, ordinal),
    memberId,
    role: member && roleOf(v, member),
    version: status?.version,
    healthy: memberId !== undefined && answers(v, memberId),
    dbSize: status?.dbSize,
    volumeUse: volumeUseOf(v, ordinal),
    // Without the list of members, nobody knows how far the others are.
    lag: status && memberId !== undefined && v.o.members.known ? Math.max(0, lagOf(v, memberId)) : undefined,
    loaded: loadedBy(v, ordinal),
    reason: reasonOf(v, ordinal, memberId),
  });
}

function volumeUseOf(v: View, ordinal: number): number | undefined {
  const agent = v.o.agents[ordinal];
  const { freeBytes = 0, totalBytes = 0 } = (agent?.known && agent.v.volume) || {};
  const use = ((totalBytes - freeBytes) * 100) / totalBytes;
  return totalBytes > 0 && Number.isFinite(use) ? use : undefined;
}

function loadedBy(v: View, ordinal: number): ReportedMember['loaded'] {
  const agent = v.o.agents[ordinal];
  const { peer, client } = (agent?.known && agent.v.roots) || {};
  const loaded = withoutUndefined({ peerRoot: peer?.loaded, clientRoot: client?.loaded });
  return Object.keys(loaded).length > 0 ? loaded : undefined;
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
  if (!agent?.known) return 'AgentUnreachable';
  if (agent.v.reason) return agent.v.reason;
  if (memberId !== undefined && volumeLost(v, ordinal, memberId)) return 'VolumeLost';
  return memberId === undefined ? agent.v.state : undefined;
}

const mebibyte = 1024 * 1024;

/** Rounded: exact numbers would be written in each pass. */
const roughlySo =
  ({ restartLag }: ReconcilerSettings, before: readonly Partial<ReportedMember>[] = []) =>
  (member: ReportedMember): ReportedMember => {
    const { ordinal, dbSize, lag, volumeUse } = member;
    const last = before.find((each) => each.ordinal === ordinal)?.volumeUse;
    return withoutUndefined({
      ...member,
      dbSize: dbSize === undefined ? undefined : Math.ceil(dbSize / mebibyte) * mebibyte,
      volumeUse: volumeUse === undefined ? undefined : roughShare(volumeUse, last),
      lag: lag !== undefined && lag <= restartLag ? 0 : lag,
    });
  };

const share = { step: 5, slack: 1 };

/** In percent. etcd creates and removes files all the time, so a use near a boundary stays with what was reported last. */
function roughShare(use: number, last = 0): number {
  const isSame = use <= last && use > last - share.step - share.slack;
  return isSame ? last : Math.min(100, Math.ceil(Math.max(0, use) / share.step) * share.step);
}

interface Telling {
  type: ConditionType;
  status: Condition['status'];
  /** Default: any. */
  reasons?: readonly Reason[];
  /** Default: the reason. */
  phase?: string;
  /** The reason comes from what is degraded, if anything is. */
  yields?: true;
  /** Only while this one is True. */
  beside?: ConditionType;
}

/** While certificates are issued, nothing is wrong. */
const certificateTroubles: readonly Reason[] = certificateReasons.filter((reason) => reason !== 'Issuing');

/** The first that holds gives phase and reason. */
const telling: readonly Telling[] = [
  { type: 'Progressing', status: 'False', reasons: ['Paused'], yields: true },
  { type: 'Stalled', status: 'True', phase: 'Stalled' },
  // Quorum is lost, but a restore or recovery was requested.
  { type: 'Progressing', status: 'True', reasons: ['PreparingRestore', 'Restoring', 'Recovering'], yields: true },
  { type: 'QuorumLost', status: 'True', phase: 'QuorumLost' },
  { type: 'Accepted', status: 'False', phase: 'Refused' },
  { type: 'Available', status: 'Unknown', phase: 'Unknown' },
  { type: 'Progressing', status: 'True', yields: true },
  { type: 'Degraded', status: 'True', phase: 'Degraded' },
  { type: 'Available', status: 'False' },
  { type: 'CertificatesReady', status: 'False', reasons: certificateTroubles, phase: 'Ready', beside: 'Ready' },
  { type: 'TransportReady', status: 'False', reasons: ['PlaintextAccepted'], phase: 'Ready', beside: 'Ready' },
  { type: 'AuthReady', status: 'False', phase: 'Ready', beside: 'Ready' },
  {
    type: 'BackupHealthy',
    status: 'False',
    reasons: ['LastBackupFailed', 'BackupPending', 'BackupOverdue'],
    phase: 'Ready',
    beside: 'Ready',
  },
  { type: 'Ready', status: 'True', phase: 'Ready' },
  { type: 'Ready', status: 'Unknown', phase: 'Unknown' },
  { type: 'Ready', status: 'False', phase: 'Waiting' },
];

function inOneWord(conditions: readonly Condition[]): Pick<ClusterStatus, 'phase' | 'reason' | 'message'> {
  const holds = (type: ConditionType) => conditions.some((each) => each.type === type && each.status === 'True');
  for (const { type, status, reasons, phase, yields, beside } of telling) {
    const found = conditions.find((each) => each.type === type && each.status === status);
    if (!found || (reasons && !reasons.includes(found.reason)) || (beside && !holds(beside))) continue;
    const { reason, message } = (yields && conditions.find(hinders)) ?? found;
    return { phase: phase ?? found.reason, reason, message };
  }
  return { phase: 'Unknown', reason: 'StateUnknown', message: 'nothing is known yet' };
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
