import { agentOf, alarms, podsOf, statefulSet, voters } from './facts.ts';
import { givesUp, ownJob, restoreOp } from './operations/jobs.ts';
import { outdated } from './operations/restart.ts';
import { blocked } from './operations/restore-op.ts';
import { type Reason, reasons } from './reasons.ts';
import { upgradeProblem } from './upgrade-path.ts';
import { minorOf } from './versions.ts';
import type { View } from './view.ts';

interface Held {
  reason: Reason;
  message: string;
}

/** Barriers that are only a wait. */
const waits: readonly Reason[] = [
  'Paused',
  'OperationInFlight',
  'Bootstrapping',
  'Deleting',
  'MajorityDown',
  'UnknownState',
];

/** What a restore mends. */
const quorumHolds: readonly Reason[] = ['MajorityVolumesLost', 'AllVolumesLost', 'SeedLost'];

const heldBy = (v: View, hold: Reason | undefined): Held | undefined =>
  hold && !waits.includes(hold) ? because(hold, named(v, reasons[hold])) : undefined;

/** The message with the cluster's own name. */
export const named = ({ cluster: { name, namespace } }: View, message: string): string =>
  message.replaceAll('<name>', name).replaceAll('<namespace>', namespace);

const because = (reason: Reason, message: string = reasons[reason]): Held => ({ reason, message });

/** What a person must do something about, if there is anything. */
export function heldReason(v: View, hold: Reason | undefined): Held | undefined {
  if (refusesUs(v)) return because('AuthEnabled');
  const { record } = v.o;
  if (!record.known || !record.v) return heldBy(v, hold);
  const held = restoreOp(v) && hold && quorumHolds.includes(hold) ? undefined : heldBy(v, hold);
  return (
    recoveryHeld(v) ?? held ?? restoreHeld(v) ?? deletionHeld(v) ?? rollHeld(v) ?? upgradeHeld(v) ?? failureHeld(v)
  );
}

const refusesUs = ({ o }: View): boolean =>
  !o.members.known && /user name is empty|permission denied/.test(o.members.why);

function restoreHeld(v: View): Held | undefined {
  const op = restoreOp(v);
  if (!op) return undefined;
  if (op.step === 'drain' && statefulSet(v)?.replicas === 0) return dangling(v);
  const job = ownJob(v, 'restore');
  if (job?.state === 'Failed' && (blocked(v) || !givesUp(op))) return because('RestoreBlocked', job.message);
  if (blocked(v)) return because('RestoreBlocked', 'the snapshot in the store is not the one that was verified');
  const failed = [ownJob(v, 'recovery'), ownJob(v, 'salvage')].find((other) => other?.state === 'Failed');
  return failed && because('BackupFailed', failed.message);
}

function dangling(v: View): Held | undefined {
  const pods = podsOf(v).filter((pod) => pod.deleting && agentOf(v, pod.ordinal) === undefined);
  if (pods.length === 0) return undefined;
  const names = pods.map(({ ordinal }) => ordinal).join(', ');
  return because(
    'DanglingOldPods',
    `pods of ordinal ${names} do not go: their node is down; see ignoreUnreachablePods`,
  );
}

const deletionHeld = (v: View): Held | undefined => {
  const job = v.op('Delete') && ownJob(v, 'final');
  return job?.state === 'Failed' ? because('BackupFailed', job.message) : undefined;
};

const recoveryHeld = (v: View): Held | undefined => {
  const { recovery, schedule } = v.spec;
  const asked = recovery?.acceptDataLoss && recovery.id !== v.record.lastRecoveryId;
  return asked && schedule === undefined
    ? because('BackupFailed', 'a survivor is backed up before anything is touched: add a backup schedule')
    : undefined;
};

const rollHeld = (v: View): Held | undefined =>
  v.spec.ephemeral &&
  voters(v).length === 1 &&
  v.spec.schedule === undefined &&
  podsOf(v).some((pod) => outdated(v, pod))
    ? because('EphemeralSingle')
    : undefined;

function upgradeHeld(v: View): Held | undefined {
  if (!v.record.seeded) return undefined;
  const problem = upgradeProblem(v);
  if (problem) return because('UpgradeRefused', problem.message);
  const { failure } = v.record;
  const to = minorOf(v.spec.version);
  return failure?.of === `Upgrade ${to}` ? because('UpgradeRefused', failure.message) : undefined;
}

function failureHeld(v: View): Held | undefined {
  const { failure } = v.record;
  if (failure === undefined) return undefined;
  const { of, message } = failure;
  if (of === 'ClearNoSpace' && alarms(v, 'NoSpace').length > 0) return because('NoSpace', message);
  if (of.startsWith('Restore roll:') && podsOf(v).some((pod) => outdated(v, pod)))
    return because('EphemeralSingle', message);
  if (of === `Recover recovery:${v.spec.recovery?.id}`) return because('BackupFailed', message);
  return undefined;
}
