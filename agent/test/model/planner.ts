import { rows, rowsWithoutRecord } from '../../src/reconcile/actions.ts';
import { type Actions, decideWith, planWith } from '../../src/reconcile/plan.ts';
import { defaultSettings, type Settings } from '../../src/reconcile/settings.ts';
import { INDEX_UNIT } from './etcd.ts';
import type { Planner } from './passes.ts';
import { NOW } from './see.ts';

/** The defaults, but that one churn of leases is one unit of the model's raft index. */
export const settings: Settings = { ...defaultSettings, churnPairs: INDEX_UNIT / 2 };

export const actionTable: Actions = { rows, rowsWithoutRecord };

/** The real plan(), of the real action table or of another one. */
export const plannerOf = (actions: Actions): Planner => ({
  decide: (observed) => decideWith(actions, observed, NOW, settings),
  plan: (observed) => planWith(actions, observed, NOW, settings),
});

export const planner: Planner = plannerOf(actionTable);
