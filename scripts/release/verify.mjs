// `node scripts/release/verify.mjs`: refuses a release/ that the job `sign` did not sign, or with files that were not signed.
import { join } from 'node:path';
import { root } from '../lib/steps.mjs';
import { checkMade, thisCommit } from './made.mjs';
import { verifyWorkflowSignature } from './signature.mjs';

const directory = process.argv[2] ?? join(root, 'release');
try {
  const commit = thisCommit();
  await verifyWorkflowSignature(directory, commit);
  checkMade(directory, commit);
} catch (error) {
  console.error(`verify: ${error.message}`);
  process.exitCode = 1;
}
