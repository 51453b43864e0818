// Builds the agent's image, and writes it into an archive, with any available builder.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const agent = join(import.meta.dirname, '../../agent');
const { version } = JSON.parse(readFileSync(join(agent, 'package.json'), 'utf8'));

/** The image of this release. */
export const releaseImage = `ghcr.io/cdk8s-etcd/agent:${version}`;

// Each builder uses existing base images. A docker or podman without a daemon is skipped.
const builders = [
  {
    name: 'docker',
    probe: ['info'],
    build: ['build'],
    save: (image, archive) => ['save', '--output', archive, image],
  },
  {
    name: 'podman',
    probe: ['info'],
    build: ['build', '--pull=missing'],
    save: (image, archive) => ['save', '--format', 'docker-archive', '--output', archive, image],
  },
  {
    name: 'buildah',
    probe: ['--version'],
    build: ['build', '--pull=missing'],
    save: (image, archive) => ['push', '--quiet', image, `oci-archive:${archive}:${image}`],
    // Works without user namespaces, as in a container.
    env: { BUILDAH_ISOLATION: 'chroot' },
  },
];

/** The first builder that works here, or undefined. */
export function findBuilder() {
  const builder = builders.find(({ name, probe }) => spawnSync(name, probe, { stdio: 'ignore' }).status === 0);
  if (!builder) console.error('the image needs docker, podman or buildah; install one of them and run this again');
  return builder;
}

/** Builds the image from the bundle in agent/lib; `buildArgs` are like `NODE_IMAGE=…`. Returns the exit code. */
export function buildImage(builder, image, buildArgs = []) {
  return buildFrom(agent, builder, image, buildArgs);
}

/** Builds the image of the Dockerfile in a directory. Returns the exit code. */
export function buildFrom(directory, builder, image, buildArgs = []) {
  console.error(`building ${image} with ${builder.name}`);
  const args = buildArgs.flatMap((argument) => ['--build-arg', argument]);
  return run(builder, [...builder.build, '--tag', image, ...args, directory]);
}

/** Writes an archive that container runtimes import under the image's name. Returns the exit code. */
export function saveImage(builder, image, archive) {
  return run(builder, builder.save(image, archive));
}

function run({ name, env }, args) {
  // Both kinds of output are for people: stdout belongs to the caller.
  const stdio = ['ignore', process.stderr, process.stderr];
  return spawnSync(name, args, { stdio, env: { ...env, ...process.env } }).status ?? 1;
}
