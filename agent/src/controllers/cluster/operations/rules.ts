import type { AnyRule } from '../engine/rule.ts';
import { markGrown, seedEpoch, seedRules } from './bootstrap.ts';
import {
  deleteCluster,
  deleteSteps,
  deletionWithoutRecord,
  holdDeleting,
  releaseFinalizer,
  setFinalizer,
} from './deletion.ts';
import { disarmCorrupt, holdAlarmsUnknown, holdCorrupt, verifyHash } from './hash.ts';
import {
  holdForeignMember,
  holdManifestsMissing,
  holdOperation,
  holdPaused,
  holdQuorumLost,
  holdRecordRolledBack,
  holdSeeding,
  holdSplitEvidence,
  holdVersionMismatch,
} from './holds.ts';
import { jobRules, pruneJobs } from './jobs.ts';
import { addLearner, addLearnerSteps, promoteLearner, promoteSteps } from './join.ts';
import { defragment, defragmentSteps } from './maintenance/defragment.ts';
import { moveLeader, moveLeaderSteps } from './maintenance/move-leader.ts';
import { clearNoSpace, clearNoSpaceSteps } from './no-space.ts';
import { adoptMember, issuePermit, noteReached, recordVoter, reissuePermit } from './permits.ts';
import { firstRecordRules } from './record/first-record.ts';
import { removeSteps } from './remove.ts';
import { collectLearner, freeNode, removeDead, removeForced, restartRetired, tombstoneVanished } from './repair.ts';
import {
  annotateRoots,
  replacePod,
  restartBroken,
  restartPod,
  restartSteps,
  restartUnborn,
  restartUnstarted,
} from './restart.ts';
import { drainSteps, fenceOff } from './restore/fence.ts';
import { endRecovery, recover, recoverySteps, skipRecovery } from './restore/recovery.ts';
import {
  keepSnapshots,
  replacementSteps,
  reportRestore,
  reportSteps,
  restoreCluster,
  restoreOrigin,
  withdrawRestore,
} from './restore/request.ts';
import { rollSingle, rollSteps } from './restore/roll.ts';
import { seedSteps } from './restore/seed.ts';
import { failWithoutRoom, giveWay, safetySteps, verifySteps, yieldToRemoval } from './restore/verify.ts';
import { annotateClaim, annotateEpoch, growPods, lowerReplicas, pruneClaim, raiseReplicas, shrink } from './scale.ts';
import { noteTransport, switchTransport } from './switch.ts';
import { beginUpgrade, finalizeUpgrade, revertUpgrade, settle, upgradeSteps } from './upgrade.ts';

// The rules stand in the order in which they decide: the first rule whose guards are all true.

/** Without a record: create the first one, or rebuild a lost one. */
export const rulesWithoutRecord: readonly AnyRule[] = [
  releaseFinalizer,
  holdPaused,
  holdManifestsMissing,
  ...deletionWithoutRecord,
  ...firstRecordRules,
];

/** Brings observations into the record, and the record into the template, whatever operation is in flight. */
const bookkeeping: readonly AnyRule[] = [
  ...seedRules,
  noteTransport,
  recordVoter,
  adoptMember,
  issuePermit,
  raiseReplicas,
  annotateEpoch,
  keepSnapshots,
  restartUnstarted,
];

/** Steps of Restore and Recover, from the backup of a survivor to the seed that is restored. */
const restoreSteps: readonly AnyRule[] = [
  endRecovery,
  withdrawRestore,
  failWithoutRoom,
  ...replacementSteps,
  ...recoverySteps,
  ...rollSteps,
  ...reportSteps,
  ...verifySteps,
  ...safetySteps,
  yieldToRemoval,
  fenceOff,
  giveWay,
  ...drainSteps,
  ...seedSteps,
];

/** At most one operation is in flight, so the order of these lists among themselves does not matter. */
const inFlight: readonly AnyRule[] = [
  ...clearNoSpaceSteps,
  ...defragmentSteps,
  ...moveLeaderSteps,
  ...upgradeSteps,
  ...deleteSteps,
  ...restoreSteps,
  ...addLearnerSteps,
  ...promoteSteps,
  ...removeSteps,
  ...restartSteps,
];

export const rules: readonly AnyRule[] = [
  holdPaused,
  holdManifestsMissing,
  releaseFinalizer,
  holdRecordRolledBack,
  ...bookkeeping,
  ...inFlight,
  // After Remove.finish, which tombstones the member that it removed.
  tombstoneVanished,
  restartRetired,
  ...jobRules,

  // A person requests these. They take the slot even from an operation that waits for a lost quorum.
  deleteCluster,
  skipRecovery,
  recover,
  restoreCluster,
  restoreOrigin,

  // Restarting a pod that does not run loses nothing, whatever else is in flight. Below: what a deletion may do.
  restartBroken,
  holdDeleting,
  // A member without a place may be what the quorum waits for.
  ...freeNode,
  holdQuorumLost,
  setFinalizer,
  reportRestore,
  holdOperation,

  // Nothing is in flight below this line.
  restartUnborn,
  seedEpoch,
  holdSeeding,

  // Lost members, alarms and half-done upgrades come before new members, and those before a requested change.
  removeForced,
  markGrown,
  holdSplitEvidence,
  clearNoSpace,
  finalizeUpgrade,
  revertUpgrade,
  removeDead,
  holdForeignMember,
  collectLearner,
  reissuePermit,
  promoteLearner,
  addLearner,
  annotateClaim,
  holdVersionMismatch,
  verifyHash,
  disarmCorrupt,
  holdAlarmsUnknown,
  holdCorrupt,

  // Size comes before version, and version before template.
  lowerReplicas,
  pruneClaim,
  shrink,
  ...settle,
  ...beginUpgrade,
  ...switchTransport,
  annotateRoots,
  restartPod,
  replacePod,
  rollSingle,
  growPods,
  pruneJobs,
  noteReached,

  // Requested once, and only while nothing else is to be done.
  ...moveLeader,
  ...defragment,
];
