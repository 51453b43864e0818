import type { AnyRule } from '../plan/rule.ts';
import { rollSteps } from './ephemeral.ts';
import { endRecovery, recoverySteps } from './recovery.ts';
import { drainSteps, fenceOff } from './restore-fence.ts';
import { replacementSteps, reportSteps, withdrawRestore } from './restore-request.ts';
import { seedSteps } from './restore-seed.ts';
import { failWithoutRoom, giveWay, safetySteps, verifySteps, yieldToRemoval } from './restore-verify.ts';

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
