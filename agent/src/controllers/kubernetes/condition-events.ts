import type { EventOf } from '../../kube/events.ts';
import type { ClusterStatus, ReportedCondition } from '../../protocol/cluster-status.ts';
import { isBad, isExpected } from '../../protocol/condition.ts';

/** Returns the Events for a change of status: conditions that became bad or good again, and operations that began. */
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
