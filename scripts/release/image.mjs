// The agent's image for every architecture: an archive of an OCI layout, which skopeo or crane push as it is.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildLayout, findBuilder, releaseImages } from '../lib/image-builder.mjs';
import { bundle, root } from '../lib/steps.mjs';
import { LeftOut } from './left-out.mjs';
import { pack } from './pack.mjs';

/** What nodes run on. */
export const allPlatforms = ['linux/amd64', 'linux/arm64'];

export async function image(release) {
  const { platforms, time, buildArgs } = release;
  const builder = findBuilder();
  if (!builder) throw new LeftOut('no docker, podman or buildah works here');
  bundle();
  for (const name of releaseImages) {
    const layout = release.scratch(layoutOf(name));
    const options = { platforms, time, labels: labels(release), buildArgs };
    if (buildLayout(builder, join(root, 'agent'), name, layout, options) !== 0)
      throw new Error(`${builder.name} could not build ${name} for ${platforms.join(' and ')}; its own lines say why`);
    release.digests.set(name, digestOf(layout));
    pack(layout, release.file(`${layoutOf(name)}.oci.tar`), time);
  }
  const absent = allPlatforms.filter((platform) => !platforms.includes(platform));
  if (absent.length > 0) throw new LeftOut(`it is not for ${absent.join(', ')}, by --platform`);
}

/** Name of the archive of an image, such as `etcd-agent-0.1.0`. */
export const layoutOf = (name) => `etcd-${basename(name).replace(':', '-')}`;

function labels({ version, commit, homepage, isoTime }) {
  const values = { version, revision: commit, source: homepage, created: isoTime };
  return Object.entries(values).map(([name, value]) => `org.opencontainers.image.${name}=${value}`);
}

/** Digest of the index, which lists an image for each platform. */
function digestOf(layout) {
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
  if (manifests.length !== 1) throw new Error(`${layout}: has ${manifests.length} images instead of one index`);
  return manifests[0].digest;
}
