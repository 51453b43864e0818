import { hinders } from '../../../protocol/condition.ts';
import { type Reason, reasons } from '../../../protocol/reasons.ts';
import { minorOf } from '../../../protocol/versions.ts';
import { isRefusal } from '../../etcd/connections.ts';
import { podName } from '../../port/names.ts';
import type { View } from '../engine/view.ts';
import { alarms, beforeFence, foreignMember, jobOf, restoreOp, voters } from '../facts/facts.ts';
import { agentAt, lasts, podsOf, statefulSet } from '../facts/observations.ts';
import { templateDiffers, upgradeRefusal } from '../facts/upgrade-path.ts';
import { waitsForRestore } from '../operations/deletion.ts';
import { awaitsCorrection, givesUp, ownJob, stuckJob, whyFailed } from '../operations/jobs.ts';
import { outdated } from '../operations/restart.ts';
import { at, blocked, isAbandoned, isUnreachable, noRoom } from '../operations/restore/operation.ts';
import { degraded } from './degraded.ts';

interface Stalled {
  reason: Reason;
  message: string;
}

/** Holds that need no person. */
const waits: readonly Reason[] = [
  'Paused',
  'OperationInFlight',
  'Bootstrapping',
  'Deleting',
  'MajorityDown',
  'StateUnknown',
];

/** Holds that a restore in flight resolves. */
const quorumHolds: readonly Reason[] = ['MajorityVolumesLost', 'VolumesSetBack', 'AllVolumesLost', 'SeedLost'];

const holdStalled = (v: View, hold: Reason | undefined): Stalled | undefined =>
  hold && !waits.includes(hold) ? because(hold, messageOf(v, hold)) : undefined;

/** Fills the cluster's name into a message. */
export const named = ({ cluster: { name, namespace } }: View, message: string): string =>
  message.replaceAll('<name>', name).replaceAll('<namespace>', namespace);

/** The message of a hold, with its subject. */
export function messageOf(v: View, hold: Reason): string {
  const message = named(v, reasons[hold]);
  const { record } = v.o;
  if ((hold === 'RecordUnreadable' || hold === 'PassFailed') && !record.known) return `${message}: ${record.why}`;
  if (hold === 'OtherReconciler') return `${message}: the reconciler with the Lease ${v.cluster.followedBy}`;
  if (hold === 'VersionMismatch') return `${message}: ${strangers(v)}`;
  const foreign = hold === 'ForeignMember' ? foreignMember(v) : undefined;
  if (!foreign) return message;
  const { id, peerUrls } = foreign;
  return `member ${id} at ${peerUrls.join(', ')} ${message}; if it is not needed: etcdctl member remove ${id}`;
}

const strangers = (v: View): string =>
  podsOf(v)
    .filter(({ ordinal }) => agentAt(v, ordinal)?.reason === 'VersionMismatch')
    .map(({ ordinal }) => podName(v.cluster, ordinal))
    .join(', ');

const because = (reason: Reason, message: string = reasons[reason]): Stalled => ({ reason, message });

/** The problem that a person must act on, if there is one. */
export function stalledReason(v: View, hold: Reason | undefined): Stalled | undefined {
  if (hold === 'OtherReconciler') return because(hold, messageOf(v, hold));
  if (refusesUs(v)) return because('AuthEnabled');
  const { record } = v.o;
  if (!record.known || !record.v) return holdStalled(v, hold) ?? failing(v);
  const stalled = restoreOp(v) && hold && quorumHolds.includes(hold) ? undefined : holdStalled(v, hold);
  return (
    recoveryStalled(v) ??
    stalled ??
    deletionBehindRestore(v) ??
    restoreStalled(v) ??
    jobStalled(v) ??
    deletionStalled(v) ??
    rollStalled(v) ??
    upgradeStalled(v) ??
    failureStalled(v) ??
    evictionStalled(v) ??
    failing(v)
  );
}

/** With root's certificate nothing is refused. Any certificate may list members, so it may show only in a change. */
const refusesUs = ({ o, spec }: View): boolean =>
  !spec.rootTls &&
  [o.members.known ? '' : o.members.why, o.failures > 0 ? (o.error ?? '') : ''].some(
    (why) => isRefusal(why) && /\bauthentication\b/.test(why),
  );

function restoreStalled(v: View): Stalled | undefined {
  const op = restoreOp(v);
  if (!op) return undefined;
  if (op.step === 'drain' && statefulSet(v)?.replicas === 0) return dangling(v);
  const full = at(v, 'fence') && beforeFence(v) && noRoom(v);
  if (full) return because('RestoreBlocked', full);
  const job = ownJob(v, 'restore');
  if (job?.state === 'Failed' && (blocked(v) || !givesUp(op)))
    return because('RestoreBlocked', whyFailed(v, job, reasons.RestoreBlocked));
  const stuck = stuckJob(v);
  if (stuck?.kind === 'restore') return because('RestoreBlocked', stuck.waits);
  if (blocked(v)) return because('RestoreBlocked', 'the snapshot in the store is not the one that was verified');
  if (isAbandoned(v))
    return because(
      'RestoreBlocked',
      `EtcdRestore ${op.args.id} was deleted or failed before its fence; create another one`,
    );
  const failed = [ownJob(v, 'recovery'), ownJob(v, 'salvage')].find((other) => other?.state === 'Failed');
  return failed && because('BackupFailed', whyFailed(v, failed, reasons.BackupFailed));
}

