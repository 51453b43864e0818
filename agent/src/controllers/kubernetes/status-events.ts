import type { EventOf } from '../../kube/events.ts';
import { formatAge } from '../../lib/terminal/format-age.ts';
import type { ClusterStatus, ReportedCondition, ReportedOperation, StepKind } from '../../protocol/cluster-status.ts';
import { isBad, isExpected } from '../../protocol/condition.ts';

/** Returns the Events for conditions that became bad or good again, and for operations that began. */
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

/** Returns the Events for each step that began and for an operation that ended. */
export function operationEvents(
  before: Partial<ClusterStatus> | undefined,
  { operation, lastOperation }: Pick<ClusterStatus, 'operation' | 'lastOperation'>,
): EventOf[] {
  const ended =
    lastOperation && isNew(before?.lastOperation, lastOperation) ? [endOf(lastOperation, operation?.type)] : [];
  return [...ended, ...(operation ? stepsOf(before?.operation, operation) : [])];
}

const isNew = (before: ReportedOperation | undefined, now: ReportedOperation): boolean =>
  !isSame(before, now) || before?.endedAt !== now.endedAt;

const isSame = (a: ReportedOperation | undefined, b: ReportedOperation): boolean =>
  a?.startedAt === b.startedAt && a.type === b.type && a.target === b.target;

function stepsOf(before: ReportedOperation | undefined, now: ReportedOperation): EventOf[] {
  const { type, steps = [], next = [] } = now;
  const known = isSame(before, now) ? (before?.steps ?? []).map(({ name }) => name) : [];
  const then = next[0] === undefined ? '' : `; next: ${next[0]}`;
  return steps
    .filter(({ name, endedAt }) => endedAt === undefined && !known.includes(name))
    .filter(({ kind }) => kind === undefined || !haveOwnEvent.includes(kind))
    .map(({ name }) => ({ type: 'Normal', reason: type, message: `now: ${name}${then}` }));
}

/** What is done has an Event of its own, such as LearnerAdded and PodEvicted; a member that is not well is in Degraded. */
const haveOwnEvent: readonly StepKind[] = ['Add', 'Promote', 'Restart', 'Remove', 'BecomeHealthy'];

/** `follows`: the type of the operation that takes its place. */
function endOf({ type, target, startedAt, endedAt, outcome }: ReportedOperation, follows?: string): EventOf {
  const what = `${type}${target === undefined ? '' : ` to ${target}`}`;
  const took = formatAge(Date.parse(endedAt ?? '') - Date.parse(startedAt));
  if (outcome === 'Completed')
    return { type: 'Normal', reason: 'OperationCompleted', message: `${what} is completed; it took ${took}` };
  if (outcome === 'Failed')
    return { type: 'Warning', reason: 'OperationFailed', message: `${what} failed after ${took}` };
  const became = follows === undefined ? 'was given up' : `gave way to ${follows}`;
  return { type: 'Normal', reason: 'OperationSuperseded', message: `${what} ${became} after ${took}` };
}
