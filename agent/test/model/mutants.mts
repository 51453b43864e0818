import { parseArgs } from 'node:util';
import { inWorkers } from './explore/pool.ts';
import type { Fork, MutantAnswer, MutantTask } from './mutant-worker.mts';
import { mutantsOf } from './mutants.ts';
import { scenarioNames } from './scenarios.ts';
import { actionTable } from './world/planner.ts';
import type { World } from './world/world.ts';

// npm run suite -- model-mutants [--only=pattern of the mutant's name] [--in=pattern of the scenario's name]
//   [--states=N per fork] [--walks=N without a new fork]

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { only: text, in: text, states: text, walks: text } });
const only = new RegExp(values.only ?? '');
const scenarios = scenarioNames.filter((name) => new RegExp(values.in ?? '').test(name));
const maxStates = Number(values.states ?? 200);
const WALKS = Number(values.walks ?? 40);
const FORKS_PER_SCENARIO = 3;
const FORKS = 250;

const file = new URL('./mutant-worker.mts', import.meta.url);
const names = mutantsOf(actionTable)
  .map((mutant) => mutant.name)
  .filter((name) => only.test(name));
const forksOf: Record<string, Record<string, World[]>> = {};

await inWorkers<MutantTask, MutantAnswer>(
  file,
  2,
  scenarios.map((find) => ({ find, walks: WALKS, perMutant: FORKS_PER_SCENARIO })),
  (answer) => {
    if (!('forks' in answer)) return;
    forksOf[answer.scenario] = answer.forks;
  },
);

const forks = new Map(
  names.map((name): [string, Fork[]] => [
    name,
    scenarios.flatMap((scenario) => (forksOf[scenario]?.[name] ?? []).map((world) => ({ scenario, world }))),
  ]),
);

/** The first fork of each scenario, then the second of each, because different scenarios find different defects. */
function mixed(list: readonly Fork[]): Fork[] {
  const turn = new Map<string, number>();
  const rank = (fork: Fork): number => {
    const n = turn.get(fork.scenario) ?? 0;
    turn.set(fork.scenario, n + 1);
    return n;
  };
  const ranked = list.map((fork) => ({ fork, rank: rank(fork) }));
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, FORKS)
    .map(({ fork }) => fork);
}

const argued = new Map(mutantsOf(actionTable).map(({ name, implied }) => [name, implied]));
const found: string[] = [];
const survivors: string[] = [];
const stale: string[] = [];
const equivalent: string[] = [];

function tell(name: string, what: string | undefined): void {
  const why = argued.get(name);
  if (what && why) {
    stale.push(name);
    console.log(`WRONG     ${name} is not implied: ${what}`);
  } else if (what) {
    found.push(name);
    console.log(`found     ${name}: ${what}`);
  } else if (why) {
    equivalent.push(name);
    console.log(`implied   ${name}: ${why}`);
  } else {
    survivors.push(name);
    const met = forks.get(name)!.length > 0;
    console.log(`SURVIVES  ${name}${met ? '' : ': decides as plan() does wherever the search came'}`);
  }
}

await inWorkers<MutantTask, MutantAnswer>(
  file,
  2,
  names
    .filter((name) => forks.get(name)!.length > 0)
    .map((mutant) => ({ mutant, forks: mixed(forks.get(mutant)!), maxStates })),
  (answer) => {
    if (!('mutant' in answer)) return;
    const { mutant, found: what, scenario } = answer;
    tell(mutant, what && `${what.split('; ')[0]} (${scenario})`);
  },
);
for (const name of names) if (forks.get(name)!.length === 0) tell(name, undefined);

console.log(
  `\n${names.length} mutants: ${found.length} found, ${equivalent.length} implied by what is said beside them, ` +
    `${survivors.length} survive, ${stale.length} wrongly called implied`,
);
if (survivors.length + stale.length > 0) process.exitCode = 1;
