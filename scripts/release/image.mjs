// The agent's images for every architecture: archives of OCI layouts, which skopeo or crane push as they are.
import { copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { unpinnedBases, withBases } from '../lib/image/base-images.mjs';
import { buildLayout, findBuilder } from '../lib/image/builder.mjs';
import { releaseImages } from '../lib/image/labels.mjs';
import { bundle, orThrow, root } from '../lib/steps.mjs';
import { unpack, wrongIn } from './contents.mjs';
import { LeftOut } from './left-out.mjs';
import { pack } from './pack.mjs';

/** What nodes run on. */
export const allPlatforms = ['linux/amd64', 'linux/arm64'];

export async function image(release) {
  const { platforms, time } = release;
  const buildArgs = withBases(release.buildArgs);
  const builder = findBuilder(true);
  if (!builder) throw new LeftOut('no docker with buildx, podman or buildah works here');
  // The suites put programs of their own into agent/lib.
  const context = release.scratch('context');
  for (const name of ['Dockerfile', '.dockerignore']) copyFileSync(join(root, 'agent', name), join(context, name));
  bundle(join(context, 'lib'), orThrow);
  for (const each of releaseImages) {
    const { name } = each;
    const layout = release.scratch(layoutOf(name));
    if (buildLayout(builder, each, context, layout, { platforms, time, buildArgs }) !== 0)
      throw new Error(
        `${builder.name} could not build ${name} for ${platforms.join(' and ')}; its own lines say why. --without image makes the rest`,
      );
    const files = release.scratch(join('files', layoutOf(name)));
    release.contents.set(name, await checked(each, platforms, layout, files));
    release.digests.set(name, digestOf(layout));
    pack(layout, release.file(`${layoutOf(name)}.oci.tar`), time);
  }
  const absent = allPlatforms.filter((platform) => !platforms.includes(platform));
  const lacking = [
    ...(absent.length > 0 ? [`the images are not for ${absent.join(', ')}, by --platform`] : []),
    ...unpinnedBases(buildArgs),
  ];
  if (lacking.length > 0) throw new LeftOut(lacking.join('\n  '));
}

/** The files of an image for each platform. Throws if a platform is missing, or an image has programs of another one. */
async function checked({ name, target }, platforms, layout, into) {
  const parts = await unpack(layout, into, platforms);
  for (const part of parts) {
    const wrong = wrongIn(part, target);
    if (wrong.length > 0) throw new Error(`${name} for ${part.architecture}: ${wrong.join(', ')}`);
  }
  return parts;
}

/** Name of the archive of an image, such as `etcd-agent-0.1.0`. */
export const layoutOf = (name) => `etcd-${basename(name).replace(':', '-')}`;

/** Digest of the index, which lists an image for each platform. */
function digestOf(layout) {
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
  if (manifests.length !== 1) throw new Error(`${layout}: has ${manifests.length} images instead of one index`);
  return manifests[0].digest;
}
