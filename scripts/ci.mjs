// `npm run ci`: the README's test command, then the slower suites. Counts tests; its last line is `N passed, N failed`.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const root = join(import.meta.dirname, '..');
const kubernetes = Boolean(process.env.KUBECONFIG);
const steps = [
  ['test'],
  ['check'],
  ['quickstart'],
  ['test:node20'],
  ['lint:manifests'],
  ['bench:synth', '--', '--smoke'],
  ['model-check', '--', '--smoke'],
  ['test:retention'],
  ['test:etcd'],
  ['test:faults'],
  ['test:mutations'],
  ['test:backup', '--', '--smoke'],
  ['test:members', '--', '--smoke'],
  ['test:control-plane', '--', '--smoke', 'agent/test/control-plane'],
  ['test:memory', '--', '--smoke'],
  ['bench:backup', '--', '--smoke'],
  ['bench:restore', '--', '--smoke'],
  ['bench:lifecycle', '--', '--smoke'],
  ...(kubernetes
    ? [
        ['test:apply'],
        ['test:e2e', '--', '--smoke'],
        // The last one, as it destroys the control plane and restores it.
        ['test:control-plane', '--', '--smoke', 'test/control-plane'],
      ]
    : []),
];

/** Runs an npm script and returns how many tests passed and failed; a script without tests counts as one. */
async function run(args) {
  console.log(`\n=== npm run ${args.join(' ')}`);
  const started = performance.now();
  const child = spawn('npm', ['run', '-s', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    from.on('data', (chunk) => {
      output += chunk;
      to.write(chunk);
    });
  }
  const code = await new Promise((resolve) => child.on('close', resolve));
  const summary = stripVTControlCharacters(output).match(/^Tests: .*$/m)?.[0] ?? '';
  const count = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(summary)?.[1] ?? 0);
  const result = { passed: count('passed'), failed: count('failed') };
  if (code !== 0 && result.failed === 0) result.failed = 1;
  if (code === 0 && !summary) result.passed = 1;
  console.log(
    `=== ${args[0]}: ${result.passed} passed, ${result.failed} failed, ${Math.round((performance.now() - started) / 1000)} s`,
  );
  return result;
}

const total = { passed: 0, failed: process.env.EXPECT_KUBERNETES ? 1 : 0 };
for (const step of steps) {
  const { passed, failed } = await run(step);
  total.passed += passed;
  total.failed += failed;
}
if (!kubernetes)
  console.log(
    'left out: test:apply, test:e2e and the control plane of a real kubeadm, as KUBECONFIG names no Kubernetes',
  );
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
