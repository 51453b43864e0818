// `npm run ci`: `npm test` and `npm run check`, then as many suites and benchmarks as fit into the budget. Counts tests; its last
// line is `N passed, N failed`.
import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { order } from '../lib/ci-order.mjs';
import { optionsOf } from '../lib/named.mjs';
import { root } from '../lib/steps.mjs';
import { endTestBed, startTestBed } from '../lib/test-bed.mjs';
import { image } from '../lib/test-kubernetes.mjs';
import { all, benches } from '../suites/suites.mjs';

const { plan } = optionsOf('ci', { plan: { type: 'boolean' } });

const testBed = process.env.KUBECONFIG ? undefined : process.env.TESTBED;
const kubernetes = Boolean(process.env.KUBECONFIG || testBed);
/**
 * In minutes on a quiet machine. The estimates alone choose the steps, so that the same commit runs the same ones. A whole run took
 * 64 minutes for estimates of 60, so these make it end within 60.
 */
const BUDGET = Number(process.env.CI_BUDGET || 56);
/** Estimate of the start of the test bed. */
const TEST_BED = 6;
/** Minutes after which a slow machine begins no step that it cannot end in time. */
const LATEST = 80;
/** Minutes after which a step that still runs is ended and counts as failed, so that the result is always printed. */
const END = 88;

const started = Number(process.env.CI_STARTED || Date.now() / 1000);
const minutes = () => (Date.now() / 1000 - started) / 60;

const possible = Object.entries(all).filter(([, suite]) => suite.ci !== false && (kubernetes || !suite.kubernetes));
const tooLong = Object.entries(all).filter(([, suite]) => suite.ci === false);
const impossible = Object.entries(all).filter(([, suite]) => suite.kubernetes && !kubernetes);

/** Each with its minutes, its subject and the words that follow `npm run`. */
const optional = [
  ...possible.map(([name, { minutes: estimate, subject, smoke, kubernetes: onKubernetes = false }]) => ({
    name,
    estimate,
    subject,
    onKubernetes,
    args: ['suite', '--', name, ...(smoke === false ? [] : ['--smoke']), ...localPart(name)],
  })),
  ...Object.entries(benches).map(([name, { minutes: estimate, subject }]) => ({
    name: `bench ${name}`,
    estimate,
    subject,
    args: ['bench', '--', name, '--smoke'],
  })),
];
const steps = [
  { name: 'test', estimate: 3, args: ['test'], always: true },
  { name: 'check', estimate: 3, args: ['check'], always: true },
  ...order(optional),
  { name: 'quickstart', estimate: 2, args: ['quickstart'] },
  // Last, because it destroys the control plane and restores it.
  ...(kubernetes
    ? [
        {
          name: 'control-plane on kubeadm',
          estimate: 5,
          onKubernetes: true,
          args: ['suite', '--', 'control-plane', '--smoke', 'test/control-plane'],
        },
      ]
    : []),
];

/** The half of `control-plane` that needs no Kubernetes; the other half is a step of its own. */
function localPart(name) {
  return name === 'control-plane' ? ['agent/src/control-plane', 'agent/test/control-plane'] : [];
}

/** Returns the names of the tests that failed, or the last lines of what failed without a test. */
function reasons(output) {
  const tests = new Set(output.match(/^ FAIL .+$/gm));
  return tests.size > 0 ? [...tests].slice(0, 20) : output.trimEnd().split('\n').slice(-15);
}

/** Suites that passed the second time. */
const flaky = [];

/** Runs an npm script. Returns how many tests passed and failed, and what it printed; a script without tests counts as one. */
async function run(args, env = {}) {
  console.log(`\n=== npm run ${args.join(' ')}`);
  const from = minutes();
  // A group of its own, so that a step ends with all its processes.
  // Colors change the lines that are read here.
  const plain = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...env };
  const options = { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: plain, detached: true };
  const child = spawn('npm', ['run', '-s', ...args], options);
  const end = () => process.kill(-child.pid, 'SIGKILL');
  const timer = setTimeout(
    () => {
      console.log(`=== still running after ${END} minutes: ended`);
      end();
    },
    Math.max(0, END - from) * 60_000,
  );
  const stop = () => {
    end();
    process.exit(1);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  let printed = '';
  for (const [stream, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    stream.on('data', (chunk) => {
      printed += chunk;
      to.write(chunk);
    });
  }
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearTimeout(timer);
  process.off('SIGINT', stop).off('SIGTERM', stop);
  const output = stripVTControlCharacters(printed);
  const summaries = [...output.matchAll(/^ +Tests .*$/gm)].map(([line]) => line);
  const count = (word) =>
    summaries.reduce((sum, line) => sum + Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0), 0);
  const result = { passed: count('passed'), failed: count('failed'), output };
  if (code !== 0 && result.failed === 0) result.failed = 1;
  if (code === 0 && summaries.length === 0) result.passed = 1;
  const seconds = Math.round((minutes() - from) * 60);
  console.log(
    `=== ${args.filter((word) => word !== '--').join(' ')}: ${result.passed} passed, ${result.failed} failed, ${seconds} s`,
  );
  return result;
}

