// What was made from which commit: the predicate of a SLSA provenance, whose subject is SHA256SUMS.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/steps.mjs';

export async function provenance(release) {
  writeFileSync(release.file('provenance.json'), `${JSON.stringify(predicate(release), undefined, 2)}\n`);
}

/** https://slsa.dev/spec/v1.0/provenance */
function predicate({ version, commit, homepage, hasChanges, keyless }) {
  const packages = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return {
    buildDefinition: {
      buildType: `${homepage}/blob/v${version}/docs/contributing/release.md`,
      externalParameters: { version, command: 'npm run release -- --dry-run' },
      internalParameters: { node: packages['node_modules/node'].version, uncommittedChanges: hasChanges },
      resolvedDependencies: [{ uri: `git+${homepage}.git`, digest: { gitCommit: commit } }],
    },
    runDetails: {
      builder: { id: keyless ? `${homepage}/.github/workflows/release.yml` : `${homepage}#rehearsal` },
    },
  };
}
