import { adviceOn, advisoriesAsOf, advisoriesForCluster } from '../../../../../src/etcd/advisories.ts';
import { amountOf } from '../../../../../src/resource/quantity.ts';
import {
  type Condition,
  type ConditionType,
  conditionTypes,
  hinders,
  is,
  unknown,
} from '../../../protocol/condition.ts';
import { type Problem, type Reason, reasons } from '../../../protocol/reasons.ts';
import type { Op } from '../../../protocol/record.ts';
import { atLeast, compareVersions } from '../../../protocol/versions.ts';
import { podName } from '../../port/names.ts';
import type { ClusterBackups } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';
import {
  alarms,
  isBorn,
  isSeeded,
  learners,
  memberAt,
  nameOf,
  quorumServes,
  readyVoters,
  seemsHealthy,
  voters,
  wantedSize,
  whyNoneJoins,
} from '../facts/facts.ts';
import { listed } from '../facts/member-view.ts';
import { claimsOf, podsOf, statefulSet } from '../facts/observations.ts';
import { transportRefusal } from '../facts/transport.ts';
import { switchStep, whyNotBegun } from '../facts/transport-steps.ts';
import { lacking } from '../facts/up-to-date.ts';
import { imageFits, isSettled, templateMayRun, upgradeProblem } from '../facts/upgrade-path.ts';
import { whyDown } from '../facts/why-down.ts';
import { isGoing } from '../operations/deletion.ts';
import { hashesDiffer } from '../operations/hash.ts';
import { outdated } from '../operations/restart.ts';
import { isMixed } from '../operations/scale.ts';
import { authentication } from './authentication.ts';
import { certificates, withoutCertificates } from './certificates.ts';
import {
  degraded,
  isQuorumLost,
  keptPod,
  notRunning,
  quorumUnknown,
  restoreReason,
  withoutQuorum,
} from './degraded.ts';
import { messageOf, stalledReason, whyDeletionWaits } from './stalled.ts';
import { transport } from './transport.ts';
import { outdatedManifests, problemsBeforeBirth, specProblems } from './validate-spec.ts';

/** The conditions of the cluster's status. */
export function conditionsOf(v: View, hold: Reason | undefined): Condition[] {
  const found = observed(v, hold);
  return [...found, reconciling(found)];
}

function observed(v: View, hold: Reason | undefined): Condition[] {
  const { record } = v.o;
  const stalled = stalledReason(v, hold);
  const stalledCondition = stalled ? is('Stalled', true, stalled.reason, stalled.message) : automatic(v);
  if (!record.known && (record.unreadable || !hold))
    return blind(
      v,
      hold === 'PassFailed' ? messageOf(v, hold) : `the record cannot be read: ${record.why}`,
      stalled && stalledCondition,
    );
  if (!record.known || !record.v)
    return [
      ...unborn(v, hold),
      stalledCondition,
      ...certificates(v),
      ...authentication(v),
      versionSafe(v),
      accepted(problemsBeforeBirth(v)),
    ];
  return [
    available(v),
    ready(v),
    progressing(v, stalled !== undefined),
    degraded(v),
    quorumLost(v),
    stalledCondition,
    alarm(v),
    ...backups(v),
    ...certificates(v),
    transport(v),
    ...authentication(v),
    versionSafe(v),
    accepted(specProblems(v)),
  ];
}

/** No decision is needed, but a person may still have to fix what keeps a pod from running. */
function automatic(v: View): Condition {
  const { record } = v.o;
  const waits = record.known && record.v ? whyDeletionWaits(v) : undefined;
  if (waits) return is('Stalled', false, 'NoActionRequired', waits);
  const found = record.known && record.v ? degraded(v) : notRunning(v);
  return is(
    'Stalled',
    false,
    'NoActionRequired',
    found && hinders(found) ? `${reasons.NoActionRequired}; ${found.message}` : reasons.NoActionRequired,
  );
}

/** Without the record, neither the decisions nor the members of the cluster are known. */
function blind(v: View, said: string, stalled: Condition | undefined): Condition[] {
  const others: readonly ConditionType[] = [
    'Accepted',
    'BackupHealthy',
    'CertificatesReady',
    'AuthReady',
    'Reconciling',
  ];
  const types = conditionTypes.filter((type) => !others.includes(type));
  const all = types.map((type) => (stalled && type === 'Stalled' ? stalled : unknown(type, 'StateUnknown', said)));
  return [...all, ...certificates(v), ...authentication(v), accepted(problemsBeforeBirth(v))];
}

