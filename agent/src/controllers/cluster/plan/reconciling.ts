import { type Condition, type ConditionType, is, unknown } from '../../../protocol/condition.ts';

/**
 * Whether the reconciler still works on what the spec asks for. With Ready and Stalled it is what kstatus reads, by which
 * Flux and others know when an apply is complete. Progressing is True also for work that nobody asked for in the spec.
 */
export function reconciling(conditions: readonly Condition[]): Condition {
  const holds = (type: ConditionType, status: Condition['status']) =>
    conditions.find((each) => each.type === type && each.status === status);
  const paused = conditions.find(({ type, reason }) => type === 'Progressing' && reason === 'Paused');
  const done = holds('Ready', 'True') ?? holds('Stalled', 'True') ?? holds('Accepted', 'False') ?? paused;
  if (done) return is('Reconciling', false, done.reason, done.message);
  const { reason, message } = holds('Progressing', 'True') ?? conditions.find(({ type }) => type === 'Ready')!;
  return holds('Ready', 'False') ? is('Reconciling', true, reason, message) : unknown('Reconciling', reason, message);
}