/**
 * A suite that measures time limits on real servers occasionally fails for lack of CPU. It runs once more alone, and is
 * reported as flaky if it then passes. A suite that missed an acknowledged write, or read a wrong one, gets no second
 * run.
 */
async function again({ name, args, estimate }, first) {
  const failures = first.output.matchAll(/^ FAIL {2}\|\w+\| (\S+\.suite\.ts)/gm);
  const suites = [...new Set(Array.from(failures, ([, path]) => path))];
  const untrue =
    /\b(AcknowledgedWritesKept|OneClusterIdPerEpoch|OneVolumePerMember|RevisionsRise|VotersAgree): |the watcher saw|fits no order of/.test(
      first.output,
    );
  const isLocal = suites.every((path) => path.startsWith('agent/'));
  const isRepeatable = isLocal || ['e2e', 'operations'].includes(name);
  if (suites.length === 0 || suites.length > 3 || untrue || !isRepeatable || minutes() + estimate > LATEST)
    return first;
  const smoke = args.includes('--smoke') ? ['--smoke'] : [];
  const second = await run(['suite', '--', ...(isLocal ? [] : [name]), ...suites, ...smoke]);
  if (second.failed > 0) return first;
  flaky.push(...suites);
  return { passed: first.passed + first.failed, failed: 0 };
}

const total = { passed: 0, failed: 0 };
const chosen = [];
let spent = 0;
for (const step of steps) {
  // The test bed starts before the first step that needs it.
  const start = testBed && step.onKubernetes && !chosen.some((each) => each.onKubernetes) ? TEST_BED : 0;
  if (!step.always && spent + start + step.estimate > BUDGET) continue;
  spent += start + step.estimate;
  chosen.push(step);
}
// What measures on this machine goes before the test bed, which never rests.
const inOrder = [...chosen.filter(({ onKubernetes }) => !onKubernetes), ...chosen.filter((step) => step.onKubernetes)];
if (plan) {
  for (const { args, estimate } of inOrder) console.log(`npm run ${args.join(' ')} (${estimate} min)`);
  process.exit(0);
}
const late = [];
/** What failed, for the end: the beginning of the output may be cut. */
const failures = [];
let running;
process.once('exit', () => running !== undefined && endTestBed(testBed));
for (const step of inOrder) {
  if (!step.always && minutes() + step.estimate > LATEST) {
    late.push(step);
    continue;
  }
  if (testBed && step.onKubernetes) {
    running ??= startTestBed(testBed, END - minutes());
    if (!running) {
      total.failed++;
      failures.push(`the test bed did not start: npm run ${step.args.join(' ')} was left out`);
      continue;
    }
  }
  const first = await run(step.args);
  // It has loaded the image into the nodes.
  if (step.name === 'e2e') process.env.AGENT_IMAGE ||= image;
  const { passed, failed } = first.failed > 0 ? await again(step, first) : first;
  total.passed += passed;
  total.failed += failed;
  if (failed > 0) failures.push(`failed: npm run ${step.args.join(' ')}`, ...reasons(first.output));
}
for (const [name] of impossible)
  console.log(`left out, because KUBECONFIG names no Kubernetes: npm run suite -- ${name}`);
if (!kubernetes)
  console.log('left out, because KUBECONFIG names no Kubernetes: npm run suite -- control-plane test/control-plane');
for (const [name] of tooLong) console.log(`left out, because CI never runs it: npm run suite -- ${name}`);
for (const step of steps.filter((each) => !chosen.includes(each)))
  console.log(`left out, because it does not fit into ${BUDGET} minutes: npm run ${step.args.join(' ')}`);
for (const { args } of late)
  console.log(`left out, because this machine is slow and ${LATEST} minutes are over: npm run ${args.join(' ')}`);
for (const line of failures) console.log(line);
for (const path of flaky) console.log(`flaky: ${path} failed, and passed when it ran again`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
