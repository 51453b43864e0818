// Signatures of SHA256SUMS and of the provenance by cosign, each verified before it counts. A rehearsal signs with a key that is
// made for it and thrown away; the workflow signs with its own identity.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { goProgram } from '../lib/go-program.mjs';
import { run } from '../lib/run.mjs';
import { LeftOut } from './left-out.mjs';

const timeout = 300_000;
const type = 'slsaprovenance1';

/** Files of a release that differ each time, because signatures are random. */
export const signatures = ['SHA256SUMS.sigstore.json', 'provenance.sigstore.json', 'rehearsal.pub'];

export async function signature(release) {
  const program = await goProgram('cosign', 'github.com/sigstore/cosign/v3/cmd/cosign', 'ten minutes or more').catch(
    (error) => {
      throw new LeftOut(`no cosign: ${error.message}`);
    },
  );
  // Without a password on the key, which nobody keeps.
  const identity = Object.entries(process.env).filter(([name]) => name.startsWith('ACTIONS_ID_TOKEN_'));
  const env = { ...release.environment, ...Object.fromEntries(identity), COSIGN_PASSWORD: '' };
  const options = { env, timeout, cwd: release.scratch('keys') };
  const cosign = (...args) => run(program, args, options);
  const [sums, predicate] = ['SHA256SUMS', 'provenance.json'].map((name) => release.file(name));
  const [signed, attested] = signatures.map((name) => `--bundle=${release.file(name)}`);

  const { sign, verify } = release.keyless ? workflow(release) : await rehearsal(release, cosign, options.cwd);
  await cosign('sign-blob', '--yes', ...sign, signed, sums);
  await cosign('attest-blob', '--yes', ...sign, `--predicate=${predicate}`, `--type=${type}`, attested, sums);
  await cosign('verify-blob', ...verify, signed, sums);
  await cosign('verify-blob-attestation', ...verify, `--type=${type}`, attested, sums);
}

async function rehearsal(release, cosign, directory) {
  await cosign('generate-key-pair');
  copyFileSync(join(directory, 'cosign.pub'), release.file('rehearsal.pub'));
  return {
    // No service signs a time or keeps a log.
    sign: [`--key=${join(directory, 'cosign.key')}`, '--use-signing-config=false', '--tlog-upload=false'],
    verify: [`--key=${release.file('rehearsal.pub')}`, '--insecure-ignore-tlog'],
  };
}

/** The tag is part of the identity, so that the files of one version are not taken for those of another. */
function workflow({ homepage, version }) {
  return {
    sign: [],
    verify: [
      `--certificate-identity=${homepage}/.github/workflows/release.yml@refs/tags/v${version}`,
      '--certificate-oidc-issuer=https://token.actions.githubusercontent.com',
    ],
  };
}
