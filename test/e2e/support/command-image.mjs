// Builds the example of a command store and runs the agent in it, with whichever builder is there: prints the exit code
// and the output of each of the command lines given as JSON. Packages are left out, so nothing is downloaded.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findBuilder } from '../../../scripts/lib/image/builder.mjs';

const [agentImage, ...runs] = process.argv.slice(2);
const image = 'localhost/cdk8s-etcd-command-store:e2e';
const builder = findBuilder();
if (!builder) process.exit(2);
const env = { ...builder.env, ...process.env };

function run(...args) {
  const { status, stdout, stderr } = spawnSync(builder.name, args, { env, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

function succeed(...args) {
  const result = run(...args);
  if (result.code !== 0) throw new Error(`${builder.name} ${args.join(' ')}: ${result.stderr}`);
  return result.stdout.trim();
}

/** buildah runs a command in a container, and knows nothing of entry points. */
function inImage(args) {
  if (builder.name !== 'buildah') return run('run', '--rm', image, ...args);
  const container = succeed('from', '--pull=never', image);
  try {
    const { OCIv1 } = JSON.parse(succeed('inspect', container));
    return run('run', '--user', OCIv1.config.User, container, '--', ...OCIv1.config.Entrypoint, ...args);
  } finally {
    succeed('rm', container);
  }
}

const context = join(import.meta.dirname, '../../../examples/command-store');
const buildArgs = ['--build-arg', `AGENT_IMAGE=${agentImage}`, '--build-arg', 'PACKAGES='];
succeed(...builder.build, '--tag', image, ...buildArgs, context);
console.log(JSON.stringify(runs.map((args) => inImage(JSON.parse(args)))));
