// `npm run bench -- synth`: the cost of a synth per cluster, for few and for many clusters.
// docs/contributing/benchmarks.md explains it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkGoals } from './goals.mts';

/** Milliseconds per cluster, and the CPU time among them. */
interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

interface Case {
  readonly way: 'ours' | 'plain';
  readonly clusters: number;
  readonly charts: number;
}

const { values } = parseArgs({ options: { rounds: { type: 'string' }, smoke: { type: 'boolean', default: false } } });
const rounds = Number(values.rounds ?? (values.smoke ? 1 : 5));
const [few, many] = values.smoke ? [10, 50] : [100, 1_000];
// Of cdk8s itself the time for each chart grows with the number of charts, hence a chart for 50 clusters, and one row without.
const sizes = [
  { clusters: 1, charts: 1 },
  { clusters: few, charts: Math.ceil(few / 50) },
  { clusters: many, charts: Math.ceil(many / 50) },
  { clusters: few, charts: few },
];
const cases = sizes.flatMap((size): Case[] => [
  { way: 'ours', ...size },
  { way: 'plain', ...size },
]);

function measure({ way, clusters, charts }: Case): Cost {
  const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-synth-'));
  try {
    const args = [join(import.meta.dirname, 'synth-app.mts'), way, String(clusters), String(charts), directory];
    const { wall, cpu } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
    return { wall: wall / clusters, cpu: cpu / clusters };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const costs = cases.map((): Cost[] => []);
for (let round = 0; round < rounds; round++) {
  for (const [index, each] of cases.entries()) costs[index]!.push(measure(each));
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
const show = (numbers: readonly number[]) =>
  `${median(numbers).toFixed(1)} (${Math.min(...numbers).toFixed(1)}–${Math.max(...numbers).toFixed(1)})`;

console.log(`Milliseconds per cluster, median (least–most) of ${rounds}\n`);
console.log(
  '| clusters | charts | wall | CPU | CPU ÷ the same objects by cdk8s alone |\n| --- | --- | --- | --- | --- |',
);
for (const [index, { clusters, charts }] of sizes.entries()) {
  const [ours, plain] = [costs[2 * index]!, costs[2 * index + 1]!];
  const wall = show(ours.map((cost) => cost.wall));
  const cpu = show(ours.map((cost) => cost.cpu));
  const ratio = show(ours.map((cost, round) => cost.cpu / plain[round]!.cpu));
  console.log(`| ${clusters} | ${charts} | ${wall} | ${cpu} | ${ratio} |`);
}
console.log();
if (!values.smoke) {
  const [fewCosts, manyCosts] = [costs[2]!, costs[4]!];
  // By CPU time: other work of the machine does not count, and a synth waits for nothing.
  checkGoals([
    { what: `CPU per cluster of ${few} in ms`, value: median(fewCosts.map(({ cpu }) => cpu)), limit: 10 },
    { what: `CPU per cluster of ${many} in ms`, value: median(manyCosts.map(({ cpu }) => cpu)), limit: 10 },
    {
      what: `CPU per cluster, ${many} ÷ ${few}`,
      value: median(manyCosts.map(({ cpu }, round) => cpu / fewCosts[round]!.cpu)),
      limit: 1.2,
    },
  ]);
}
