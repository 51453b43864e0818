import type { Condition } from '../../protocol/condition.ts';
import { followedByAnother } from '../../protocol/reasons.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import type { Observed } from '../port/observed.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import { conditionsOf } from './conditions/conditions.ts';
import { type Decision, type Table, walk } from './engine/table.ts';
import { View } from './engine/view.ts';
import { lacksManifests } from './facts/facts.ts';
import { releaseFinalizer } from './operations/deletion.ts';
import { isNearlyFull } from './operations/no-space.ts';
import { rules, rulesWithoutRecord } from './operations/rules.ts';

export interface Plan extends Decision {
  conditions: Condition[];
  requeueMs: number;
}

/** Decides what happens next to a cluster: the first rule of the table that holds. */
export const plan = (observed: Observed, now: number, settings: ReconcilerSettings): Plan =>
  planWith({ rules, rulesWithoutRecord }, observed, now, settings);

export function planWith(table: Table, observed: Observed, now: number, settings: ReconcilerSettings): Plan {
  const view = new View(observed, now, settings);
  const decision = decide(table, view);
  if (!observed.cluster.known || !observed.cluster.v) return { ...decision, conditions: [], requeueMs: requeue(view) };
  return { ...decision, conditions: conditionsOf(view, decision.hold), requeueMs: requeue(view) };
}

/** Decides without computing the conditions. */
export const decideWith = (table: Table, observed: Observed, now: number, settings: ReconcilerSettings): Decision =>
  decide(table, new View(observed, now, settings));

function decide(table: Table, view: View): Decision {
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
    return { why, hold: record.unreadable && 'RecordUnreadable' };
  }
  return walk(record.v ? table.rules : table.rulesWithoutRecord, view);
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
