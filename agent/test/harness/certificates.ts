import { webcrypto } from 'node:crypto';
import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { derDigits } from '../../src/lib/revocation-lists.ts';

/** Paths of a certificate and its key, both in PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Files for an etcd with TLS, and for its clients. */
export interface TlsFiles {
  /** The path of the certificate authority's certificate. */
  readonly ca: string;
  readonly server: KeyPair;
  readonly client: KeyPair;
}

export interface Certificates extends TlsFiles {
  readonly expiredServer: KeyPair;
  readonly expiredClient: KeyPair;
  /** Another authority, and a client that only this authority has signed. */
  readonly otherCa: string;
  readonly otherClient: KeyPair;
  /** Issues a certificate for a client with this common name. */
  readonly clientNamed: (commonName: string) => Promise<KeyPair>;
  /** Issues a certificate for a client with this common name below an intermediate of its own, which the client presents too. */
  readonly clientBelow: (commonName: string) => Promise<{ readonly intermediate: KeyPair; readonly client: KeyPair }>;
  /** Makes a revocation list, DER, of these certificates. */
  readonly revoking: (...pairs: readonly KeyPair[]) => Promise<Buffer>;
  /** Issues new certificates of the same authority into another directory. */
  readonly renew: (directory: string) => Promise<TlsFiles>;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const day = 86_400_000;
const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
const valid = { notBefore: new Date(Date.now() - day), notAfter: new Date(Date.now() + day) };
const expired = { notBefore: new Date(Date.now() - 3 * day), notAfter: new Date(Date.now() - day) };

x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);

/** Creates a directory and writes temporary certificates (EC P-256) into it. */
export async function createCertificates(directory: string): Promise<Certificates> {
  await mkdir(directory, { recursive: true });
  const ca = await authority(directory, 'ca');
  const otherCa = await authority(directory, 'other-ca');
  // etcd's JSON gateway dials its own server with the server's certificate.
  const server = { usages: [serverAuth, clientAuth], hosts: true };
  const client = { usages: [clientAuth], hosts: false };
  return {
    ca: ca.path,
    otherCa: otherCa.path,
    server: await issue(ca, directory, 'server', { ...server, ...valid }),
    client: await issue(ca, directory, 'client', { ...client, ...valid }),
    expiredServer: await issue(ca, directory, 'expired-server', { ...server, ...expired }),
    expiredClient: await issue(ca, directory, 'expired-client', { ...client, ...expired }),
    otherClient: await issue(otherCa, directory, 'other-client', { ...client, ...valid }),
    clientNamed: (commonName) => issue(ca, directory, commonName, { ...client, ...valid }),
    clientBelow: async (commonName) => {
      const between = await authority(directory, `${commonName}-authority`, ca);
      const pair = await issue(between, directory, commonName, { ...client, ...valid });
      await appendFile(pair.cert, `\n${await readFile(between.path, 'utf8')}`);
      return { intermediate: { cert: between.path, key: '' }, client: pair };
    },
    revoking: (...pairs) => revocationList(ca, pairs),
    renew: async (other) => {
      await mkdir(other, { recursive: true });
      return {
        ca: ca.path,
        server: await issue(ca, other, 'server', { ...server, ...valid }),
        client: await issue(ca, other, 'client', { ...client, ...valid }),
      };
    },
  };
}

/** Creates a directory with the files of a mounted Secret. Returns it. */
export async function mountPair(directory: string, ca: string, { cert, key }: KeyPair): Promise<string> {
  await mkdir(directory, { recursive: true });
  await copyFile(ca, join(directory, 'ca.crt'));
  await copyFile(cert, join(directory, 'tls.crt'));
  await copyFile(key, join(directory, 'tls.key'));
  return directory;
}

interface Authority {
  readonly path: string;
  readonly certificate: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

interface Leaf {
  readonly usages: x509.ExtendedKeyUsageType[];
  /** True if the certificate names 127.0.0.1 to 127.0.0.3, localhost and store.example.com. */
  readonly hosts: boolean;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

async function authority(directory: string, name: string, above?: Authority): Promise<Authority> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: above?.certificate.subject ?? `CN=${name}`,
    publicKey: keys.publicKey,
    signingKey: (above?.keys ?? keys).privateKey,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - 10 * day),
    notAfter: new Date(Date.now() + 10 * day),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  const path = join(directory, `${name}.crt`);
  await writeFile(path, certificate.toString('pem'));
  return { path, certificate, keys };
}

async function issue(issuer: Authority, directory: string, name: string, leaf: Leaf): Promise<KeyPair> {
  const keys = await newKeys();
  const hosts = [
    ...['127.0.0.1', '127.0.0.2', '127.0.0.3'].map((value) => ({ type: 'ip' as const, value })),
    { type: 'dns' as const, value: 'localhost' },
    { type: 'dns' as const, value: 'store.example.com' },
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: issuer.certificate.subject,
    publicKey: keys.publicKey,
    signingKey: issuer.keys.privateKey,
    signingAlgorithm: algorithm,
    notBefore: leaf.notBefore,
    notAfter: leaf.notAfter,
    extensions: [
      new x509.ExtendedKeyUsageExtension(leaf.usages),
      ...(leaf.hosts ? [new x509.SubjectAlternativeNameExtension(hosts)] : []),
    ],
  });
  const pair = { cert: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) };
  await writeFile(pair.cert, certificate.toString('pem'));
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  await writeFile(pair.key, x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'), { mode: 0o600 });
  return pair;
}

async function revocationList(issuer: Authority, pairs: readonly KeyPair[]): Promise<Buffer> {
  const read = pairs.map(async ({ cert }) => new x509.X509Certificate(await readFile(cert, 'utf8')).serialNumber);
  const list = await x509.X509CrlGenerator.create({
    issuer: issuer.certificate.subject,
    thisUpdate: valid.notBefore,
    nextUpdate: valid.notAfter,
    entries: (await Promise.all(read)).map((serial) => ({
      serialNumber: derDigits(serial),
      revocationDate: valid.notBefore,
    })),
    signingKey: issuer.keys.privateKey,
    signingAlgorithm: algorithm,
  });
  return Buffer.from(list.rawData);
}

const newKeys = () =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;
