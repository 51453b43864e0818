import type { Condition } from '../../../protocol/condition.ts';
import { type Reason, reasons } from '../../../protocol/reasons.ts';
import type { RecordDoc } from '../../../protocol/record.ts';
import type { Effect } from '../effect.ts';
import type { Observed } from '../observed.ts';
import { releaseFinalizer } from '../operations/deletion.ts';
import { isNearlyFull } from '../operations/no-space.ts';
import type { Settings } from '../settings.ts';
import { conditionsOf } from './conditions.ts';
import { lacksManifests } from './facts.ts';
import type { AnyRule, Guards } from './rule.ts';
import { rules, rulesWithoutRecord } from './table.ts';
import { View } from './view.ts';

export interface Plan {
  /** The one thing to do now; undefined: wait. */
  effect?: Effect;
  /** Name of the rule that decided. */
  rule?: string;
  /** Why nothing is done, if a rule holds. */
  hold?: Reason;
  /** For people: the rule that decided, or the first rule that waits and what it waits for. */
  why: string;
  /** The first rule that waits, and what it waits for. */
  waits?: string;
  conditions: Condition[];
  requeueMs: number;
}

export interface Actions {
  rules: readonly AnyRule[];
  rulesWithoutRecord: readonly AnyRule[];
}

export type Decision = Pick<Plan, 'effect' | 'rule' | 'hold' | 'why' | 'waits'>;

/** Decides what happens next to a cluster: the first rule of the table that holds. */
export const plan = (observed: Observed, now: number, settings: Settings): Plan =>
  planWith({ rules, rulesWithoutRecord }, observed, now, settings);

export function planWith(actions: Actions, observed: Observed, now: number, settings: Settings): Plan {
  const view = new View(observed, now, settings);
  const decision = decide(actions, view);
  if (!observed.cluster.known || !observed.cluster.v) return { ...decision, conditions: [], requeueMs: requeue(view) };
  return { ...decision, conditions: conditionsOf(view, decision.hold), requeueMs: requeue(view) };
}

/** Decides without computing the conditions. */
export const decideWith = (actions: Actions, observed: Observed, now: number, settings: Settings): Decision =>
  decide(actions, new View(observed, now, settings));

function decide(actions: Actions, view: View): Decision {
  const { cluster, record } = view.o;
  if (!cluster.known) return { why: `the EtcdCluster is unknown: ${cluster.why}` };
  if (!cluster.v) return { why: 'there is no EtcdCluster, so nothing is done' };
  const { followedBy } = cluster.v;
  if (followedBy !== undefined) return { why: followedByAnother(followedBy), hold: 'OtherReconciler' };
  if (!record.known) {
    // The finalizer must not wait for a reconciler that is being deleted, whatever the record contains.
    if (cluster.v.reconcilerGoing) return walk([releaseFinalizer], view);
    const why = `the record is unknown: ${record.why}`;
    if (lacksManifests(view)) return { why, hold: 'ManifestsMissing' };
    return { why, ...(record.unreadable && { hold: 'RecordUnreadable' }) };
  }
  return walk(record.v ? actions.rules : actions.rulesWithoutRecord, view);
}

export const followedByAnother = (lease: string): string =>
  `${reasons.OtherReconciler}: the reconciler with the Lease ${lease}`;

function walk(table: readonly AnyRule[], view: View): Decision {
  let waits: string | undefined;
  for (const rule of table) {
    for (const subject of rule.each?.(view) ?? [undefined]) {
      if (missing(rule.when, view, subject) !== undefined) continue;
      const lacks = missing(rule.requires, view, subject);
      if (lacks === undefined) return decided(rule, view, subject, waits);
      if (rule.effect) waits ??= `${rule.name} waits: ${lacks}`;
    }
  }
  return waits === undefined ? { why: 'nothing to do' } : { why: waits, waits };
}

/** The first guard that does not hold. */
function missing(guards: Guards<unknown>, view: View, subject: unknown): string | undefined {
  for (const name in guards) {
    if (!guards[name]!(view, subject)) return name;
  }
  return undefined;
}

function decided(rule: AnyRule, view: View, subject: unknown, waits: string | undefined): Decision {
  if (rule.effect) return { effect: rule.effect(view, subject), rule: rule.name, why: rule.name };
  const hold = typeof rule.hold === 'function' ? rule.hold(view, subject) : rule.hold!;
  return waits === undefined
    ? { rule: rule.name, hold, why: hold }
    : { rule: rule.name, hold, why: `${hold}; ${waits}`, waits };
}

/** An operation, an upgrade or a joining member: the next step is due in seconds. */
const isBusy = (doc: RecordDoc | undefined): boolean =>
  !doc?.seeded ||
  doc.phase === 'Seeding' ||
  doc.op !== undefined ||
  doc.versions.allowedMinors.length > 1 ||
  Object.keys(doc.permits).length > 0;

function requeue(view: View): number {
  const { o, s } = view;
  if (o.failures > 0) return Math.min(s.backoffMin * 2 ** (o.failures - 1), s.backoffMax);
  const isMoving = o.pods.known && o.pods.v.some((pod) => pod.deleting);
  const { record, cluster } = o;
  if (isMoving || (record.known && isBusy(record.v?.doc))) return s.op;
  const isFilling = record.known && record.v && cluster.known && cluster.v && isNearlyFull(view);
  return isFilling ? s.op : s.steady;
}
