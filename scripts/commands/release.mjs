// `npm run release -- --help` says what it does. docs/contributing/release.md describes each artifact.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../lib/steps.mjs';
import { allPlatforms } from '../release/image.mjs';
import { makeRelease, steps } from '../release/make.mjs';

const usage = `npm run release -- --dry-run [options]
Makes every artifact of this version in release/, and publishes nothing. Ends with 3 if something was left out.

  --only STEP              make this alone, and keep the rest of release/; may be repeated
  --without STEP           leave this out; may be repeated
  --platform PLATFORM      of the images, such as linux/amd64; may be repeated (default: ${allPlatforms.join(' and ')})
  --build-arg KEY=VALUE    for the builder of the images; may be repeated
  --keyless                leave the signatures to the workflow

Steps: ${Object.keys(steps).join(', ')}.`;

const values = parsed();
if (values.help) {
  console.log(usage);
  process.exit();
}
if (!values['dry-run'])
  give('this command never publishes; run it with --dry-run, and publish as docs/contributing/release.md says');
const label = values['build-arg'].find((each) => /^(VERSION|REVISION|CREATED)(=|$)/.test(each));
if (label) give(`--build-arg: ${label.split('=')[0]} comes from the commit; leave it out`);
const base = values['build-arg'].find((each) => /^\w+_IMAGE$/.test(each));
if (base) give(`--build-arg: ${base} has no value; write ${base}=IMAGE`);
const known = readFileSync(join(root, 'agent/Dockerfile'), 'utf8').match(/(?<=^ARG )\w+/gm);
const foreign = values['build-arg'].find((each) => !known.includes(each.split('=')[0]) && !/^\w+_proxy=/i.test(each));
if (foreign !== undefined)
  give(`--build-arg: '${foreign.split('=')[0]}' is not an argument of agent/Dockerfile; use ${known.join(', ')}`);
const platform = values.platform.find((each) => !allPlatforms.includes(each));
if (platform !== undefined)
  give(`--platform: '${platform}' is not a platform of the images; use ${allPlatforms.join(' or ')}`);
for (const option of ['only', 'without']) {
  const unknown = values[option].find((name) => !Object.hasOwn(steps, name));
  if (unknown !== undefined) give(`--${option}: '${unknown}' is not a step; use ${Object.keys(steps).join(', ')}`);
}

// An exit releases the lock, removes what is unfinished, and ends programs.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
try {
  const { only, without, keyless, platform: platforms, 'build-arg': buildArgs } = values;
  const options = { only, without, keyless, platforms, buildArgs };
  const leftOut = await makeRelease(join(root, 'release'), options);
  for (const line of leftOut) console.error(`left out: ${line}`);
  if (leftOut.length > 0) process.exitCode = 3;
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

function parsed() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        'dry-run': { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        without: { type: 'string', multiple: true, default: [] },
        'build-arg': { type: 'string', multiple: true, default: [] },
        platform: { type: 'string', multiple: true, default: allPlatforms },
        keyless: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return give(`${error.message.split('. ')[0]}; --help lists the options`);
  }
}

function give(line) {
  console.error(`release: ${line}`);
  process.exit(2);
}
