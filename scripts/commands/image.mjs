// Builds the agent's images: `npm run image -- [--tag NAME [--target agent|member]] [--build-arg KEY=VALUE]... [--pinned]`.
// Without --tag, both images of this release; with it, one image for all pods, or without the etcds with --target=agent.
// With --pinned, the base images are those of agent/base-images.env, and each must have a digest.
import { unpinnedBases, withBases } from '../lib/image/base-images.mjs';
import { buildImage, findBuilder } from '../lib/image/builder.mjs';
import { releaseImages } from '../lib/image/labels.mjs';
import { umask } from '../lib/modes.mjs';
import { optionsOf } from '../lib/named.mjs';
import { bundle } from '../lib/steps.mjs';

const values = optionsOf('image', {
  tag: { type: 'string' },
  target: { type: 'string' },
  'build-arg': { type: 'string', multiple: true, default: [] },
  pinned: { type: 'boolean', default: false },
});

function main({ tag, target, pinned, 'build-arg': given }) {
  const targets = releaseImages.map((image) => image.target);
  if (target !== undefined && !targets.includes(target))
    return refuse([`--target: '${target}' is not an image; write ${targets.join(' or ')}`]);
  if (target !== undefined && tag === undefined)
    return refuse([
      '--target: needs --tag, the name of that image; without both, all images of this release are built',
    ]);
  const buildArgs = pinned ? withBases(given) : given;
  const unpinned = pinned ? unpinnedBases(buildArgs) : [];
  if (unpinned.length > 0) return refuse(unpinned);
  process.umask(umask);
  bundle();
  const builder = findBuilder();
  if (!builder) return 2;
  const images = tag === undefined ? releaseImages : [{ name: tag, target: target ?? 'member' }];
  for (const image of images) {
    const code = buildImage(builder, image, buildArgs);
    if (code !== 0) return code;
  }
  return 0;
}

function refuse(lines) {
  for (const line of lines) console.error(line);
  return 2;
}

process.exitCode = main(values);
