// `npm run ci`: the README's test command, then the slower suites. Counts tests; its last line is `N passed, N failed`.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { image } from './lib/test-kubernetes.mjs';

const root = join(import.meta.dirname, '..');
const kubernetes = Boolean(process.env.KUBECONFIG);
/** Minutes that CI takes at most on a quiet machine. A step that would end later is left out, and that is printed. */
const BUDGET = 60;

/**
 * The steps in order of value, each with the minutes that it takes on a quiet machine of two cores. The first two always
 * run. The control plane comes last, because it is destroyed and restored.
 */
const steps = [
  [3, 'test'],
  [2, 'check'],
  [3, 'model-check', '--', '--smoke'],
  [2, 'test:etcd'],
  [6, 'test:members', '--', '--smoke'],
  [8, 'test:backup', '--', '--smoke'],
  [4, 'test:faults', '--', '--smoke'],
  [4, 'test:control-plane', '--', '--smoke', 'agent/test/control-plane'],
  [2, 'quickstart'],
  ...(kubernetes
    ? [
        [4, 'test:apply'],
        [11, 'test:e2e', '--', '--smoke'],
        [3, 'test:operations', '--', '--smoke'],
        [4, 'test:chaos', '--', '--smoke'],
      ]
    : []),
  [1, 'test:retention', '--', '--smoke'],
  [2, 'test:memory', '--', '--smoke'],
  [1, 'test:node20'],
  [1, 'lint:manifests'],
  [1, 'bench:synth', '--', '--smoke'],
  [1, 'bench:reconciler', '--', '--smoke'],
  [2, 'bench:lifecycle', '--', '--smoke'],
  [1, 'bench:catalog', '--', '--smoke'],
  [1, 'bench:backup', '--', '--smoke'],
  [1, 'bench:restore', '--', '--smoke'],
  [3, 'test:mutations'],
  ...(kubernetes ? [[5, 'test:control-plane', '--', '--smoke', 'test/control-plane']] : []),
];

/** Suites that passed the second time. */
const flaky = [];

const started = Number(process.env.CI_STARTED || Date.now() / 1000);
const minutes = () => (Date.now() / 1000 - started) / 60;

/** Runs an npm script and returns how many tests passed and failed, and what it said; a script without tests counts as one. */
async function run(args, env = {}) {
  console.log(`\n=== npm run ${args.join(' ')}`);
  const from = minutes();
  const options = { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } };
  const child = spawn('npm', ['run', '-s', ...args], options);
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
  const output = stripVTControlCharacters(printed);
  const summary = output.match(/^Tests: .*$/m)?.[0] ?? '';
  const count = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(summary)?.[1] ?? 0);
  const result = { passed: count('passed'), failed: count('failed'), output };
  if (code !== 0 && result.failed === 0) result.failed = 1;
  if (code === 0 && !summary) result.passed = 1;
  console.log(
    `=== ${args[0]}: ${result.passed} passed, ${result.failed} failed, ${Math.round((minutes() - from) * 60)} s`,
  );
  return result;
}

/**
 * What plays with time limits on real servers fails now and then for want of CPU. Such a suite runs once more by itself, and
 * is told as flaky when it passes then; never one that lost a write or read a wrong one.
 */
async function again(step, first) {
  const failures = first.output.matchAll(/^FAIL \w+ (\S+\.suite\.ts)/gm);
  const suites = [...new Set(Array.from(failures, ([, path]) => path))];
  const untrue =
    /\b(AcknowledgedWritesKept|OneClusterIdPerEpoch|OneVolumePerMember|RevisionsRise|VotersAgree): |the watcher saw|fits no order of/.test(
      first.output,
    );
  const isLocal = suites.every((path) => path.startsWith('agent/'));
  const isRepeatable = isLocal || ['test:e2e', 'test:operations'].includes(step[0]);
  if (suites.length === 0 || suites.length > 3 || untrue || !isRepeatable || minutes() > BUDGET) return first;
  const script = isLocal ? ['suite', '--'] : step;
  const second = await run([...script, ...suites], { SMOKE: step.includes('--smoke') ? '1' : '' });
  if (second.failed > 0) return first;
  flaky.push(...suites);
  return { passed: first.passed + first.failed, failed: 0 };
}

const total = { passed: 0, failed: process.env.EXPECT_KUBERNETES ? 1 : 0 };
const leftOut = [];
for (const [estimate, ...step] of steps) {
  if (minutes() + estimate > BUDGET && !['test', 'check'].includes(step[0])) {
    leftOut.push(step.join(' '));
    continue;
  }
  const first = await run(step);
  // It has put the image into the nodes.
  if (step[0] === 'test:e2e') process.env.AGENT_IMAGE ||= image;
  const { passed, failed } = first.failed > 0 ? await again(step, first) : first;
  total.passed += passed;
  total.failed += failed;
}
if (!kubernetes)
  console.log(
    'left out: test:apply, test:e2e, test:operations, test:chaos and the control plane of a real kubeadm, as KUBECONFIG names no Kubernetes',
  );
for (const step of leftOut) console.log(`left out, as the ${BUDGET} minutes do not suffice: npm run ${step}`);
for (const path of flaky) console.log(`flaky: ${path} failed, and passed when it ran again`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
