import type { EventOf } from '../../../kube/events.ts';
import { formatAge } from '../../../lib/terminal/format-age.ts';
import type { ClusterStatus, ReportedOperation } from '../../../protocol/cluster-status.ts';

/** Returns the Events for each step that began and for an operation that ended. */
export function operationEvents(before: Partial<ClusterStatus> | undefined, now: ClusterStatus): EventOf[] {
  const ended = now.lastOperation && isNew(before?.lastOperation, now.lastOperation) ? [endOf(now.lastOperation)] : [];
  return [...ended, ...(now.operation ? stepsOf(before?.operation, now.operation) : [])];
}

const isNew = (before: ReportedOperation | undefined, now: ReportedOperation): boolean =>
  before?.startedAt !== now.startedAt || before.type !== now.type || before.endedAt !== now.endedAt;

function stepsOf(
  before: ReportedOperation | undefined,
  { type, startedAt, steps, next = [] }: ReportedOperation,
): EventOf[] {
  const known = before?.startedAt === startedAt ? before.steps.map(({ name }) => name) : [];
  const then = next[0] === undefined ? '' : `; next: ${next[0]}`;
  return steps
    .filter(({ name, endedAt }) => endedAt === undefined && !known.includes(name))
    .map(({ name }) => ({ type: 'Normal', reason: type, message: `now: ${name}${then}` }));
}

function endOf({ type, target, startedAt, endedAt, outcome }: ReportedOperation): EventOf {
  const what = `${type}${target === undefined ? '' : ` to ${target}`}`;
  const took = formatAge(Date.parse(endedAt ?? '') - Date.parse(startedAt));
  return outcome === 'Completed'
    ? { type: 'Normal', reason: 'OperationCompleted', message: `${what} is completed; it took ${took}` }
    : {
        type: 'Normal',
        reason: 'OperationSuperseded',
        message: `${what} ended after ${took}, because something else was asked for`,
      };
}
