import type { Condition } from '../../../protocol/condition.ts';
import type { Reason } from '../../../protocol/reasons.ts';
import type { RecordDoc } from '../../../protocol/record.ts';
import type { Effect } from '../effect.ts';
import type { Observed } from '../observed.ts';
import { finalizer } from '../operations/deletion.ts';
import type { Settings } from '../settings.ts';
import { rows, rowsWithoutRecord } from './actions.ts';
import { conditionsOf } from './conditions.ts';
import { lacksManifests } from './facts.ts';
import type { AnyRow, Conjuncts } from './row.ts';
import { View } from './view.ts';

export interface Plan {
  /** The one thing to do now; none: wait. */
  effect?: Effect;
  /** Name of the row that decided. */
  row?: string;
  /** Why nothing is done, when a row holds. */
  hold?: Reason;
  /** For people: what is done, or what the nearest row waits for. */
  why: string;
  conditions: Condition[];
  requeueMs: number;
}

export interface Actions {
  rows: readonly AnyRow[];
  rowsWithoutRecord: readonly AnyRow[];
}

export type Decision = Pick<Plan, 'effect' | 'row' | 'hold' | 'why'>;

/** Decides what happens next to a cluster: the first row of the action table that holds. */
export const plan = (observed: Observed, now: number, settings: Settings): Plan =>
  planWith({ rows, rowsWithoutRecord }, observed, now, settings);

export function planWith(actions: Actions, observed: Observed, now: number, settings: Settings): Plan {
  const view = new View(observed, now, settings);
  const decision = decide(actions, view);
  if (!observed.cluster.known || !observed.cluster.v) return { ...decision, conditions: [], requeueMs: requeue(view) };
  return { ...decision, conditions: conditionsOf(view, decision.hold), requeueMs: requeue(view) };
}

/** Without the conditions. */
export const decideWith = (actions: Actions, observed: Observed, now: number, settings: Settings): Decision =>
  decide(actions, new View(observed, now, settings));

function decide(actions: Actions, view: View): Decision {
  const { cluster, record } = view.o;
  if (!cluster.known) return { why: `the EtcdCluster is unknown: ${cluster.why}` };
  if (!cluster.v) return { why: 'there is no EtcdCluster: hands off' };
  if (!record.known) {
    // What nobody will do is not waited for, whatever the record says.
    if (cluster.v.reconcilerGoing) return walk(finalizer, view);
    const why = `the record is unknown: ${record.why}`;
    if (lacksManifests(view)) return { why, hold: 'ManifestsMissing' };
    return { why, ...(record.unreadable && { hold: 'RecordUnreadable' }) };
  }
  return walk(record.v ? actions.rows : actions.rowsWithoutRecord, view);
}

function walk(table: readonly AnyRow[], view: View): Decision {
  let waits: string | undefined;
  for (const row of table) {
    for (const subject of row.of?.(view) ?? [undefined]) {
      if (missing(row.when, view, subject) !== undefined) continue;
      const lacks = missing(row.requires, view, subject);
      if (lacks === undefined) return decided(row, view, subject, waits);
      if (row.effect) waits ??= `${row.name} waits: ${lacks}`;
    }
  }
  return { why: waits ?? 'nothing to do' };
}

/** The first that does not hold. */
function missing(conjuncts: Conjuncts<unknown>, view: View, subject: unknown): string | undefined {
  for (const name in conjuncts) {
    if (!conjuncts[name]!(view, subject)) return name;
  }
  return undefined;
}

function decided(row: AnyRow, view: View, subject: unknown, waits: string | undefined): Decision {
  if (row.effect) return { effect: row.effect(view, subject), row: row.name, why: row.name };
  const hold = typeof row.hold === 'function' ? row.hold(view, subject) : row.hold!;
  return { row: row.name, hold, why: waits ? `${hold}; ${waits}` : hold };
}

/** An operation, an upgrade, or a member on its way: the next step is due in seconds. */
const isBusy = (doc: RecordDoc | undefined): boolean =>
  !doc?.seeded ||
  doc.phase === 'Seeding' ||
  doc.op !== undefined ||
  doc.versions.allowedMinors.length > 1 ||
  Object.keys(doc.permits).length > 0;

function requeue({ o, s }: View): number {
  if (o.failures > 0) return Math.min(s.backoffMin * 2 ** (o.failures - 1), s.backoffMax);
  const isMoving = o.pods.known && o.pods.v.some((pod) => pod.deleting);
  return isMoving || (o.record.known && isBusy(o.record.v?.doc)) ? s.op : s.steady;
}
