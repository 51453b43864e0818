// `npm run release -- --dry-run [--without STEP]… [--platform linux/amd64] [--build-arg KEY=VALUE]… [--keyless]`: makes every artifact of this version in
// release/, and publishes nothing. Exits with 3 if it left something out. docs/contributing/release.md describes each artifact.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../lib/steps.mjs';
import { allPlatforms } from '../release/image.mjs';
import { makeRelease, steps } from '../release/make.mjs';

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    without: { type: 'string', multiple: true, default: [] },
    'build-arg': { type: 'string', multiple: true, default: [] },
    platform: { type: 'string', multiple: true, default: allPlatforms },
    keyless: { type: 'boolean', default: false },
  },
});
const unknown = values.without.find((name) => !Object.hasOwn(steps, name));
if (!values['dry-run'])
  give('this command never publishes; run it with --dry-run, and publish as docs/contributing/release.md says');
const label = values['build-arg'].find((each) => /^(VERSION|REVISION|CREATED)=/.test(each));
if (label) give(`--build-arg: ${label.split('=')[0]} comes from the commit; leave it out`);
if (unknown) give(`--without: '${unknown}' is not a step; use ${Object.keys(steps).join(', ')}`);

try {
  const { without, keyless, platform: platforms, 'build-arg': buildArgs } = values;
  const options = { without, keyless, platforms, buildArgs };
  const leftOut = await makeRelease(join(root, 'release'), options);
  for (const line of leftOut) console.error(`left out: ${line}`);
  if (leftOut.length > 0) process.exitCode = 3;
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

function give(line) {
  console.error(`release: ${line}`);
  process.exit(2);
}
