import { webcrypto } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import type { TlsMaterial } from '../../etcd/tls.ts';

// Loaded when it is needed: the library needs 20 MiB.

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const day = 86_400_000;

export interface RootCertificate {
  readonly tls: TlsMaterial;
  /** For an etcd that trusts this certificate alone. */
  readonly flags: readonly string[];
}

/**
 * Makes a certificate that signs itself, for the user root of an etcd on the loopback interface that nobody else knows, and
 * for that etcd. The files are in the directory, which the caller deletes.
 */
export async function makeRootCertificate(directory: string): Promise<RootCertificate> {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ name: 'CN=root', keys, signingAlgorithm: algorithm },
    ...{ notBefore: new Date(Date.now() - day), notAfter: new Date(Date.now() + 30 * day) },
    extensions: [
      new x509.ExtendedKeyUsageExtension([serverAuth, clientAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
    ],
  });
  const cert = Buffer.from(certificate.toString('pem'));
  const exported = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const key = Buffer.from(x509.PemConverter.encode(exported, 'PRIVATE KEY'));
  const [certFile, keyFile] = [join(directory, 'root.crt'), join(directory, 'root.key')];
  await writeFile(certFile, cert, { mode: 0o600 });
  await writeFile(keyFile, key, { mode: 0o600 });
  return {
    tls: { ca: cert, cert, key },
    flags: ['--client-cert-auth', '--trusted-ca-file', certFile, '--cert-file', certFile, '--key-file', keyFile],
  };
}
