import type { AgentStatus } from './agent-status.ts';
import {
  agentAt,
  agentOf,
  alarms,
  allVotersHealthy,
  answers,
  isSeeded,
  lasts,
  learners,
  memberAt,
  ordinalOf,
  podsOf,
  quorumLostLong,
  quorumServes,
  statefulSet,
  statusOf,
  volumeLost,
  voters,
} from './facts.ts';
import { heldReason, named } from './held.ts';
import { quorumReason } from './operations/holds.ts';
import { restoreOp } from './operations/jobs.ts';
import { outdated } from './operations/restart.ts';
import { isMixed } from './operations/scale.ts';
import { type Reason, reasons } from './reasons.ts';
import type { Op } from './record.ts';
import { isSettled, type Problem } from './upgrade-path.ts';
import { problemsBeforeBirth, specProblems } from './validate-spec.ts';
import { atLeast } from './versions.ts';
import type { View } from './view.ts';

export const conditionTypes = [
  'Available',
  'Ready',
  'Progressing',
  'Degraded',
  'QuorumLost',
  'Held',
  'Alarm',
  'BackupHealthy',
  'Accepted',
] as const;

export type ConditionType = (typeof conditionTypes)[number];

export interface Condition {
  type: ConditionType;
  status: 'True' | 'False' | 'Unknown';
  reason: Reason;
  message: string;
}

const is = (type: ConditionType, status: boolean, reason: Reason, message: string = reasons[reason]): Condition => ({
  type,
  status: status ? 'True' : 'False',
  reason,
  message,
});

/** What the status of the cluster says now. */
export function conditionsOf(v: View, hold: Reason | undefined): Condition[] {
  const { record } = v.o;
  const held = heldReason(v, hold);
  const heldCondition = held ? is('Held', true, held.reason, held.message) : is('Held', false, 'Automatic');
  if (!record.known || !record.v) {
    return [unborn(v, 'Available', hold), unborn(v, 'Ready', hold), heldCondition, accepted(problemsBeforeBirth(v))];
  }
  return [
    available(v),
    ready(v),
    progressing(v, held !== undefined),
    degraded(v),
    quorumLost(v),
    heldCondition,
    alarm(v),
    ...backups(v),
    accepted(specProblems(v)),
  ];
}

function unborn(v: View, type: ConditionType, hold: Reason | undefined): Condition {
  if (hold) return is(type, false, hold, named(v, reasons[hold]));
  const rebuilds = v.cluster.status.epoch !== undefined;
  return rebuilds
    ? is(type, false, 'UnknownState', 'the record is gone; it is made again from what the members say')
    : is(type, false, 'Bootstrapping');
}

function available(v: View): Condition {
  if (!isSeeded(v)) return is('Available', false, v.record.phase === 'Restoring' ? 'Restoring' : 'Bootstrapping');
  if (!quorumServes(v)) return is('Available', false, 'QuorumLost');
  // A new cluster: while it has two voters the loss of either stops writes.
  if (v.record.phase === 'Seeding') return is('Available', false, 'Bootstrapping');
  if (alarms(v, 'NoSpace').length > 0) return is('Available', false, 'NoSpace');
  return is('Available', true, 'Serving');
}

const isBorn = (v: View): boolean => isSeeded(v) && v.record.phase !== 'Seeding';

const asDesired = (v: View): boolean =>
  isBorn(v) &&
  v.record.op === undefined &&
  allVotersHealthy(v) &&
  learners(v).length === 0 &&
  voters(v).length === v.spec.size &&
  podsOf(v).every((pod) => pod.revision === statefulSet(v)?.updateRevision) &&
  voters(v).every(({ id }) => statusOf(v, id)?.version === v.spec.version);

const firstWithLivez = '3.4.29';

function ready(v: View): Condition {
  if (!asDesired(v)) return is('Ready', false, 'NotAsDesired');
  return is('Ready', true, atLeast(v.spec.version, firstWithLivez) ? 'AsDesired' : 'OldVersion');
}

function progressing(v: View, isHeld: boolean): Condition {
  const { op, versions } = v.record;
  if (v.spec.paused) return is('Progressing', false, 'Paused');
  if (op) return is('Progressing', true, reasonOf(v, op));
  if (!isBorn(v)) return is('Progressing', true, 'Bootstrapping');
  if (isMixed(v)) return is('Progressing', true, 'Upgrading');
  const isSmall = learners(v).length > 0 || voters(v).length < v.spec.size;
  if (v.o.members.known && isSmall) return is('Progressing', true, 'Growing');
  if (versions.current === '3.6' && !isSettled(v)) return is('Progressing', true, 'Settling');
  if (!isHeld && podsOf(v).some((pod) => outdated(v, pod))) return is('Progressing', true, 'RollingRestart');
  return is('Progressing', false, 'Idle');
}

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
      return 'Restoring';
    case 'Recover':
      return 'Recovering';
    case 'ClearNoSpace':
      return 'ClearingNoSpace';
    case 'Delete':
      return 'Deleting';
  }
}

