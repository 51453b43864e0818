import type { AnyRule } from '../../plan/rule.ts';
import { drainSteps, fenceOff } from './fence.ts';
import { endRecovery, recoverySteps } from './recovery.ts';
import { replacementSteps, reportSteps, withdrawRestore } from './request.ts';
import { rollSteps } from './roll.ts';
import { seedSteps } from './seed.ts';
import { failWithoutRoom, giveWay, safetySteps, verifySteps, yieldToRemoval } from './verify.ts';

/** Steps of Restore and Recover, from the backup of a survivor to the seed that is restored. */
export const restoreSteps: readonly AnyRule[] = [
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