const skipsFinalBackup =
  'To delete the cluster without a final backup, annotate the EtcdCluster with cdk8s-etcd.dev/skip-final-backup=true';

/** Why a deletion waits for a restore; undefined: it does not. */
export const whyDeletionWaits = (v: View): string | undefined =>
  waitsForRestore(v)
    ? `the deletion waits for the restore, because the final backup is taken after it. ${skipsFinalBackup}`
    : undefined;

function deletionBehindRestore(v: View): Stalled | undefined {
  const waits = whyDeletionWaits(v);
  const kept = waits === undefined ? undefined : (restoreStalled(v) ?? restoreKept(v));
  return kept && because(kept.reason, `${kept.message}; ${waits}`);
}

/** What blocks a restore past its fence, apart from its Job and the old pods. */
function restoreKept(v: View): Stalled | undefined {
  if (v.o.statefulSet.known && !v.o.statefulSet.v) return because('RestoreBlocked', 'there is no StatefulSet');
  if (templateDiffers(v)) return because('RestoreBlocked', reasons.TemplateMismatch);
  const found = degraded(v);
  return hinders(found) ? because('RestoreBlocked', found.message) : undefined;
}

/** Old pods that do not answer may still run on a node that is cut off. A pod that ends within its grace period is not reported. */
function dangling(v: View): Stalled | undefined {
  const pods = podsOf(v).filter((pod) => isUnreachable(v, pod));
  if (pods.length === 0) return undefined;
  const names = pods.map(({ ordinal }) => ordinal).join(', ');
  return because(
    'OldPodsRemain',
    `pods of ordinal ${names} are being deleted, but do not answer and do not go; check their nodes; see ignoreUnreachablePods`,
  );
}

const jobStalled = (v: View): Stalled | undefined => {
  const stuck = stuckJob(v);
  return stuck && because('BackupFailed', stuck.waits);
};

const deletionStalled = (v: View): Stalled | undefined => {
  const job = v.op('Delete') && ownJob(v, 'final');
  if (job?.state !== 'Failed') return undefined;
  return because('BackupFailed', `${whyFailed(v, job, reasons.BackupFailed)}. ${skipsFinalBackup}`);
};

const recoveryStalled = (v: View): Stalled | undefined => {
  const { recovery, schedule } = v.spec;
  if (!recovery?.acceptDataLoss || recovery.id === v.record.lastRecoveryId) return undefined;
  if (schedule === undefined)
    return because('BackupFailed', 'the survivor must be backed up before anything is changed; add a backup schedule');
  const { failure } = v.record;
  // Before the hold for which the recovery was requested.
  return failure?.of === `Recover recovery:${recovery.id}` ? because('BackupFailed', failure.message) : undefined;
};

const rollStalled = (v: View): Stalled | undefined =>
  v.spec.ephemeral &&
  voters(v).length === 1 &&
  v.spec.schedule === undefined &&
  podsOf(v).some((pod) => outdated(v, pod))
    ? because('EphemeralSingle')
    : undefined;

function upgradeStalled(v: View): Stalled | undefined {
  if (!v.record.seeded) return undefined;
  const problem = upgradeRefusal(v);
  if (problem) return because('UpgradeRefused', problem.message);
  const to = minorOf(v.spec.version);
  if (v.record.versions.allowedMinors.includes(to)) return undefined;
  const why = whyNotBackedUp(v, `Upgrade ${to}`);
  return why === undefined ? undefined : because('UpgradeRefused', why);
}

/** The Job says it as long as it keeps the next try; the record may know another failure by then. */
function whyNotBackedUp(v: View, of: string): string | undefined {
  const job = jobOf(v, 'pre-upgrade');
  if (job && awaitsCorrection(v, job)) return whyFailed(v, job, reasons.BackupFailed);
  const { failure } = v.record;
  return failure?.of.startsWith(of) ? failure.message : undefined;
}

const evictionStalled = (v: View): Stalled | undefined => {
  const { refused } = v.o;
  const waits = refused && lasts(v, refused.since, v.s.retryFailed) && podsOf(v).some((pod) => outdated(v, pod));
  return waits ? because('EvictionRefused', refused.message) : undefined;
};

/** The next action fails again and again, because an API refuses it or etcd does not answer. */
const failing = ({ o, s }: View): Stalled | undefined =>
  o.error !== undefined && o.failures >= s.failuresTold ? because('ActionFailing', o.error) : undefined;

const onlyReported = `${reasons.NoSpace}, until you set onNoSpace to CompactDefragDisarm or clear the alarm by hand`;

function failureStalled(v: View): Stalled | undefined {
  if (v.spec.onNoSpace === 'Report' && alarms(v, 'NoSpace').length > 0) return because('NoSpace', onlyReported);
  const { failure } = v.record;
  const { of = '', message } = failure ?? {};
  if (of === 'ClearNoSpace' && alarms(v, 'NoSpace').length > 0) return because('NoSpace', message);
  const rolls = v.spec.ephemeral && voters(v).length === 1 && podsOf(v).some((pod) => outdated(v, pod));
  const why = rolls ? whyNotBackedUp(v, 'Restore roll:') : undefined;
  return why === undefined ? undefined : because('EphemeralSingle', why);
}
