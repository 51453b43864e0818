import { withoutUndefined } from '../../../lib/without-undefined.ts';
import type { ClusterStatus, ReportedOperation, ReportedStep } from '../../../protocol/cluster-status.ts';
import type { Condition, ConditionType } from '../../../protocol/condition.ts';
import type { Reason } from '../../../protocol/reasons.ts';
import type { View } from '../engine/view.ts';
import { wantedSize } from '../facts/facts.ts';
import { statefulSet } from '../facts/observations.ts';
import { upgradeProblem } from '../facts/upgrade-path.ts';
import { isMixed } from '../operations/scale.ts';
import { isOver, outcomeOf, targetOf } from './operation-outcome.ts';
import { type Steps, stepsOf } from './steps.ts';

export type Operations = Pick<ClusterStatus, 'operation' | 'lastOperation'>;

/**
 * Continues what the last status says about operations. An operation begins when Progressing is True, and ends when the
 * cluster is Ready, or when another begins.
 */
export function operationsOf(v: View, conditions: readonly Condition[], now: number): Operations {
  const { status } = v.cluster;
  const [before, lastOperation] = [readable(status.operation), readable(status.lastOperation)];
  const at = new Date(now).toISOString().replace(/\.\d+/, '');
  const progressing = conditions.find(({ type }) => type === 'Progressing');
  // The raft log is flushed on the side, unless an upgrade waits for that: a cluster that is ready has reached its goal.
  const isWaitedFor = upgradeProblem(v)?.reason === 'FlushingRaftLog' && !holds(conditions, 'Ready');
  const isAside = progressing?.reason === 'FlushingRaftLog' && !isWaitedFor;
  if (progressing?.status === 'True' && !isAside) {
    const { reason } = progressing;
    const goesOn = before && continues(v, before, reason);
    const operation = goesOn ? before : begun(v, reason, at);
    // One that has done nothing was only how the change began, such as a template that is applied before the version.
    const isOver = before && !goesOn && before.steps.length > 0;
    const ended = isOver ? over(before, outcomeOf(v, before, false), at) : lastOperation;
    return { operation: advanced(operation, stepsOf(v), at), lastOperation: ended };
  }
  if (!before) return { lastOperation };
  if (holds(conditions, 'Ready') || isOver(v, before))
    return { lastOperation: over(before, outcomeOf(v, before, true), at) };
  const isPaused = progressing === undefined || progressing.status === 'Unknown' || progressing.reason === 'Paused';
  return { operation: isPaused ? before : advanced(before, stepsOf(v), at), lastOperation };
}

/** Somebody else may have written the status: what is not an operation would stop the reconciler. */
function readable(operation: Partial<ReportedOperation> | undefined): ReportedOperation | undefined {
  const { type, startedAt, steps = [] } = operation ?? {};
  return type === undefined || startedAt === undefined ? undefined : { ...operation, type, startedAt, steps };
}

const holds = (conditions: readonly Condition[], type: ConditionType): boolean =>
  conditions.some((each) => each.type === type && each.status === 'True');

const begun = (v: View, type: Reason, startedAt: string): ReportedOperation =>
  withoutUndefined({ type: renamed[type] ?? type, target: targetOf(v, type), startedAt, steps: [], next: [] });

/** One operation for its reader, although its preparation has a reason of its own. */
const renamed: Partial<Record<Reason, Reason>> = { PreparingRestore: 'Restoring', FlushingRaftLog: 'Upgrading' };

/** Only the part of a longer operation: what begins it is its type. */
const parts: Partial<Record<string, readonly Reason[]>> = {
  Bootstrapping: ['Growing'],
  Replacing: ['Growing'],
  Restoring: ['Growing', 'Bootstrapping'],
  Recovering: ['Growing', 'Bootstrapping', 'Restoring'],
  SwitchingTransport: ['RollingRestart'],
};

/** These are never a part of another operation. */
const own: readonly Reason[] = ['PreparingRestore', 'Restoring', 'Recovering', 'Deleting'];

/** Changes that are asked for, and in whose course a member may be lost, or a database become full. */
const changes: readonly string[] = ['Bootstrapping', 'Growing', 'Shrinking', 'RollingRestart', 'SwitchingTransport'];

function continues(v: View, before: ReportedOperation, reason: Reason): boolean {
  if (before.target !== targetOf(v, before.type)) return false;
  if ((renamed[reason] ?? reason) === before.type || parts[before.type]?.includes(reason)) return true;
  if (own.includes(reason)) return false;
  // Until it is finalized, a member that is repaired meanwhile belongs to the upgrade.
  return before.type === 'Upgrading' ? isMixed(v) : changes.includes(before.type) && isRepair(v, reason);
}

/** Nobody asked for it. A member that was removed joins again with the pod that it had. */
const isRepair = (v: View, reason: Reason): boolean =>
  reason === 'Replacing' ||
  reason === 'ClearingNoSpace' ||
  (reason === 'Growing' && (statefulSet(v)?.replicas ?? 0) >= wantedSize(v));

/** More would make the status too large. */
const mostSteps = 48;

/** As long as the API server accepts. */
const longestName = 256;

function advanced(before: ReportedOperation, found: Steps | undefined, at: string): ReportedOperation {
  if (!found) return before;
  const now = found.now && { ...found.now, name: found.now.name.slice(0, longestName) };
  const next = found.next.map(({ name }) => name.slice(0, longestName));
  const last = before.steps.at(-1);
  const earlier = before.steps.filter(({ name }) => name !== now?.name).map((step) => ended(step, at));
  // A step that comes again after others begins anew; names do not repeat.
  const startedAt = last && last.name === now?.name ? last.startedAt : at;
  const all = now === undefined ? earlier : [...earlier, { ...now, startedAt }];
  return {
    ...before,
    steps: all.slice(-mostSteps),
    next: [...new Set(next)].filter((name) => name !== now?.name).slice(0, 16),
  };
}

const ended = (step: ReportedStep, at: string): ReportedStep => ({ endedAt: notBefore(step, at), ...step });

/** The clock of an earlier reconciler may have been ahead. */
const notBefore = ({ startedAt }: Pick<ReportedStep, 'startedAt'>, at: string): string =>
  Date.parse(startedAt) > Date.parse(at) ? startedAt : at;

function over(
  { next: _, ...operation }: ReportedOperation,
  outcome: ReportedOperation['outcome'],
  at: string,
): ReportedOperation {
  const steps = operation.steps.map((step) => ended(step, at));
  return withoutUndefined({ ...operation, steps, endedAt: notBefore(operation, at), outcome });
}
