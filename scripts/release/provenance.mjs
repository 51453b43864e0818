// What was made from which commit: the predicate of a SLSA provenance, whose subject is SHA256SUMS.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { baseImages, withBases } from '../lib/image/base-images.mjs';
import { root } from '../lib/steps.mjs';
import { stepsLackingIn } from './artifacts.mjs';

export async function provenance(release) {
  // With --only, other steps may have made nothing yet.
  const leftOut = new Set([...release.leftOut, ...stepsLackingIn(release.directory, release.version)]);
  const document = predicate(release, [...leftOut]);
  writeFileSync(release.file('provenance.json'), `${JSON.stringify(document, undefined, 2)}\n`);
}

/** https://slsa.dev/spec/v1.0/provenance */
export function predicate({ version, commit, homepage, hasChanges, keyless, digests, ...options }, leftOut) {
  const packages = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const bases = digests.size > 0 ? baseImages(withBases(options.buildArgs)) : [];
  return {
    buildDefinition: {
      buildType: `${homepage}/blob/v${version}/docs/contributing/release.md`,
      externalParameters: {
        version,
        command: ['npm run release -- --dry-run', ...given({ keyless, ...options })].join(' '),
      },
      internalParameters: { node: packages['node_modules/node'].version, uncommittedChanges: hasChanges, leftOut },
      resolvedDependencies: [
        { uri: `git+${homepage}.git`, digest: { gitCommit: commit } },
        ...bases.map(([name, image]) => dependency(name, image)),
      ],
    },
    runDetails: {
      builder: { id: keyless ? `${homepage}/.github/workflows/release.yml` : `${homepage}#rehearsal` },
    },
  };
}

const given = ({ keyless, only, without, platforms, buildArgs }) => [
  ...only.map((step) => `--only ${step}`),
  ...without.map((step) => `--without ${step}`),
  ...platforms.map((platform) => `--platform ${platform}`),
  ...buildArgs.map((argument) => `--build-arg ${shown(argument)}`),
  ...(keyless ? ['--keyless'] : []),
];

/** Without the value, which may have a password, unless it names an image. */
const shown = (argument) => (/^\w+_IMAGE=/.test(argument) ? argument : `${argument.split('=')[0]}=…`);

/** A base image. Without a digest, nobody knows which one it was. */
function dependency(name, image) {
  const [reference, sha256] = image.split('@sha256:');
  return { name, uri: `docker://${reference}`, ...(sha256 && { digest: { sha256 } }) };
}
