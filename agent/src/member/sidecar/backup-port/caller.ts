import { readFile } from 'node:fs/promises';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { lists, type RevocationList, readRevocationList } from '../../../lib/revocation-lists.ts';
import { configFile } from '../../etcd-config.ts';
import { listFile } from '../../revocation-lists.ts';
import { Refused, Status } from './status.ts';

interface Expected {
  readonly user: string;
  readonly serverTlsDir: string;
  readonly dataDir: string;
}

/**
 * Throws unless the caller's certificate, which an authority of the clients has signed, is the one of backups and not
 * revoked. Asked at each call: a connection may live long.
 */
export async function checkCaller(socket: TLSSocket, { user, serverTlsDir, dataDir }: Expected): Promise<void> {
  const leaf = socket.getPeerCertificate(true);
  const name: unknown = leaf.subject?.CN;
  if (!isOf(socket, user))
    throw new Refused(
      Status.permissionDenied,
      `only the certificate of backups, CN ${user}, is served here, and this one is of ${typeof name === 'string' ? `'${name}'` : 'nobody'}`,
    );
  if (Date.parse(leaf.valid_to) < Date.now())
    throw new Refused(Status.permissionDenied, `the certificate expired at ${new Date(leaf.valid_to).toISOString()}`);
  const list = await revocationList(serverTlsDir, dataDir);
  if (list && chainOf(leaf).some(({ serialNumber }) => lists(list, serialNumber)))
    throw new Refused(Status.permissionDenied, 'the certificate is revoked');
}

/** The caller has shown a certificate with this name. */
export const isOf = (socket: TLSSocket, user: string): boolean =>
  socket.authorized === true && socket.getPeerCertificate()?.subject?.CN === user;

/** Like etcd, lets nobody in without the list that its configuration names, or with one that cannot be read. */
async function revocationList(serverTlsDir: string, dataDir: string): Promise<RevocationList | undefined> {
  const file = listFile(serverTlsDir);
  const der = await readFile(file).catch(() => undefined);
  const list = der && readRevocationList(der);
  if (list) return list;
  const isNamed = (await readFile(configFile(dataDir), 'utf8').catch(() => '')).includes(file);
  if (!der && !isNamed) return undefined;
  throw new Refused(Status.unavailable, `${file} is ${der ? 'not a revocation list' : 'missing'}, so nobody is served`);
}

/** The leaf and the authorities above it. */
function chainOf(leaf: DetailedPeerCertificate): DetailedPeerCertificate[] {
  const chain = new Set<DetailedPeerCertificate>();
  for (let at: DetailedPeerCertificate | undefined = leaf; at && !chain.has(at); at = at.issuerCertificate)
    chain.add(at);
  return [...chain];
}
