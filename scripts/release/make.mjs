// The steps of a release, in their order: each makes one kind of artifact.
import { umask } from '../lib/modes.mjs';
import { say } from '../lib/run.mjs';
import { checksums } from './checksums.mjs';
import { go } from './go.mjs';
import { allPlatforms, image } from './image.mjs';
import { java } from './java.mjs';
import { LeftOut } from './left-out.mjs';
import { manifests } from './manifests.mjs';
import { npm } from './npm.mjs';
import { plugin } from './plugin.mjs';
import { provenance } from './provenance.mjs';
import { python } from './python.mjs';
import { Release } from './release.mjs';
import { imageSbom, npmSbom } from './sbom.mjs';
import { signature } from './signature.mjs';
import { version } from './version.mjs';

export const steps = {
  version,
  npm,
  plugin,
  python,
  java,
  go,
  image,
  manifests,
  'npm-sbom': npmSbom,
  'image-sbom': imageSbom,
  provenance,
  checksums,
  signature,
};

/**
 * Makes the artifacts in a directory, which it empties first. With `only`, it makes those of these steps, and keeps the others
 * that are there. Returns a line for each step that was left out.
 */
export async function makeRelease(directory, { only = [], without = [], platforms = allPlatforms, ...options }) {
  process.umask(umask);
  const release = new Release(directory, { ...options, platforms, only, without });
  const leftOut = [];
  try {
    refuseChanges(release);
    release.begin();
    for (const [name, make] of Object.entries(steps)) {
      if (only.length > 0 && !only.includes(name)) continue;
      if (name === 'signature' && release.keyless) {
        say('signature: left to scripts/release/sign.mjs, which runs nothing else');
        continue;
      }
      const started = performance.now();
      try {
        if (without.includes(name)) throw new LeftOut('by --without');
        if (name === 'provenance') refuseChanges(release);
        await make(release);
        say(`${name}: made`, started);
      } catch (error) {
        if (!(error instanceof LeftOut)) throw new Error(`${name}: ${error.message}`);
        leftOut.push(`${name}: ${error.message}`);
        release.leftOut.push(name);
      }
    }
    if (release.hasChanges) say(`the checkout has changes that are not committed, so this is not ${release.commit}`);
  } finally {
    release.end();
  }
  return leftOut;
}

/** The workflow would sign as its own what is not of its commit. */
export function refuseChanges({ keyless, hasChanges, commit }) {
  if (keyless && hasChanges) throw new Error(`--keyless: the checkout has changes that ${commit} has not; commit them`);
}