const pressure = 0.1;

function degraded(v: View): Condition {
  const lost = voters(v).find((m) => volumeLost(v, ordinalOf(v, m) ?? -1, m.id));
  if (lost) return is('Degraded', true, 'VolumeLost', `member ${lost.id}: ${reasons.VolumeLost}`);
  const kept = podsOf(v).find(({ ordinal }) => isKept(agentAt(v, ordinal)));
  if (kept) return refusal(v, kept.ordinal);
  const foreign = podsOf(v).find(({ ordinal }) => agentOf(v, ordinal) && !agentAt(v, ordinal));
  if (foreign) return is('Degraded', true, 'ForeignData', `pod ${foreign.ordinal}: ${reasons.ForeignData}`);
  if (isSeeded(v) && !quorumServes(v)) return withoutQuorum(v);
  const down = voters(v).find(({ id }) => !answers(v, id));
  if (down) return is('Degraded', true, 'MemberDown', `member ${down.id} does not answer`);
  const stuck = learners(v).find(({ id }) => lasts(v, v.o.since.down[id], v.s.learnerStuck));
  if (stuck) return is('Degraded', true, 'LearnerStuck', `member ${stuck.id} does not catch up`);
  const missing = podsOf(v).find(
    ({ ordinal }) => ordinal < v.spec.size && !memberAt(v, ordinal) && agentOf(v, ordinal) === undefined,
  );
  if (missing) return is('Degraded', true, 'PodNotRunning', `pod ${missing.ordinal}: ${reasons.PodNotRunning}`);
  const full = podsOf(v).find(({ ordinal }) => isFull(v, ordinal));
  if (full) return is('Degraded', true, 'DiskPressure', `pod ${full.ordinal}: ${reasons.DiskPressure}`);
  return is('Degraded', false, 'Well');
}

/** Its agent waits for a person, or for something that does not come by itself. */
const isKept = (agent: AgentStatus | undefined): boolean =>
  agent !== undefined && (['Refused', 'Failed'].includes(agent.state) || troubles.includes(agent.reason ?? ''));

/** Said in a state that goes on. */
const troubles = ['VolumeBusy', 'RestoreFailed', 'SalvageFailed'];

function refusal(v: View, ordinal: number): Condition {
  const { reason = '', message } = agentAt(v, ordinal)!;
  const own = reason in reasons ? (reason as Reason) : undefined;
  const said = [own ? '' : reason, message ?? reasons[own ?? 'PodHeld']].filter(Boolean).join(': ');
  return is('Degraded', true, own ?? 'PodHeld', `pod ${ordinal}: ${said}`);
}

const withoutQuorum = (v: View): Condition =>
  quorumLostLong(v)
    ? is('Degraded', true, quorumReason(v))
    : { type: 'Degraded', status: 'Unknown', reason: 'UnknownState', message: reasons.UnknownState };

const isFull = (v: View, ordinal: number): boolean => {
  const volume = agentAt(v, ordinal)?.volume;
  return volume !== undefined && volume.freeBytes < pressure * volume.totalBytes;
};

function quorumLost(v: View): Condition {
  if (!isSeeded(v) || quorumServes(v)) return is('QuorumLost', false, 'QuorumServes');
  if (!quorumLostLong(v)) return is('QuorumLost', false, 'UnknownState');
  return restoreOp(v)
    ? is('QuorumLost', true, quorumReason(v), 'no quorum answers; a snapshot is being restored')
    : is('QuorumLost', true, quorumReason(v));
}

function alarm(v: View): Condition {
  if (!v.o.alarms.known) return { type: 'Alarm', status: 'Unknown', reason: 'UnknownState', message: v.o.alarms.why };
  if (alarms(v, 'Corrupt').length > 0) return is('Alarm', true, 'Corrupt');
  if (alarms(v, 'NoSpace').length > 0) return is('Alarm', true, 'NoSpace');
  return is('Alarm', false, 'NoAlarm');
}

/** Nothing is said of a schedule that has not run yet. */
function backups(v: View): Condition[] {
  if (v.record.versions.withoutBackup) return [is('BackupHealthy', false, 'UpgradedWithoutBackup')];
  if (v.spec.schedule === undefined) return [is('BackupHealthy', false, 'NoSchedule')];
  const { last, failed } = v.cluster.backups ?? {};
  if (failed) return [is('BackupHealthy', false, 'LastFailed', `${failed.schedule}: ${failed.message}`)];
  return last ? [is('BackupHealthy', true, 'Fresh')] : [];
}

function accepted(problems: readonly Problem[]): Condition {
  const [first] = problems;
  if (!first) return is('Accepted', true, 'AsAsked');
  return is('Accepted', false, first.reason, problems.map(({ message }) => message).join('; '));
}
