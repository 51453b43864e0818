// The building blocks of the commands. Each step inherits the terminal, and a failed step ends the command with its
// exit code.
import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** Runs a program in the root of the repository. Returns its exit code. */
export function status(program, args, env = {}) {
  return spawnSync(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status ?? 1;
}

/** Runs a script or a module of this repository. Returns its exit code. */
export const node = (file, args = [], env = {}) =>
  status(process.execPath, [...nodeFlags, join(root, file), ...args], env);

const nodeFlags = [
  '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
  `--import=${join(import.meta.dirname, '../suites/wrong-command-line.mjs')}`,
];

/** Ends this process if a step did not end with 0. */
export function must(code) {
  if (code !== 0) process.exit(code);
}

/** Throws if a step did not end with 0, for callers that have to clean up. */
export function orThrow(code) {
  if (code !== 0) throw new Error(`a program of this step ended with ${code}; the lines above say why`);
}

/** Compiles the library into lib/, or another directory. */
export function build(directory = join(root, 'lib'), check = must) {
  // A module whose source is gone would still resolve here, and nowhere else.
  rmSync(join(directory, 'src'), { recursive: true, force: true });
  check(status('tsc', ['-p', 'tsconfig.build.json', '--outDir', directory]));
  check(node('scripts/lib/resource-bundle.mjs', [directory]));
  // `npm link` of a checkout runs it as it is.
  chmodSync(join(directory, 'src/cli.js'), 0o755);
}

/** Bundles the agent into agent/lib/, or another directory. */
export const bundle = (directory = join(root, 'agent/lib'), check = must) =>
  check(node('agent/build.mjs', [directory]));

/** Bundles kubectl-etcd into lib/, or another directory. */
export const plugin = (directory = join(root, 'lib'), check = must) =>
  check(node('agent/build-plugin.mjs', [join(directory, 'kubectl-etcd')]));

/** Puts programs for the tests into the cache: `etcd`, `versitygw`, `age`, `radosgw`, `sshd`, `go-client`, `python`. */
export function provide(name, ...args) {
  const install = () => node(`scripts/provide/${name}.mjs`, args);
  // A registry may fail for a moment.
  if (install() !== 0) must(install());
}

/** The servers that most suites start. */
export function servers() {
  for (const name of ['etcd', 'versitygw', 'age']) provide(name);
}

/** Seed of random searches in tests, so that the same tree draws the same inputs. Without git it is 1. */
function treeSeed() {
  const git = spawnSync('git', ['rev-parse', '--short=7', 'HEAD^{tree}'], { cwd: root, encoding: 'utf8' });
  return git.status === 0 ? `${Number.parseInt(git.stdout, 16)}` : '1';
}

/** Runs the tests whose paths contain one of the words. Returns the exit code. TREE_SEED repeats what another tree has drawn. */
export const tests = (args, env = {}) =>
  status('vitest', ['run', ...args], { TREE_SEED: process.env.TREE_SEED || treeSeed(), ...env });

/** Runs suites (`*.suite.ts`) on this machine; `smoke`, or SMOKE=1, runs a shorter form, for CI. Returns the exit code. */
export const suites = (paths, { smoke = process.env.SMOKE === '1', workers = undefined, env = {} } = {}) =>
  tests([...(workers ? [`--maxWorkers=${workers}`] : []), ...paths], {
    ...env,
    SUITES: '1',
    SMOKE: smoke ? '1' : '',
  });
