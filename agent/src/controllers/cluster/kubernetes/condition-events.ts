import type { EventOf } from '../../../kube/events.ts';
import type { ClusterStatus, ReportedCondition } from '../../../protocol/cluster-status.ts';
import type { ConditionType } from '../../../protocol/condition.ts';

/** The state of a condition in which somebody should look. */
const bad: Partial<Record<ConditionType, 'True' | 'False'>> = {
  Available: 'False',
  Degraded: 'True',
  QuorumLost: 'True',
  Stalled: 'True',
  Alarm: 'True',
  BackupHealthy: 'False',
  Accepted: 'False',
};

/** Nobody needs to look at these: they belong to what is being done, and their end is no news either. */
const expected: readonly string[] = ['Bootstrapping', 'NoSchedule', 'Restoring', 'Starting', 'NoReadyPod'];

/** What is to be told of a change of status: what became bad or well, and what begins to be done. */
export function conditionEvents(before: Partial<ClusterStatus> | undefined, now: ClusterStatus): EventOf[] {
  return now.conditions.flatMap((condition) => {
    const old = before?.conditions?.find(({ type }) => type === condition.type);
    return eventOf(old, condition) ?? [];
  });
}

function eventOf(old: ReportedCondition | undefined, now: ReportedCondition): EventOf | undefined {
  const { type, status, reason, message } = now;
  if (old?.status === status && old.reason === reason) return undefined;
  if (isBad(now)) return isExpected(now) ? undefined : { type: 'Warning', reason, message };
  const began = status === 'True' && (type === 'Progressing' || (type === 'Ready' && old?.status !== 'True'));
  if (began || (old && isBad(old) && !isExpected(old) && status !== 'Unknown'))
    return { type: 'Normal', reason, message };
  return undefined;
}

const isBad = ({ type, status }: ReportedCondition): boolean => bad[type] === status;

const isExpected = ({ reason }: ReportedCondition): boolean => expected.includes(reason);
