import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { derDigits } from '../../lib/revocation-lists.ts';
import { backdated, endOf, lifetimes } from './lifetimes.ts';
import type { Leaf } from './wanted.ts';

// Loaded when a certificate is issued: the library needs 20 MiB.

/** A certificate and its key, both in PEM. */
export interface Keyed {
  readonly cert: string;
  readonly key: string;
}

interface Issuer {
  readonly certificate: x509.X509Certificate;
  readonly key: webcrypto.CryptoKey;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
const { keyCertSign, cRLSign, digitalSignature } = x509.KeyUsageFlags;

export function issueRoot(commonName: string, now: number): Promise<Keyed> {
  return issue(commonName, undefined, lifetimes.root, now, [
    new x509.BasicConstraintsExtension(true, below, true),
    new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
  ]);
}

/** Authorities that may be below a root: the root that follows it, and the intermediate of that one. */
const below = 2;

/** The certificate of a root, signed by another one. */
export async function crossSign(root: Keyed, by: Keyed, now: number): Promise<string> {
  const [next, present] = [await issuer(root), await issuer(by)];
  const { pathLength = below } = present.certificate.getExtension(x509.BasicConstraintsExtension) ?? {};
  if (pathLength < below) throw new Error('its root allows no other root below it; replace the authority instead');
  return sign(
    { name: next.certificate.subjectName, publicKey: next.certificate.publicKey },
    present,
    lifetimes.root,
    now,
    [new x509.BasicConstraintsExtension(true, 1, true), new x509.KeyUsagesExtension(keyCertSign | cRLSign, true)],
  );
}

export async function issueIntermediate(commonName: string, root: Keyed, now: number): Promise<Keyed> {
  return issue(commonName, await issuer(root), lifetimes.intermediate, now, [
    new x509.BasicConstraintsExtension(true, 0, true),
    new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
    new x509.ExtendedKeyUsageExtension([serverAuth, clientAuth]),
  ]);
}

export async function issueLeaf(leaf: Leaf, intermediate: Keyed, now: number): Promise<Keyed> {
  const { commonName, dnsNames, ipAddresses, isServer } = leaf;
  const names = [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  return issue(commonName, await issuer(intermediate), lifetimes.leaf, now, [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(digitalSignature, true),
    new x509.ExtendedKeyUsageExtension(isServer ? [serverAuth, clientAuth] : [clientAuth]),
    // Critical if nothing else names the holder (RFC 5280, 4.2.1.6).
    ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names, commonName === undefined)] : []),
  ]);
}

/** Returns the list, DER: etcd takes no other form from 3.6 on. */
export async function issueRevocationList(serials: readonly string[], by: Keyed, now: number): Promise<Buffer> {
  const { certificate, key } = await issuer(by);
  const list = await x509.X509CrlGenerator.create({
    issuer: certificate.subjectName.toJSON(),
    thisUpdate: new Date(now - backdated),
    nextUpdate: new Date(now + lifetimes.root),
    entries: serials.map((serial) => ({ serialNumber: derDigits(serial), revocationDate: new Date(now) })),
    signingKey: key,
    signingAlgorithm: algorithm,
  });
  return Buffer.from(list.rawData);
}

/** Without an issuer the certificate signs itself. */
async function issue(
  commonName: string | undefined,
  by: Issuer | undefined,
  lifetime: number,
  now: number,
  extensions: x509.Extension[],
): Promise<Keyed> {
  const keys = await newKeys();
  const name = new x509.Name(commonName === undefined ? [] : [{ CN: [commonName] }]);
  const holder = { name, publicKey: keys.publicKey };
  const cert = await sign(holder, by ?? { key: keys.privateKey }, lifetime, now, extensions);
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { cert, key: `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n` };
}

/** Returns the certificate, PEM. Without a certificate of the signer, the holder signs its own. */
async function sign(
  { name, publicKey }: { readonly name: x509.Name; readonly publicKey: x509.PublicKeyType },
  { certificate, key }: Partial<Issuer> & Pick<Issuer, 'key'>,
  lifetime: number,
  now: number,
  extensions: x509.Extension[],
): Promise<string> {
  const issuerEnd = certificate && { notAfter: certificate.notAfter.getTime() };
  const signed = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: name,
    issuer: certificate?.subjectName ?? name,
    publicKey,
    signingKey: key,
    signingAlgorithm: algorithm,
    notBefore: new Date(now - backdated),
    notAfter: new Date(endOf(lifetime, now, issuerEnd)),
    extensions: [
      ...extensions,
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(certificate ?? publicKey),
    ],
  });
  return `${signed.toString('pem')}\n`;
}

/** Node reads every form of PEM that a person may have restored. */
async function issuer({ cert, key }: Keyed): Promise<Issuer> {
  const bytes = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  return {
    certificate: new x509.X509Certificate(new X509Certificate(cert).raw),
    key: await webcrypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign']),
  };
}

const newKeys = () =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;

/** Positive, and always of 16 bytes. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return bytes.toString('hex');
}
