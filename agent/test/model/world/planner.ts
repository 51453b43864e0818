import type { Table } from '../../../src/controllers/cluster/engine/table.ts';
import { rules, rulesWithoutRecord } from '../../../src/controllers/cluster/operations/rules.ts';
import { decideWith, planWith } from '../../../src/controllers/cluster/plan.ts';
import type { Planner } from '../explore/passes.ts';
import { settings } from '../settings.ts';
import { NOW } from './see.ts';

export const actionTable: Table = { rules, rulesWithoutRecord };

/** The real plan() with the real table or with another one. */
export const plannerOf = (actions: Table): Planner => ({
  decide: (observed) => decideWith(actions, observed, NOW, settings),
  plan: (observed) => planWith(actions, observed, NOW, settings),
});

export const planner: Planner = plannerOf(actionTable);
