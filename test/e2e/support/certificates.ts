import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import type { Manifest } from '../../synth';
import { secret } from './manifests';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const day = 86_400_000;

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

const validity = (): Validity => ({ notBefore: new Date(Date.now() - day), notAfter: new Date(Date.now() + day) });
const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;

x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);

const newKeys = () =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;

/** A temporary certificate authority. */
export class Authority {
  static async create(): Promise<Authority> {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: 'CN=end-to-end test',
      keys,
      signingAlgorithm: algorithm,
      ...validity(),
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      ],
    });
    return new Authority(certificate, keys);
  }

  private constructor(
    private readonly certificate: x509.X509Certificate,
    private readonly keys: webcrypto.CryptoKeyPair,
  ) {}

  /** A Secret with `ca.crt`, `tls.crt` and `tls.key`: of a server with these host names, or of a client without any. */
  async secret(
    name: string,
    hosts: readonly string[] = [],
    commonName = name,
    dates: Validity = validity(),
  ): Promise<Manifest> {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `CN=${commonName}`,
      issuer: this.certificate.subject,
      publicKey: keys.publicKey,
      signingKey: this.keys.privateKey,
      signingAlgorithm: algorithm,
      ...dates,
      extensions: [
        new x509.ExtendedKeyUsageExtension(hosts.length > 0 ? [serverAuth, clientAuth] : [clientAuth]),
        ...(hosts.length > 0 ? [alternativeNames(hosts)] : []),
      ],
    });
    const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    return secret(name, {
      'ca.crt': this.certificate.toString('pem'),
      'tls.crt': certificate.toString('pem'),
      'tls.key': x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'),
    });
  }
}

function alternativeNames(hosts: readonly string[]): x509.SubjectAlternativeNameExtension {
  return new x509.SubjectAlternativeNameExtension(hosts.map((value) => ({ type: 'dns', value })));
}
