import type { Fork, MutantAnswer, MutantTask } from './mutant-worker.mts';
import { mutantsOf } from './mutants.ts';
import { actionTable } from './planner.ts';
import { inWorkers } from './pool.ts';
import { scenarioNames } from './scenarios.ts';

// npm run model-check:mutants [-- --only=text of the mutant's name] [--states=N per fork]

const option = (name: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
const only = option('only') ?? '';
const maxStates = Number(option('states') ?? 300);
const WALKS = Number(option('walks') ?? 40);
const FORKS_PER_SCENARIO = 2;
const FORKS = 16;

const file = new URL('./mutant-worker.mts', import.meta.url);
const names = mutantsOf(actionTable)
  .map((mutant) => mutant.name)
  .filter((name) => name.includes(only));
const forks = new Map<string, Fork[]>(names.map((name) => [name, []]));

await inWorkers<MutantTask, MutantAnswer>(
  file,
  2,
  scenarioNames.map((find) => ({ find, walks: WALKS, perMutant: FORKS_PER_SCENARIO })),
  (answer) => {
    if (!('forks' in answer)) return;
    for (const [name, worlds] of Object.entries(answer.forks))
      forks.get(name)?.push(...worlds.map((world) => ({ scenario: answer.scenario, world })));
  },
);

/** The first of each scenario, then the second of each: other scenarios are other questions. */
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

const found: string[] = [];
const survivors: string[] = [];
const unmet = names.filter((name) => forks.get(name)!.length === 0);

await inWorkers<MutantTask, MutantAnswer>(
  file,
  2,
  names
    .filter((name) => forks.get(name)!.length > 0)
    .map((mutant) => ({ mutant, forks: mixed(forks.get(mutant)!), maxStates })),
  (answer) => {
    if (!('mutant' in answer)) return;
    const { mutant, found: what, scenario } = answer;
    (what ? found : survivors).push(mutant);
    console.log(what ? `found     ${mutant}: ${what.split('; ')[0]} (${scenario})` : `SURVIVES  ${mutant}`);
  },
);

for (const name of unmet) console.log(`NO EFFECT ${name}: decides as plan() does wherever the search came`);
console.log(
  `\n${found.length} of ${names.length} mutants found; ${survivors.length} survive, ${unmet.length} never decide otherwise`,
);
if (found.length < names.length) process.exitCode = 1;
