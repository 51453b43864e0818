import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkServerIdentity, createSecureContext, type DetailedPeerCertificate, type PeerCertificate } from 'node:tls';
import { certificatesIn } from '../lib/certificates.ts';
import { codeOf, messageOf, usageError } from '../lib/errors.ts';
import { readFault } from '../lib/files/file-faults.ts';
import { revocationProblem } from '../lib/peer-chain.ts';
import { pemProblem } from '../lib/pem-problem.ts';
import { type RevocationList, readRevocationList } from '../lib/revocation-lists.ts';

export interface TlsFiles {
  /** If there is a `ca.crl` beside it, it is a list of revoked certificates. */
  readonly cacert?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  /** Servers that present one of these are not believed. Turned into an option of a connection by `connectOptions`. */
  readonly revoked?: RevocationList;
}

/** What Node needs to connect. A server is judged before anything is sent to it. */
export function connectOptions<T extends TlsMaterial>({ revoked, ...tls }: T) {
  if (!revoked) return tls;
  const authorities = certificatesIn(`${tls.ca ?? ''}`) ?? [];
  return {
    ...tls,
    // Node passes the whole chain.
    checkServerIdentity: (host: string, leaf: PeerCertificate) => {
      const why = revocationProblem(leaf as DetailedPeerCertificate, revoked, authorities);
      return why === undefined ? checkServerIdentity(host, leaf) : new Error(`the server is not believed: ${why}`);
    },
  };
}

async function read(at: string, file: string | undefined): Promise<Buffer | undefined> {
  if (!file) return undefined;
  return readFile(file).catch((error) => {
    throw usageError(`cannot read ${file} ${readFault(error)}`, { at });
  });
}

function parse<T>(at: string, file: string | undefined, what: string, make: () => T): T {
  try {
    return make();
  } catch {
    throw usageError(`${file} does not contain a PEM ${what}`, { at });
  }
}

function refuseOther(
  at: string,
  file: string | undefined,
  bytes: Buffer | undefined,
  wanted: 'certificate' | 'private key',
): void {
  const problem = bytes && pemProblem(bytes, wanted);
  if (problem) throw usageError(`${file} ${problem}`, { at });
}

/**
 * Reads the client's TLS files. Throws if the certificate is expired, not yet valid, or does not match the key: etcd
 * would report these only as a TLS alert.
 */
export async function loadTls(files: TlsFiles, now = new Date()): Promise<TlsMaterial | undefined> {
  const found = await loadTlsOfAnyServer(files, now);
  const revoked = await readList(files.cacert);
  return found && { ...found, ...(revoked && { revoked }) };
}

/** The same for a server that is not verified: what is revoked does not matter. */
export async function loadTlsOfAnyServer(files: TlsFiles, now = new Date()): Promise<TlsMaterial | undefined> {
  if (!files.cacert && !files.cert && !files.key) return undefined;
  if (!files.cert !== !files.key)
    throw usageError('a certificate and its key go together', { finding: { kind: 'keyPair' } });
  const [ca, cert, key] = await Promise.all([
    read('cacert', files.cacert),
    read('cert', files.cert),
    read('key', files.key),
  ]);
  refuseOther('cacert', files.cacert, ca, 'certificate');
  refuseOther('cert', files.cert, cert, 'certificate');
  refuseOther('key', files.key, key, 'private key');
  if (ca) parse('cacert', files.cacert, 'certificate', () => new X509Certificate(ca));
  if (cert && key) {
    const leaf = parse('cert', files.cert, 'certificate', () => new X509Certificate(cert));
    const privateKey = parse('key', files.key, 'private key', () => createPrivateKey(key));
    if (!leaf.checkPrivateKey(privateKey))
      throw usageError(`${files.key} is not the key of ${files.cert}`, { at: 'key' });
    if (leaf.validToDate < now) {
      throw usageError(`${files.cert} expired at ${leaf.validToDate.toISOString()}; renew it`, { at: 'cert' });
    }
    if (leaf.validFromDate > now) {
      throw usageError(`${files.cert} is not valid before ${leaf.validFromDate.toISOString()}; check the clock`, {
        at: 'cert',
      });
    }
  }
  if (cert) parse('cert', files.cert, 'certificate in each of its parts', () => createSecureContext({ cert }));
  return { ca, cert, key };
}

async function readList(cacert: string | undefined): Promise<RevocationList | undefined> {
  if (!cacert) return undefined;
  const file = join(dirname(cacert), 'ca.crl');
  const bytes = await readFile(file).catch((error) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw usageError(`cannot read ${file} ${readFault(error)}`, { at: 'cacert' });
  });
  if (!bytes) return undefined;
  const lists = dersOf(bytes).map(readRevocationList);
  if (lists.every((list) => list !== undefined)) return joined(lists);
  throw usageError(
    `${file}, which lies beside ${cacert}, is no list of revoked certificates in DER or PEM; write it again, or move it away`,
  );
}

/** The reconciler writes DER; other programs may write PEM, which may hold a list of each authority. */
function dersOf(bytes: Buffer): Buffer[] {
  const blocks = bytes.toString('latin1').matchAll(/-----BEGIN X509 CRL-----([^-]*)-----END X509 CRL-----/g);
  const ders = [...blocks].map(([, lines]) => Buffer.from(lines!, 'base64'));
  return ders.length === 0 ? [bytes] : ders;
}

/** Reads the directory with `ca.crt`, `tls.crt` and `tls.key`, which the members use among themselves. */
export const loadPeerTls = (directory: string | undefined): Promise<TlsMaterial | undefined> =>
  loadTlsDirectory('peerTlsDir', directory);

/** Reads the directory of a setting, with `ca.crt`, `tls.crt`, `tls.key` and, if there is one, `ca.crl`. */
export async function loadTlsDirectory(at: string, directory: string | undefined): Promise<TlsMaterial | undefined> {
  if (directory === undefined) return undefined;
  const [cacert, cert, key] = ['ca.crt', 'tls.crt', 'tls.key'].map((name) => join(directory, name));
  return loadTls({ cacert: cacert!, cert: cert!, key: key! }).catch((error) => {
    throw usageError(messageOf(error), { at, cause: error });
  });
}

/** Merges two sets of TLS files: the authorities and the lists of both, and the certificate of the first. */
export function mergeTls(first: TlsMaterial | undefined, second: TlsMaterial | undefined): TlsMaterial | undefined {
  if (!first || !second) return first ?? second;
  const ca = [first.ca, second.ca].filter((pem) => pem !== undefined);
  const lists = [first.revoked, second.revoked].filter((list) => list !== undefined);
  const revoked = lists.length === 0 ? undefined : joined(lists);
  return { ...second, ...first, revoked, ca: Buffer.concat(ca.flatMap((pem) => [pem, Buffer.from('\n')])) };
}

const joined = (lists: readonly RevocationList[]): RevocationList => ({
  serials: new Set(lists.flatMap(({ serials }) => [...serials])),
  id: lists.map(({ id }) => id).join(),
});
