// `node scripts/release/sign.mjs`: signs release/ as the workflow. Needs cosign on the PATH and no npm package, so that no code of a
// dependency runs where the identity is.
import { join } from 'node:path';
import { root } from '../lib/steps.mjs';
import { checkMade, thisCommit } from './made.mjs';
import { workflowSignature } from './signature.mjs';

const directory = process.argv[2] ?? join(root, 'release');
try {
  const commit = thisCommit();
  checkMade(directory, commit);
  await workflowSignature(directory, commit);
} catch (error) {
  console.error(`sign: ${error.message}`);
  process.exitCode = 1;
}
