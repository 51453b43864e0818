// The base images of a release: agent/base-images.env has the digest of each.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(import.meta.dirname, '../../../agent/base-images.env');

/** Arguments of the builder, like `NODE_IMAGE=…`: those of the file, and then `buildArgs`, which replace them. */
export function withBases(buildArgs = [], text = readFileSync(file, 'utf8')) {
  return [...text.split('\n').filter((line) => /^\w+_IMAGE=/.test(line)), ...buildArgs];
}

/** Name of the argument and of the image of each, of what `withBases` returns. */
export const baseImages = (args) =>
  Object.entries(Object.fromEntries(args.map((each) => each.split(/=(.*)/s)))).filter(([name]) =>
    name.endsWith('_IMAGE'),
  );

/** Returns a line for each base image of `withBases` that has no digest, so that another build can have other contents. */
export function unpinnedBases(args) {
  return baseImages(args)
    .filter(([, image]) => !/@sha256:[0-9a-f]{64}$/.test(image))
    .map(
      ([name, image]) =>
        `agent/base-images.env: ${name}: '${image}' has no digest; write ${image.split('@')[0]}@DIGEST, with what this prints: skopeo inspect --format '{{.Digest}}' docker://${image.split('@')[0]}`,
    );
}