function unborn(v: View, hold: Reason | undefined): Condition[] {
  const rebuilds = v.cluster.status.epoch !== undefined;
  const [reason, message] = whyUnborn(v, rebuilds);
  const without = hold ? is('Available', false, hold, messageOf(v, hold)) : is('Available', false, reason, message);
  const nothing = (type: ConditionType) => unknown(type, reason, message);
  return [
    without,
    { ...without, type: 'Ready' },
    rebuilds || hold ? nothing('Progressing') : is('Progressing', true, reason, message),
    notRunning(v) ?? nothing('Degraded'),
    nothing('QuorumLost'),
    nothing('Alarm'),
    nothing('TransportReady'),
  ];
}

function whyUnborn(v: View, rebuilds: boolean): [Reason, string] {
  if (v.cluster.deleting) return ['Deleting', reasons.Deleting];
  const gone = 'the record is gone; the reconciler rebuilds it from what the members report';
  return rebuilds ? ['StateUnknown', gone] : ['Bootstrapping', forming(v)];
}

/** Adds what keeps a pod from running, if that is known. */
const forming = (v: View): string =>
  [reasons.Bootstrapping, withoutCertificates(v), notRunning(v)?.message].filter(Boolean).join('; ');

function available(v: View): Condition {
  if (!isSeeded(v))
    return v.record.phase === 'Restoring'
      ? is('Available', false, 'Restoring')
      : is('Available', false, 'Bootstrapping', forming(v));
  if (!quorumServes(v) && isGoing(v)) return is('Available', false, 'Deleting');
  if (!quorumServes(v)) return isQuorumLost(v) ? is('Available', false, 'QuorumLost') : quorumUnknown(v, 'Available');
  // A new cluster: while it has two voters, the loss of either stops writes.
  if (v.record.phase === 'Seeding') return is('Available', false, 'Bootstrapping', forming(v));
  const raised = raisedAlarm(v);
  if (raised) return is('Available', false, raised);
  return unreachable(v) ?? is('Available', true, 'Serving');
}

/** The reconciler connects to the pods themselves; all other clients use Services. */
function unreachable(v: View): Condition | undefined {
  if (!v.o.pods.known || readyVoters(v).length > 0) return undefined;
  const { reason, message } = keptPod(v) ?? { reason: 'NoReadyPod' as const, message: undefined };
  return is('Available', false, reason, [reasons.NoReadyPod, message].filter(Boolean).join('; '));
}

/** Of the alarms, which both refuse writes, the one that is worse. */
const raisedAlarm = (v: View): Reason | undefined => {
  if (alarms(v, 'Corrupt').length > 0) return 'Corrupt';
  return alarms(v, 'NoSpace').length > 0 ? 'NoSpace' : undefined;
};

const firstWithLivez = '3.4.29';

function ready(v: View): Condition {
  const raised = raisedAlarm(v) ?? (hashesDiffer(v) ? 'CorruptAlarm' : undefined);
  if (raised) return is('Ready', false, raised);
  const why = lacking(v, seemsHealthy) ?? refused(v) ?? outdatedManifests(v) ?? unprotected(v);
  if (why) return is('Ready', false, 'NotUpToDate', `${reasons.NotUpToDate}: ${why}`);
  if (!v.o.alarms.known) return unknown('Ready', 'StateUnknown', `whether etcd raises an alarm: ${v.o.alarms.why}`);
  const reason = atLeast(v.spec.version, firstWithLivez) ? 'UpToDate' : 'VersionOutdated';
  return is('Ready', true, reason, [reasons[reason], otherVolume(v)].filter(Boolean).join('; '));
}

/** Nobody is called for it: a claim may have been expanded by hand, and neither it nor its template can be made smaller. */
function otherVolume(v: View): string | undefined {
  const wanted = v.spec.ephemeral ? undefined : amountOf(v.spec.volumeSize ?? '');
  if (wanted === undefined) return undefined;
  for (const { ordinal, deleting, size = '' } of claimsOf(v)) {
    const bytes = amountOf(size);
    if (ordinal >= v.spec.size || deleting || bytes === undefined || bytes === wanted) continue;
    const why = wanted < bytes ? 'a volume cannot shrink' : 'the reconciler expands no volume';
    return `storage.size is ${v.spec.volumeSize}, but the claim data-${podName(v.cluster, ordinal)} asks for ${size}: ${why}`;
  }
  return undefined;
}

/** A forced replacement may name a member that an earlier epoch had, so it does not count. */
const refused = (v: View): string | undefined =>
  specProblems(v).find(({ reason }) => reason !== 'ReplaceTargetNotFound')?.message;

