// `npm run test:e2e -- [--smoke]`: the agent's image on the Kubernetes that KUBECONFIG names. docs/testing.md has the settings.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildImage, findBuilder, saveImage } from './lib/image-builder.mjs';

const root = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false } },
});

function give(line) {
  console.error(`test:e2e: ${line}`);
  process.exit(2);
}

function kubectl(...args) {
  const { error, status, stdout, stderr } = spawnSync('kubectl', args, { encoding: 'utf8' });
  if (error) give('needs kubectl on the PATH');
  if (status !== 0) give(`kubectl ${args.join(' ')}: ${stderr.trim().split('\n').at(-1)}`);
  return stdout.trim();
}

/** The command that brings an archive, its last argument, into every node. */
function loader(context) {
  if (process.env.IMAGE_LOADER) return process.env.IMAGE_LOADER;
  if (context.startsWith('kind-')) return `kind load image-archive --name ${context.slice('kind-'.length)}`;
  return give(
    `set IMAGE_LOADER to a command that loads an image archive into the nodes of ${context}, or AGENT_IMAGE to an image that they can pull`,
  );
}

/** Bundles the agent, builds its image and brings that into the nodes. Returns the image's name. */
function provideImage(load) {
  const image = 'ghcr.io/cdk8s-etcd/agent:e2e';
  const builder = findBuilder();
  if (!builder) process.exit(2);
  const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-image-'));
  try {
    const archive = join(directory, 'agent.tar');
    const bundled = spawnSync(process.execPath, [join(root, 'agent/build.mjs')], { stdio: ['ignore', 2, 2] });
    if (bundled.status !== 0) give('the agent could not be bundled');
    if (buildImage(builder, image) !== 0) give('the image could not be built');
    if (saveImage(builder, image, archive) !== 0) give('the image could not be saved');
    const loaded = spawnSync('sh', ['-c', `${load} "$1"`, 'sh', archive], { stdio: ['ignore', 2, 2] });
    if (loaded.status !== 0) give(`'${load}' could not load the image`);
  } finally {
    rmSync(directory, { recursive: true });
  }
  return image;
}

if (!process.env.KUBECONFIG) give('set KUBECONFIG to the file of a Kubernetes that may be used for tests');
const context = kubectl('config', 'current-context');
kubectl('get', '--raw', '/readyz', '--request-timeout=20s');
const image = process.env.AGENT_IMAGE || provideImage(loader(context));

const jest = join(root, 'node_modules/jest/bin/jest.js');
const suites = positionals.length > 0 ? positionals : ['test/e2e'];
const { status } = spawnSync(process.execPath, [jest, '-c', 'jest.suites.config.mjs', '--runInBand', ...suites], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, AGENT_IMAGE: image, E2E_SMOKE: values.smoke ? '1' : '' },
});
process.exitCode = status ?? 1;
