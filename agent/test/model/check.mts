import { parseArgs } from 'node:util';
import { type Count, Coverage } from './explore/coverage.ts';
import type { Exploration } from './explore/explorer.ts';
import { inWorkers } from './explore/pool.ts';
import { scenarioNames } from './scenarios.ts';
import { story } from './story.ts';
import { actionTable } from './world/planner.ts';

// npm run suite -- model [--smoke] [--states=N per scenario] [--only=text of the scenario's name]

const {
  values: { smoke, states, only = '' },
} = parseArgs({ options: { smoke: { type: 'boolean' }, states: { type: 'string' }, only: { type: 'string' } } });
const maxStates = Number(states ?? (smoke ? 1000 : 10_000));
/** The least number of states that the whole check explores. */
const LEAST_STATES = 1_000_000;

const names = scenarioNames.filter((name) => name.includes(only));
const coverage = new Coverage();
const explored: Exploration[] = [];
const began = Date.now();

await inWorkers<object, { exploration: Exploration; counts: Record<string, Count> }>(
  new URL('./explore/explore-worker.mts', import.meta.url),
  2,
  names.map((name) => ({ name, maxStates })),
  ({ exploration, counts }) => {
    explored.push(exploration);
    coverage.merge(counts);
    const { scenario, states, depth, complete, violation } = exploration;
    console.log(
      `${String(states).padStart(8)} states, depth ${String(depth).padStart(2)}, ${complete ? 'complete' : 'bounded '}  ${scenario}`,
    );
    if (violation) console.log(story(exploration));
  },
);

console.log('\naction · step of the operation in flight: done, crash before, crash after, sent late');
for (const [name, c] of Object.entries(coverage.counts).sort(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`  ${name}: ${c.done}, ${c.crashBefore}, ${c.crashAfter}, ${c.late}`);

const all = [...actionTable.rules, ...actionTable.rulesWithoutRecord];
const met = coverage.rules();
const missed = [...new Set(all.map((rule) => rule.name))].filter((name) => !met.has(name));
for (const name of missed) console.log(`  ${name}: 0, 0, 0, 0  NEVER MET`);

const sum = (of: (e: Exploration) => number): number => explored.reduce((total, e) => total + of(e), 0);
const violations = explored.filter((e) => e.violation).length;
console.log(
  `\n${explored.length} scenarios, ${sum((e) => e.transitions)} transitions, ${Math.round((Date.now() - began) / 1000)} s`,
);
console.log(
  `${sum((e) => e.states)} states, depth ${Math.max(...explored.map((e) => e.depth))}, ${violations} violations, ${missed.length} actions never met`,
);
const isWhole = !only && !smoke && !states;
const tooFew = isWhole && sum((e) => e.states) < LEAST_STATES;
if (tooFew) console.log(`less than ${LEAST_STATES} states: add scenarios, or raise --states`);
if (violations > 0 || tooFew || (missed.length > 0 && !only && !smoke)) process.exitCode = 1;
