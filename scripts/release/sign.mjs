// `node scripts/release/sign.mjs`: signs release/ as the workflow. Needs cosign on the PATH and no npm package, so that no code of a
// dependency runs where the identity is.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/steps.mjs';
import { workflowSignature } from './signature.mjs';

const { version, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const directory = process.argv[2] ?? join(root, 'release');
try {
  if (!existsSync(join(directory, 'SHA256SUMS')))
    throw new Error(`${directory} has no SHA256SUMS; make the release first`);
  await workflowSignature(directory, { version, homepage: repository.url.replace(/\.git$/, '') });
} catch (error) {
  console.error(`sign: ${error.message}`);
  process.exitCode = 1;
}
