import { constants } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DetailedPeerCertificate, Server, TLSSocket, TlsOptions } from 'node:tls';
import { certificatesIn } from '../certificates.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { revocationProblem } from '../peer-chain.ts';
import { readRevocationList } from '../revocation-lists.ts';

export interface ServerFiles {
  /** Directory with `tls.crt` and `tls.key`. */
  readonly directory: string;
  readonly clients?: AcceptedClients | undefined;
}

/** Whose certificates a server accepts. */
export interface AcceptedClients {
  /** Directory with `ca.crt`, the authority that signs them, and `ca.crl`, a list of what is revoked. Not everybody has a list. */
  readonly directory: string;
  /** Whether nobody is served without this list. */
  readonly needsList?: (file: string) => Promise<boolean>;
}

/** Why a client is not served: its own certificate, or a list that every client waits for. */
export interface ClientRefusal {
  readonly of: 'certificate' | 'list';
  readonly why: string;
}

/**
 * Every TLS server of the agent: each connection uses the certificate that the directory holds at that time, and each request
 * is judged by the list of revoked certificates that is there at that time.
 */
export class TlsServer<S extends Server> {
  readonly server: S;
  readonly #clients: AcceptedClients | undefined;

  constructor({ directory, clients }: ServerFiles, log: Log, create: (options: TlsOptions) => S) {
    this.#clients = clients;
    this.server = create({ requestCert: clients !== undefined, rejectUnauthorized: false });
    if (clients) keepChains(this.server);
    useFreshCertificate(this.server, directory, clients && join(clients.directory, 'ca.crt'), log);
  }

  /** Asked at each request: a connection may live long. Undefined: the client is served. */
  async refusalOf(socket: TLSSocket): Promise<ClientRefusal | undefined> {
    const leaf = socket.getPeerCertificate(true);
    if (!this.#clients || !socket.authorized || !leaf.raw)
      return { of: 'certificate', why: 'a client certificate of its authority is required' };
    if (Date.parse(leaf.valid_to) < Date.now())
      return { of: 'certificate', why: `the certificate expired at ${new Date(leaf.valid_to).toISOString()}` };
    const { directory, needsList } = this.#clients;
    const file = join(directory, 'ca.crl');
    const der = await readFile(file).catch(() => undefined);
    // Like etcd, serves nobody without the list that it was given, or with one that cannot be read.
    if (!der)
      return (await needsList?.(file)) ? { of: 'list', why: `${file} is missing, so nobody is served` } : undefined;
    const list = readRevocationList(der);
    if (!list) return { of: 'list', why: `${file} is not a revocation list, so nobody is served` };
    const authorities = certificatesIn(await readFile(join(directory, 'ca.crt'), 'utf8').catch(() => '')) ?? [];
    const why = revocationProblem((socket as WithChain)[chain] ?? leaf, list, authorities);
    return why === undefined ? undefined : { of: 'certificate', why };
  }
}

const chain = Symbol('the certificates that the client has presented');

/** A property, because the socket of an HTTP/2 session is another object. */
type WithChain = TLSSocket & { [chain]?: DetailedPeerCertificate };

/**
 * Keeps what each client presents until its handshake is over: Node 24.21 drops the first authority of the chain then
 * (nodejs/node#65579). The event is the first one that has the socket; the keys in it are not looked at.
 */
function keepChains(server: Server): void {
  server.on('keylog', (_, socket: WithChain) => {
    if (chain in socket) return;
    socket[chain] = undefined;
    socket.prependOnceListener('secure', () => {
      socket[chain] = socket.getPeerCertificate(true);
    });
  });
}

/**
 * Reads the certificate before each connection, so that a replaced one is used from the next connection on.
 * Connections are not resumed: a resumed one would show neither the authorities above its client's certificate nor whether
 * that is still valid.
 */
function useFreshCertificate(server: Server, directory: string, clientAuthority: string | undefined, log: Log): void {
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
