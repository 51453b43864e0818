// The steps of a release, in their order: each makes one kind of artifact.
import { copyFileSync, cpSync, existsSync, lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fillDirectory } from '../lib/cache.mjs';
import { umask } from '../lib/modes.mjs';
import { say } from '../lib/run.mjs';
import { artifactsOf, notListed } from './artifacts.mjs';
import { checksums } from './checksums.mjs';
import { go } from './go.mjs';
import { allPlatforms, image } from './image.mjs';
import { java } from './java.mjs';
import { LeftOut } from './left-out.mjs';
import { withLock } from './lock.mjs';
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
 * Makes the artifacts in a directory, in whose place it puts the new one at the end. With `only`, it makes those of these steps,
 * and keeps the others that are there. Returns a line for each step that was left out.
 */
export async function makeRelease(directory, options) {
  process.umask(umask);
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new Error(`${directory} is not a directory, and cannot be replaced by one; remove it`);
  return withLock(`${directory}.lock`, () =>
    fillDirectory(directory, async (fresh) => {
      if (options.only?.length > 0 && existsSync(directory)) cpSync(directory, fresh, { recursive: true });
      return makeSteps(fresh, directory, options);
    }),
  );
}

async function makeSteps(directory, earlier, { only = [], without = [], platforms = allPlatforms, ...options }) {
  const release = new Release(directory, { ...options, platforms, only, without });
  const leftOut = [];
  try {
    refuseChanges(release);
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
        await makeAll(name, make, release, earlier);
        say(`${name}: made`, started);
      } catch (error) {
        if (!(error instanceof LeftOut)) throw new Error(`${name}: ${error.message}`);
        leftOut.push(`${name}: ${error.message}`);
        release.leftOut.push(name);
      }
    }
    if (release.hasChanges) say(differs(release.commit));
  } finally {
    release.end();
  }
  return leftOut;
}

/** Makes the artifacts of a step, anew if they are there. Throws if one is missing. A step that is left out keeps the earlier ones. */
async function makeAll(name, make, release, earlier) {
  const files = artifactsOf(name, release.version);
  const isMade = (file) => existsSync(release.file(file));
  const kept = files.filter(isMade);
  for (const file of kept) rmSync(release.file(file));
  try {
    await make(release);
    const missing = files.filter((file) => !isMade(file));
    if (missing.length > 0) throw new Error(`made no ${missing.join(', ')}`);
  } finally {
    // What comes later is not of the new files.
    if (name !== 'signature' && files.some(isMade))
      for (const each of notListed) if (!files.includes(each)) rmSync(release.file(each), { force: true });
    for (const file of kept) if (!isMade(file)) copyFileSync(join(earlier, file), release.file(file));
  }
}

const differs = (commit) =>
  `the checkout differs from ${commit}: git status shows how, or git ls-files -v by an S or a small letter`;

/** The workflow would sign as its own what is not of its commit. */
export function refuseChanges({ keyless, hasChanges, commit }) {
  if (keyless && hasChanges) throw new Error(`--keyless: ${differs(commit)}`);
}
