// The base images of agent/Dockerfile: its ARG lines are the pins.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(import.meta.dirname, '../../../agent/Dockerfile');

/** Name of the argument and of the image of each. `buildArgs`, like `NODE_IMAGE=…`, replace those of the Dockerfile. */
export function baseImages(buildArgs = [], dockerfile = readFileSync(file, 'utf8')) {
  const given = Object.fromEntries(buildArgs.map((each) => each.split(/=(.*)/s)));
  return [...dockerfile.matchAll(/^ARG (\w+_IMAGE)=(\S+)$/gm)].map(([, name, image]) => [name, given[name] ?? image]);
}

/** Returns a line for each base image that has no digest, so that another build can have other contents. */
export function unpinnedBases(...from) {
  return baseImages(...from)
    .filter(([, image]) => !/@sha256:[0-9a-f]{64}$/.test(image))
    .map(
      ([name, image]) =>
        `agent/Dockerfile: ${name}: '${image}' has no digest; write name:tag@sha256:…, as \`docker buildx imagetools inspect\` prints it, there or in --build-arg`,
    );
}