/** Clients need not log in, or still have to, against the spec. */
const unprotected = (v: View): string | undefined =>
  authentication(v).find(({ status, reason }) => status === 'False' && notAsAsked.includes(reason))?.message;

const notAsAsked: readonly string[] = ['AuthNotSwitchedOn', 'AuthNotSwitchedOff', 'RootCertificateUnusable'];

function progressing(v: View, isStalled: boolean): Condition {
  const { op, versions } = v.record;
  if (v.spec.paused) return is('Progressing', false, 'Paused');
  const isForming = !isBorn(v) && (!op || joins.includes(op.kind));
  if (op && !isForming) return underWay(v, reasonOf(v, op));
  if (isForming) return is('Progressing', true, 'Bootstrapping');
  if (isMixed(v)) return underWay(v, 'Upgrading');
  const isSmall = learners(v).length > 0 || voters(v).length < wantedSize(v);
  if (v.o.members.known && isSmall) return underWay(v, 'Growing');
  if (upgradeProblem(v)?.reason === 'FlushingRaftLog')
    return is(
      'Progressing',
      true,
      'FlushingRaftLog',
      `${reasons.FlushingRaftLog}; ${v.spec.version} follows without further action`,
    );
  if (versions.current === '3.6' && isSettling(v)) return is('Progressing', true, 'FlushingRaftLog');
  if (!isStalled && isFollowed(v) && podsOf(v).some((pod) => outdated(v, pod))) return underWay(v, 'RollingRestart');
  const goesOn = imageFits(v) && transportRefusal(v) === undefined && whyNotBegun(v) === undefined;
  const step = goesOn ? switchStep(v) : undefined;
  return step === undefined ? is('Progressing', false, 'Idle') : is('Progressing', true, 'SwitchingTransport', step);
}

/** Pods are not restarted on a template that is refused. */
const isFollowed = (v: View): boolean =>
  imageFits(v) && (templateMayRun(v) || statefulSet(v)?.version === v.spec.version);

const joins: readonly Op['kind'][] = ['AddLearner', 'Promote'];

/** Adds what keeps the restart of a pod or the pod of a Job, or which member joins. */
function underWay(v: View, reason: Reason): Condition {
  const { refused } = v.o;
  const why = troubledJob(v);
  if (why !== undefined) return is('Progressing', true, reason, `${reasons[reason]}; ${why}`);
  if (reason === 'Growing') return is('Progressing', true, reason, growing(v));
  return restarts.includes(reason) && refused
    ? is('Progressing', true, reason, `${reasons[reason]}; ${refused.message}`)
    : is('Progressing', true, reason);
}

/** A member joins only after its pod exists. */
function growing(v: View): string {
  const [learner] = learners(v);
  if (learner) return `${nameOf(v, learner)} is joining`;
  const [there, wanted] = [voters(v).length, wantedSize(v)];
  if (there >= wanted) return reasons.Growing;
  const next = [...Array(statefulSet(v)?.replicas ?? 0).keys()].find((ordinal) => !memberAt(v, ordinal));
  const why = whyNoneJoins(v) ?? (next === undefined ? undefined : whyDown(v, next));
  return `${there} of ${wanted} voters exist; ${why ?? 'the others will join'}`;
}

/** What the pod of a running Job waits for, or why its last pod failed. */
function troubledJob(v: View): string | undefined {
  const { op } = v.record;
  if (!op || !v.o.jobs.known) return undefined;
  const own = v.o.jobs.v.filter((job) => job.op === op.id && job.state === 'Running');
  return own.map(({ waits, message }) => waits ?? message).find((why) => why !== undefined);
}

const restarts: readonly Reason[] = ['RollingRestart', 'Upgrading'];

/** Only agents report how far the entries of 3.5 reach. */
const isSettling = (v: View): boolean => !isSettled(v) && voters(v).every((m) => m.agent !== undefined);

function reasonOf(v: View, op: Op): Reason {
  const removals = {
    Dead: 'Replacing',
    Forced: 'Replacing',
    Learner: 'Growing',
    Shrink: 'Shrinking',
    Roll: 'RollingRestart',
  } as const;
  switch (op.kind) {
    case 'AddLearner':
    case 'Promote':
      return 'Growing';
    case 'Remove':
      return removals[op.why];
    case 'DeletePod':
      return isMixed(v) ? 'Upgrading' : 'RollingRestart';
    case 'Upgrade':
      return 'Upgrading';
    case 'Restore':
    case 'Recover':
      return restoreReason(v, op);
    case 'ClearNoSpace':
      return 'ClearingNoSpace';
    case 'Defragment':
      return 'Defragmenting';
    case 'MoveLeader':
      return 'MovingLeader';
    case 'Delete':
      return 'Deleting';
  }
}

