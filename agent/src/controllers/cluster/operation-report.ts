import { withoutUndefined } from '../../lib/without-undefined.ts';
import type { ClusterStatus, ReportedOperation, ReportedStep } from '../../protocol/cluster-status.ts';
import type { Condition, ConditionType } from '../../protocol/condition.ts';
import type { Reason } from '../../protocol/reasons.ts';
import { isMixed } from './operations/scale.ts';
import { type Steps, stepsOf } from './plan/steps.ts';
import type { View } from './plan/view.ts';

export type Operations = Pick<ClusterStatus, 'operation' | 'lastOperation'>;

/**
 * Continues what the last status says about operations. An operation begins when Progressing is True, and ends when the
 * cluster is Ready, or when something else is asked for.
 */
export function operationsOf(v: View, conditions: readonly Condition[], now: number): Operations {
  const { operation: before, lastOperation } = v.cluster.status;
  const at = new Date(now).toISOString().replace(/\.\d+/, '');
  const progressing = conditions.find(({ type }) => type === 'Progressing');
  const isUnknown = progressing === undefined || progressing.status === 'Unknown';
  if (isUnknown || progressing.reason === 'Paused') return { operation: before, lastOperation };
  if (progressing.status === 'True') {
    const { reason } = progressing;
    const goesOn = before && continues(v, before, reason);
    const operation = goesOn ? { ...before, type: typeOf(before.type, reason) } : begun(v, reason, at);
    const ended = before && !goesOn ? over(before, 'Superseded', at) : lastOperation;
    return { operation: advanced(operation, stepsOf(v), at), lastOperation: ended };
  }
  if (!before) return { lastOperation };
  if (holds(conditions, 'Ready')) {
    const isReached = before.target === targetOf(v, before.type);
    return { lastOperation: over(before, isReached ? 'Completed' : 'Superseded', at) };
  }
  return { operation: advanced(before, stepsOf(v), at), lastOperation };
}

const holds = (conditions: readonly Condition[], type: ConditionType): boolean =>
  conditions.some((each) => each.type === type && each.status === 'True');

const begun = (v: View, type: Reason, startedAt: string): ReportedOperation =>
  withoutUndefined({ type: renamed[type] ?? type, target: targetOf(v, type), startedAt, steps: [], next: [] });

const sizes: readonly string[] = ['Growing', 'Shrinking'] satisfies Reason[];
const versions: readonly string[] = ['Upgrading', 'FlushingRaftLog'] satisfies Reason[];

function targetOf(v: View, type: string): string | undefined {
  if (sizes.includes(type)) return `${v.spec.size}`;
  return versions.includes(type) ? v.spec.version : undefined;
}

/** One operation for its reader, although its preparation has a reason of its own. */
const renamed: Partial<Record<Reason, Reason>> = { PreparingRestore: 'Restoring', FlushingRaftLog: 'Upgrading' };

/** Only the part of a longer operation: what begins it is its type. */
const parts: Partial<Record<string, readonly Reason[]>> = {
  Replacing: ['Growing'],
  Restoring: ['Growing', 'Bootstrapping'],
  Recovering: ['Growing', 'Bootstrapping', 'Restoring'],
  SwitchingTransport: ['RollingRestart'],
};

/** These are never a part of another operation. */
const own: readonly Reason[] = ['PreparingRestore', 'Restoring', 'Recovering', 'Deleting'];

function continues(v: View, before: ReportedOperation, reason: Reason): boolean {
  const isSame = (renamed[reason] ?? reason) === before.type;
  if (isSame) return before.target === targetOf(v, before.type);
  if (parts[before.type]?.includes(reason)) return true;
  if (own.includes(reason)) return false;
  // Until it is finalized, a member that is repaired meanwhile belongs to the upgrade.
  if (before.type === 'Upgrading') return isMixed(v) && before.target === targetOf(v, before.type);
  // Without persistent volumes, a restart is a removal and an addition.
  return before.type === 'RollingRestart' && v.spec.ephemeral && reason === 'Growing';
}

const typeOf = (before: string, reason: Reason): string => (before === reason ? reason : before);

/** More would make the status too large. */
const mostSteps = 48;

function advanced(before: ReportedOperation, { now, next }: Steps, at: string): ReportedOperation {
  const known = before.steps.some(({ name }) => name === now);
  const steps = before.steps.map((step) => (step.name === now ? reopened(step) : ended(step, at)));
  const all = now === undefined || known ? steps : [...steps, { name: now, startedAt: at }];
  return {
    ...before,
    steps: all.slice(-mostSteps),
    next: [...new Set(next)].filter((name) => name !== now).slice(0, 16),
  };
}

const reopened = ({ name, startedAt }: ReportedStep): ReportedStep => ({ name, startedAt });
const ended = (step: ReportedStep, endedAt: string): ReportedStep => ({ endedAt, ...step });

function over(
  { next: _, ...operation }: ReportedOperation,
  outcome: 'Completed' | 'Superseded',
  at: string,
): ReportedOperation {
  return { ...operation, steps: operation.steps.map((step) => ended(step, at)), endedAt: at, outcome };
}
