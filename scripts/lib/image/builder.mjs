// Builds the agent's images, and writes them into archives, with any available builder.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { commitSeconds, ownBuildArgs } from './labels.mjs';

const agent = join(import.meta.dirname, '../../../agent');

/** Platform of this machine. */
const buildPlatform = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;

/** The commands of podman and buildah that build for several platforms and write the result as an OCI layout. */
function byManifest({ image, layout, platforms, args, directory, time }) {
  // A list of this name that is there would be continued.
  const list = `localhost/cdk8s-etcd-release-${randomBytes(6).toString('hex')}`;
  // buildah 1.28 leaves it empty, and then runs programs of the other architecture.
  const own = ['--build-arg', `BUILDPLATFORM=${buildPlatform}`];
  return [
    // One after the other, because the order of the list is that in which they end.
    ...platforms.map((platform) => [
      ...['build', '--pull=missing', `--platform=${platform}`, ...own, ...args],
      ...[`--timestamp=${time}`, `--manifest=${list}`, directory],
    ]),
    ['manifest', 'push', '--all', list, `oci:${layout}:${image}`],
    ['manifest', 'rm', list],
  ];
}

// Each builder uses existing base images. A docker or podman without a daemon is skipped. With one time for
// all files, the images that are built from one Dockerfile share their layers.
const builders = [
  {
    name: 'docker',
    probe: ['info'],
    layoutProbe: ['buildx', 'version'],
    build: ['build'],
    timed: (seconds) => ['--build-arg', `SOURCE_DATE_EPOCH=${seconds}`],
    save: (image, archive) => ['save', '--output', archive, image],
    layout({ image, layout, platforms, args, directory }) {
      const output = `--output=type=oci,tar=false,rewrite-timestamp=true,dest=${layout}`;
      // Its own attestations contain the time.
      return [
        [
          'buildx',
          'build',
          `--platform=${platforms.join(',')}`,
          ...args,
          '--provenance=false',
          '--tag',
          image,
          output,
          directory,
        ],
      ];
    },
  },
  {
    name: 'podman',
    probe: ['info'],
    build: ['build', '--pull=missing'],
    timed: (seconds) => ['--layers', `--timestamp=${seconds}`],
    save: (image, archive) => ['save', '--format', 'docker-archive', '--output', archive, image],
    layout: byManifest,
  },
  {
    name: 'buildah',
    probe: ['--version'],
    build: ['build', '--pull=missing'],
    timed: (seconds) => ['--layers', `--timestamp=${seconds}`],
    save: (image, archive) => ['push', '--quiet', image, `oci-archive:${archive}:${image}`],
    layout: byManifest,
    // Works without user namespaces, as in a container.
    env: { BUILDAH_ISOLATION: 'chroot' },
  },
];

/** The first builder that works here, or undefined. `forLayouts` also asks for what `buildLayout` needs. */
export function findBuilder(forLayouts = false) {
  const works = (name, args) => spawnSync(name, args, { stdio: 'ignore' }).status === 0;
  const builder = builders.find(
    ({ name, probe, layoutProbe }) => works(name, probe) && (!forLayouts || !layoutProbe || works(name, layoutProbe)),
  );
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

/**
 * Builds an image of the Dockerfile in a directory for each platform into an empty one, an OCI layout without any time but
 * `time`. Returns the exit code.
 */
export function buildLayout(builder, { name, target }, directory, layout, { platforms, time, buildArgs = [] }) {
  console.error(`building ${name} for ${platforms.join(' and ')} with ${builder.name}`);
  const args = [
    `--target=${target}`,
    ...[...ownBuildArgs(), ...buildArgs].flatMap((argument) => ['--build-arg', argument]),
  ];
  const commands = builder.layout({ image: name, layout, platforms, args, directory, time });
  return commands.reduce((code, words) => code || run(builder, words, { SOURCE_DATE_EPOCH: String(time) }), 0);
}

function run({ name, env }, args, more = {}) {
  // Both kinds of output are for people: stdout belongs to the caller.
  const stdio = ['ignore', process.stderr, process.stderr];
  return spawnSync(name, args, { stdio, env: { ...env, ...process.env, ...more } }).status ?? 1;
}
