import { type Actions, decideWith, planWith } from '../../../src/controllers/cluster/plan/plan.ts';
import { rules, rulesWithoutRecord } from '../../../src/controllers/cluster/plan/table.ts';
import type { Planner } from '../explore/passes.ts';
import { settings } from '../settings.ts';
import { NOW } from './see.ts';

export const actionTable: Actions = { rules, rulesWithoutRecord };

/** The real plan() with the real table or with another one. */
export const plannerOf = (actions: Actions): Planner => ({
  decide: (observed) => decideWith(actions, observed, NOW, settings),
  plan: (observed) => planWith(actions, observed, NOW, settings),
});

export const planner: Planner = plannerOf(actionTable);
