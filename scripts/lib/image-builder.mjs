// Builds the agent's images, and writes them into archives, with any available builder.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { commitSeconds, ownBuildArgs } from './image-labels.mjs';

const agent = join(import.meta.dirname, '../../agent');

// Each builder uses existing base images. A docker or podman without a daemon is skipped. With one time for
// all files, the images that are built from one Dockerfile share their layers.
const builders = [
  {
    name: 'docker',
    probe: ['info'],
    build: ['build'],
    timed: (seconds) => ['--build-arg', `SOURCE_DATE_EPOCH=${seconds}`],
    save: (image, archive) => ['save', '--output', archive, image],
  },
  {
    name: 'podman',
    probe: ['info'],
    build: ['build', '--pull=missing'],
    timed: (seconds) => ['--layers', `--timestamp=${seconds}`],
    save: (image, archive) => ['save', '--format', 'docker-archive', '--output', archive, image],
  },
  {
    name: 'buildah',
    probe: ['--version'],
    build: ['build', '--pull=missing'],
    timed: (seconds) => ['--layers', `--timestamp=${seconds}`],
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

/**
 * Builds an image from the bundle in agent/lib. `target` is a stage of the Dockerfile: `agent`, or `member`, which has an
 * etcd of each minor besides. `buildArgs` are like `NODE_IMAGE=…`. Returns the exit code.
 */
export function buildImage(builder, { name, target }, buildArgs = []) {
  const options = [`--target=${target}`, ...builder.timed(commitSeconds())];
  return buildFrom(agent, builder, name, [...ownBuildArgs(), ...buildArgs], options);
}

/** Builds the image of the Dockerfile in a directory. Returns the exit code. */
export function buildFrom(directory, builder, image, buildArgs = [], options = []) {
  console.error(`building ${image} with ${builder.name}`);
  const args = buildArgs.flatMap((argument) => ['--build-arg', argument]);
  return run(builder, [...builder.build, ...options, '--tag', image, ...args, directory]);
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
