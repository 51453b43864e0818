import type { ConditionStatus } from '../../../src/resource/types.ts';

/** A condition of an EtcdBackup or EtcdRestore. */
export interface OutcomeCondition extends ConditionStatus {
  readonly type: 'Completed' | 'Failed' | 'Ready' | 'Reconciling' | 'Stalled';
  readonly status: 'True' | 'False';
}

interface Outcome extends Pick<ConditionStatus, 'reason' | 'message'> {
  readonly phase: string;
  readonly observedGeneration?: number | undefined;
}

/**
 * Conditions of what is done once: Completed and Failed for people, and Ready, Reconciling and Stalled for kstatus, by
 * which Flux and others know when an apply is complete.
 */
export function outcomeConditions(
  { phase, reason, message, observedGeneration }: Outcome,
  before: readonly Partial<OutcomeCondition>[] = [],
  now: string,
): OutcomeCondition[] {
  const [isDone, hasFailed] = [phase === 'Completed', phase === 'Failed'];
  const holds = {
    ...{ Completed: isDone, Failed: hasFailed },
    ...{ Ready: isDone, Reconciling: !isDone && !hasFailed, Stalled: hasFailed },
  };
  return (Object.keys(holds) as OutcomeCondition['type'][]).map((type) => {
    const status = holds[type] ? 'True' : 'False';
    const old = before.find((each) => each.type === type);
    const since = (old?.status === status && old.lastTransitionTime) || now;
    return {
      ...{ type, status, reason, message, lastTransitionTime: since },
      observedGeneration,
    };
  });
}
