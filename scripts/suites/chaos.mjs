// `npm run suite -- chaos [--minutes N] [--seed N] [--smoke] [--plan] [--only 3,7] [--from 3] [--without-nodes]
// [--without-alerts] [--report FILE]`: faults drawn by a seed, one after the other, on the Kubernetes that KUBECONFIG names.
// docs/contributing/chaos.md describes it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { provideMonitoring } from '../lib/monitoring-stack.mjs';
import { TestKubernetes } from '../lib/test-kubernetes.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    plan: { type: 'boolean', default: false },
    only: { type: 'string' },
    from: { type: 'string' },
    report: { type: 'string' },
    'without-nodes': { type: 'boolean', default: false },
    'without-alerts': { type: 'boolean', default: false },
  },
});
const { smoke } = values;
const seed = whole('seed', smoke ? 2 : Math.floor(Math.random() * 1_000_000));
const minutes = whole('minutes', smoke ? 3 : 60);
const nodes = Boolean(process.env.NODE_DRIVER) && !values['without-nodes'] && !smoke;
const alerts = !values['without-alerts'] && !smoke;
const again = [
  `npm run suite -- chaos --seed ${seed} --minutes ${minutes}`,
  ...(smoke ? ['--smoke'] : nodes ? [] : ['--without-nodes']),
  ...(smoke || alerts ? [] : ['--without-alerts']),
  ...['only', 'from'].filter((name) => values[name]).map((name) => `--${name} ${values[name]}`),
].join(' ');

const { plan, possibleKinds } = await bundled('plan');
const steps = plan(seed, { minutes, nodes, smoke });
const numbers = chosen();
printPlan();
if (!values.plan) await run();

function whole(name, otherwise) {
  const value = values[name] ?? String(otherwise);
  if (/^\d{1,9}$/.test(value)) return Number(value);
  return give(`--${name} is '${value}', and must be a whole number`);
}

function give(line) {
  console.error(`chaos: ${line}`);
  process.exit(2);
}

/** Without the actions of the faults, which need a Kubernetes. */
async function bundled(name) {
  const entryPoints = [join(import.meta.dirname, `../../test/chaos/${name}.ts`)];
  const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format: 'esm', platform: 'node' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** The numbers of the steps that are run. */
function chosen() {
  const all = steps.map(({ number }) => number);
  const from = whole('from', 1);
  const only = values.only?.split(',').map(Number) ?? all;
  const unknown = only.filter((number) => !all.includes(number));
  if (unknown.length > 0) give(`--only: the plan has no ${unknown.join(', ')}; it ends with ${all.length}`);
  return only.filter((number) => number >= from);
}

function printPlan() {
  const possible = possibleKinds({ nodes, smoke });
  const others = possibleKinds({ nodes: true }).filter((kind) => !possible.includes(kind));
  const leftOut = others.length > 0 ? `; left out: ${others.map(({ name }) => name).join(', ')}` : '';
  console.log(`seed ${seed}, ${minutes} minutes, ${steps.length} faults${leftOut}`);
  for (const { number, pause, what } of steps) {
    const line = `${String(number).padStart(3)}  after ${String(pause).padStart(2)} s  ${what}`;
    if (numbers.includes(number)) console.log(line);
  }
}

async function run() {
  const kubernetes = new TestKubernetes('chaos');
  const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-chaos-'));
  const report = join(directory, 'report.json');
  try {
    const CHAOS = JSON.stringify({ seed, minutes, nodes, alerts, smoke, numbers, report });
    const env = {
      AGENT_IMAGE: kubernetes.provideImage(),
      ...(alerts && { MONITORING_IMAGE: await provideMonitoring(kubernetes) }),
      CHAOS,
    };
    process.exitCode = kubernetes.suites(['test/chaos/'], env);
    const result = JSON.parse(readFileSync(report, 'utf8'));
    printReport(result.faults);
    await writePage(result);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    printReport([]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Writes a page beside package.json, which git ignores, unless --report names another file. */
async function writePage(result) {
  const { html } = await bundled('report/html');
  const file = resolve(values.report ?? join(import.meta.dirname, `../../chaos-${seed}.html`));
  writeFileSync(file, html(result));
  console.log(`report: ${file}`);
}

function printReport(rows) {
  const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;
  console.log('\n| fault | whole again after | longest write gap | elections |\n| --- | --- | --- | --- |');
  for (const { number, what, failed, from, to, longestGap, elections } of rows) {
    const facts = failed ? ['never', '', ''] : [seconds(to - from), seconds(longestGap), elections];
    console.log(`| ${number}: ${what} | ${facts.join(' | ')} |`);
  }
  const failures = rows.filter(({ failed }) => failed).length;
  const otherwise = process.exitCode !== 0 && failures === 0 ? ', but the run did' : '';
  console.log(`${rows.length} faults, ${failures} failed${otherwise}`);
  if (process.exitCode !== 0) console.log(`again: ${again}`);
}
