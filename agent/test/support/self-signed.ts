import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

/** A certificate for these names and addresses, in PEM. Nobody has its key. */
export async function selfSigned(names: readonly string[]): Promise<string> {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const alternatives = names.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value }));
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=test',
    keys: keys as Parameters<typeof x509.X509CertificateGenerator.createSelfSigned>[0]['keys'],
    signingAlgorithm: algorithm,
    extensions: [new x509.SubjectAlternativeNameExtension(alternatives)],
  });
  return made.toString('pem');
}
