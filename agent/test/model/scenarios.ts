import type { Planner } from './explore/passes.ts';
import type { Scenario } from './scenario.ts';
import { alarms } from './scenarios/alarms.ts';
import { bootstraps } from './scenarios/bootstrap.ts';
import { deletions } from './scenarios/deletion.ts';
import { images } from './scenarios/image.ts';
import { maintenance } from './scenarios/maintenance.ts';
import { lostRecords } from './scenarios/record-lost.ts';
import { recoveries } from './scenarios/recovery.ts';
import { replacements } from './scenarios/replace.ts';
import { resizes } from './scenarios/resize.ts';
import { restarts } from './scenarios/restart.ts';
import { restores } from './scenarios/restore.ts';
import { switches } from './scenarios/switch.ts';
import { tornReads } from './scenarios/torn.ts';
import { upgrades } from './scenarios/upgrade.ts';
import { withBudget } from './world/begin.ts';

const plots = [
  ...bootstraps,
  ...resizes,
  ...replacements,
  ...restarts,
  ...upgrades,
  ...restores,
  ...recoveries,
  ...deletions,
  ...alarms,
  ...maintenance,
  ...lostRecords,
  ...tornReads,
  ...images,
  ...switches,
];

export const scenarioNames: readonly string[] = plots.map((plot) => plot.name);

export function scenarioOf(name: string, planner: Planner): Scenario {
  const plot = plots.find((p) => p.name === name)!;
  const { faults = [], edits = [] } = plot;
  return { name, start: withBudget(plot.from(planner), plot.budget), faults, edits };
}
