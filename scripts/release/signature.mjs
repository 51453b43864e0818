// Signatures of SHA256SUMS and of the provenance by cosign, each verified before it counts. A rehearsal signs with a key that is
// made for it and thrown away; the workflow signs with the identity of sign.yml, whose job runs sign.mjs and nothing else.
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { goProgram } from '../lib/go/go-program.mjs';
import { run } from '../lib/run.mjs';
import { signatures } from './artifacts.mjs';
import { LeftOut } from './left-out.mjs';
import { checkSums } from './made.mjs';

const timeout = 300_000;
const type = 'slsaprovenance1';

/** Path of cosign. */
export const cosignProgram = () =>
  goProgram('cosign', 'github.com/sigstore/cosign/v3/cmd/cosign', 'ten minutes or more');

export async function signature(release) {
  if (release.leftOut.length > 0 && !release.only.includes('signature'))
    throw new LeftOut('not everything was made, so nothing is signed; `--only signature` tries it');
  checkSums(release.directory);
  const program = await cosignProgram().catch((error) => {
    throw new LeftOut(`no cosign: ${error.message}`);
  });
  const keys = release.scratch('keys');
  // Without a password on the key, which nobody keeps.
  const options = { env: { ...release.environment, COSIGN_PASSWORD: '' }, timeout, cwd: keys };
  const byKey = (...args) => run(program, args, options);
  await byKey('generate-key-pair');
  const publicKey = release.file('rehearsal.pub');
  copyFileSync(join(keys, 'cosign.pub'), publicKey);
  await sign(byKey, release.directory, {
    // No service signs a time or keeps a log.
    by: [`--key=${join(keys, 'cosign.key')}`, '--use-signing-config=false', '--tlog-upload=false'],
    proof: [`--key=${publicKey}`, '--insecure-ignore-tlog'],
  });
  // cosign lets only its own user read them.
  for (const name of signatures) chmodSync(release.file(name), 0o644);
}

/** Signs what is in a directory as the workflow does. */
export async function workflowSignature(directory, release) {
  await sign(cosign, directory, { by: [], proof: identity(release) });
}

/** Verifies what `workflowSignature` has signed. */
export async function verifyWorkflowSignature(directory, release) {
  await verify(cosign, directory, identity(release));
}

const cosign = (...args) => run('cosign', args, { timeout });

/** Of sign.yml alone, not of the other jobs. The tag is part of it, so that no version is taken for another. */
const identity = ({ homepage, version }) => [
  `--certificate-identity=${homepage}/.github/workflows/sign.yml@refs/tags/v${version}`,
  '--certificate-oidc-issuer=https://token.actions.githubusercontent.com',
];

async function sign(cosign, directory, { by, proof }) {
  const { sums, predicate, signed, attested } = filesIn(directory);
  await cosign('sign-blob', '--yes', ...by, signed, sums);
  await cosign('attest-blob', '--yes', ...by, `--predicate=${predicate}`, `--type=${type}`, attested, sums);
  await verify(cosign, directory, proof);
}

async function verify(cosign, directory, proof) {
  const { sums, signed, attested } = filesIn(directory);
  await cosign('verify-blob', ...proof, signed, sums);
  await cosign('verify-blob-attestation', ...proof, `--type=${type}`, attested, sums);
}

function filesIn(directory) {
  const [sums, predicate] = ['SHA256SUMS', 'provenance.json'].map((name) => join(directory, name));
  const [signed, attested] = signatures.map((name) => `--bundle=${join(directory, name)}`);
  return { sums, predicate, signed, attested };
}