function quorumLost(v: View): Condition {
  if (!isSeeded(v)) return unknown('QuorumLost', v.record.phase === 'Restoring' ? 'Restoring' : 'Bootstrapping');
  if (quorumServes(v)) return is('QuorumLost', false, 'QuorumAvailable');
  if (isGoing(v)) return unknown('QuorumLost', 'Deleting');
  if (!isQuorumLost(v)) return quorumUnknown(v, 'QuorumLost');
  return { ...withoutQuorum(v), type: 'QuorumLost' };
}

function alarm(v: View): Condition {
  // Alarms come from whatever answers; without a member list that may be another cluster.
  if (!v.o.members.known) return unknown('Alarm', 'StateUnknown', v.o.members.why);
  if (!v.o.alarms.known) return unknown('Alarm', 'StateUnknown', v.o.alarms.why);
  const raised = raisedAlarm(v);
  return raised ? is('Alarm', true, raised) : is('Alarm', false, 'NoAlarm');
}

/** A Job that was deleted as soon as it had ended may have stored a backup that is not known. */
const stale = ({ schedule, cronJob, last }: NonNullable<ClusterBackups['due']>): string => {
  const known =
    last === undefined
      ? 'no good backup of it is known, and one is overdue'
      : `its newest known good backup is of ${last}, and two runs were due since then`;
  return `${schedule}: ${known}; check CronJob ${cronJob} and its Jobs`;
};

/** No condition before the first run of a schedule. */
function backups(v: View): Condition[] {
  if (v.record.versions.withoutBackup) return [is('BackupHealthy', false, 'UpgradedWithoutBackup')];
  if (v.spec.schedule === undefined) return [is('BackupHealthy', false, 'NoSchedule')];
  const { last, failed, waits, due } = v.cluster.backups ?? {};
  if (failed) return [is('BackupHealthy', false, 'LastBackupFailed', `${failed.schedule}: ${failed.message}`)];
  if (waits) return [is('BackupHealthy', false, 'BackupPending', `${waits.schedule}: ${waits.message}`)];
  if (due && v.date > due.at) return [is('BackupHealthy', false, 'BackupOverdue', stale(due))];
  // An EtcdBackup is deleted with its Job; the status still names the backup.
  const known = last ?? v.cluster.status.lastBackup;
  return known ? [is('BackupHealthy', true, 'LastBackupSucceeded')] : [];
}

function accepted(problems: readonly Problem[]): Condition {
  const [first] = problems;
  if (!first) return is('Accepted', true, 'SpecAccepted');
  return is('Accepted', false, first.reason, problems.map(({ message }) => message).join('; '));
}

/** Of the oldest version that runs; of the version in the spec while none is known. */
function versionSafe(v: View): Condition {
  const version = runningVersions(v).sort(compareVersions)[0] ?? v.spec.version;
  const found = advisoriesForCluster(version);
  const known = `known on ${advisoriesAsOf}`;
  return found.length === 0
    ? is('VersionSafe', true, 'NoAdvisory', `etcd ${version} has no vulnerability that was ${known}`)
    : is('VersionSafe', false, 'KnownVulnerabilities', `${adviceOn(found, version)} (${known})`);
}

const runningVersions = (v: View): string[] =>
  v.o.record.known && v.o.record.v && v.o.members.known ? listed(v).flatMap(({ status }) => status?.version ?? []) : [];

/**
 * Whether the reconciler still works on what the spec asks for. With Ready and Stalled it is what kstatus reads, by which
 * Flux and others know when an apply is complete. Progressing is True also for work that nobody asked for in the spec.
 */
function reconciling(conditions: readonly Condition[]): Condition {
  const holds = (type: ConditionType, status: Condition['status']) =>
    conditions.find((each) => each.type === type && each.status === status);
  const paused = conditions.find(({ type, reason }) => type === 'Progressing' && reason === 'Paused');
  const done = holds('Ready', 'True') ?? holds('Stalled', 'True') ?? holds('Accepted', 'False') ?? paused;
  if (done) return is('Reconciling', false, done.reason, done.message);
  const { reason, message } = holds('Progressing', 'True') ?? conditions.find(({ type }) => type === 'Ready')!;
  return holds('Ready', 'False') ? is('Reconciling', true, reason, message) : unknown('Reconciling', reason, message);
}
