import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { AgentError, codeOf, ExitCode, messageOf } from '../../lib/errors.ts';
import { hasToken } from '../../lib/http/bearer.ts';
import { HttpListener, send, sendFile } from '../../lib/http/http-listener.ts';
import type { ListenAddress } from '../../lib/http/listen-address.ts';
import type { Log } from '../../lib/log.ts';
import type { PlainSnapshot } from '../payload/plain-snapshot.ts';
import { hmacHeader, hmacOf } from '../payload/response-hmac.ts';
import { clusterIdHeader } from './fetch-source.ts';

export interface SnapshotServerOptions {
  readonly listen: ListenAddress;
  /** Hex, of the token that GET /snapshot asks for. */
  readonly tokenSha256: string;
  /** `tls.crt`, `tls.key`, `ca.crt`: with them GET /snapshot asks for a client certificate of that authority too. */
  readonly peerTlsDir?: string;
  readonly log: Log;
  /** Told, before the first byte is sent, as which etcd cluster the snapshot is restored. */
  readonly onRestore?: (clusterId: string) => Promise<void>;
}

/** What the reconciler has to know beside the snapshot. */
export interface SnapshotNotes {
  /** Newer snapshots, and why they were not taken. */
  readonly passedOver?: string;
  /** A later revision than the snapshot's that the store knows to have been served. */
  readonly highestRevision?: number;
}

/** The server of the restore Job: its result for the reconciler, the snapshot for one gate. */
export class SnapshotServer implements AsyncDisposable {
  readonly #options: SnapshotServerOptions;
  readonly #listener: HttpListener;
  #snapshot: PlainSnapshot | undefined;
  #notes: SnapshotNotes = {};

  private constructor(options: SnapshotServerOptions) {
    const { listen, peerTlsDir, log } = options;
    this.#options = options;
    const tls = peerTlsDir === undefined ? {} : { serverTlsDir: peerTlsDir, askClientCertificate: true };
    this.#listener = new HttpListener({ listen, ...tls }, log, (request, response) => this.#answer(request, response));
  }

  static async listen(options: SnapshotServerOptions): Promise<SnapshotServer> {
    const server = new SnapshotServer(options);
    const { host, port } = options.listen;
    await server.#listener.listen().catch((error) => {
      throw new AgentError(ExitCode.usage, `--listen: cannot listen on ${host}:${port} (${codeOf(error)})`);
    });
    return server;
  }

  get port(): number {
    return this.#listener.port;
  }

  serve(snapshot: PlainSnapshot, notes: SnapshotNotes = {}): void {
    this.#snapshot = snapshot;
    this.#notes = notes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    switch (new URL(request.url ?? '/', 'http://agent').pathname) {
      case '/status':
        return this.#sendStatus(response);
      case '/snapshot':
        return this.#send(request, response);
      default:
        return send(response, 404, 'there is /status and /snapshot\n');
    }
  }

  /** The reconciler does not know this certificate's authority: the proof says that it is its own Job that answers. */
  #sendStatus(response: ServerResponse): void {
    const body = JSON.stringify(this.#status());
    response.setHeader(hmacHeader, hmacOf(body, this.#options.tokenSha256));
    send(response, 200, body, 'application/json');
  }

  #status(): object {
    if (!this.#snapshot) return { v: 1, state: 'Verifying' };
    const { file: _, ...result } = this.#snapshot;
    return { v: 1, state: 'Serving', ...result, ...this.#notes };
  }

  async #send(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { tokenSha256, peerTlsDir, log, onRestore } = this.#options;
    const known = peerTlsDir === undefined || (request.socket as TLSSocket).authorized;
    if (!known) return send(response, 401, 'a certificate of a member is needed\n');
    if (!hasToken(request, tokenSha256)) return send(response, 401, 'the token is missing or wrong\n');
    if (!this.#snapshot) return send(response, 503, 'it is being verified\n');
    const clusterId = request.headers[clusterIdHeader];
    if (typeof clusterId === 'string' && /^[0-9a-f]{1,16}$/.test(clusterId)) await onRestore?.(clusterId);
    const { remoteAddress } = request.socket;
    log.info({ remoteAddress }, 'sending the snapshot');
    await sendFile(response, this.#snapshot.file).catch((error) => {
      // Whoever has all of it may be gone before that is noticed.
      if (!response.writableEnded)
        log.warn({ remoteAddress }, `the snapshot was not fetched whole: ${messageOf(error)}`);
    });
  }
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
