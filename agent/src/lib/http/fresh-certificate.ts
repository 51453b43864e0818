import { constants } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from 'node:tls';
import { certificatesIn } from '../certificates.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';

interface Files {
  /** Directory with `tls.crt` and `tls.key`. */
  readonly directory: string;
  /** File of the authority whose certificates clients may present. */
  readonly clientAuthority?: string | undefined;
}

/**
 * Reads the certificate before each connection, so that a replaced one is used from the next connection on.
 * Connections are not resumed: a resumed one would show neither the authorities above its client's certificate nor whether
 * that is still valid.
 */
export function useFreshCertificate(server: Server, { directory, clientAuthority }: Files, log: Log): void {
  const files = [join(directory, 'tls.crt'), join(directory, 'tls.key'), ...(clientAuthority ? [clientAuthority] : [])];
  let used = '';
  let logged = '';
  const refresh = () => {
    try {
      const [cert, key, ca] = files.map((file) => readFileSync(file, 'utf8'));
      const found = `${cert}${key}${ca}`;
      if (found === used) return;
      // With an empty file, Node would trust every authority that it knows.
      if (clientAuthority && !certificatesIn(ca ?? '')) throw new Error(`${clientAuthority} holds no certificate`);
      server.setSecureContext({ cert, key, ca, secureOptions: constants.SSL_OP_NO_TICKET });
      used = found;
    } catch (error) {
      // The files are missing or only partly replaced: keep the previous certificate.
      const message = `${directory}: cannot use the certificate (${messageOf(error)})`;
      if (message !== logged) log.error(message);
      logged = message;
    }
  };
  refresh();
  server.prependListener('connection', refresh);
}
