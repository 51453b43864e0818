import type { TLSSocket } from 'node:tls';
import type { TlsServer } from '../../../lib/http/tls-server.ts';
import { Refused, Status } from './status.ts';

/** Throws unless the caller's certificate, which an authority of the clients has signed, is the one of backups and not revoked. */
export async function checkCaller(
  server: Pick<TlsServer<never>, 'refusalOf'>,
  socket: TLSSocket,
  user: string,
): Promise<void> {
  const name: unknown = socket.getPeerCertificate()?.subject?.CN;
  if (!isOf(socket, user))
    throw new Refused(
      Status.permissionDenied,
      `only the certificate of backups, CN ${user}, is served here, and this one is of ${typeof name === 'string' ? `'${name}'` : 'nobody'}`,
    );
  const refusal = await server.refusalOf(socket);
  if (refusal) throw new Refused(refusal.of === 'list' ? Status.unavailable : Status.permissionDenied, refusal.why);
}

/** The caller has shown a certificate with this name. */
export const isOf = (socket: TLSSocket, user: string): boolean =>
  socket.authorized === true && socket.getPeerCertificate()?.subject?.CN === user;
