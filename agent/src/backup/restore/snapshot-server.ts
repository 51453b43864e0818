import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { codeOf, messageOf, usageError } from '../../lib/errors.ts';
import { HttpListener, send, sendFile } from '../../lib/http/http-listener.ts';
import type { ListenAddress } from '../../lib/http/listen-address.ts';
import type { Log } from '../../lib/log.ts';
import type { PlainSnapshot } from '../payload/plain-snapshot.ts';
import { hmacHeader, hmacOf } from '../payload/response-hmac.ts';
import { bumpHeader, clusterIdHeader } from './fetch-source.ts';

export interface SnapshotServerOptions {
  readonly listen: ListenAddress;
  /** Key of the HMAC, and the SHA-256, in hex, of the token that GET /snapshot requires without TLS. */
  readonly tokenSha256: string;
  /**
   * Directory with `tls.crt`, `tls.key`, `ca.crt` and, if the members have one, `ca.crl`. With it, GET /snapshot requires a client certificate of that
   * authority instead of the token.
   */
  readonly peerTlsDir?: string;
  readonly log: Log;
  /** Called, before the first byte is sent, with the id of the etcd cluster that the snapshot is restored as. */
  readonly onRestore?: (clusterId: string, bump: number | undefined) => Promise<void>;
}

/** What the reconciler needs to know beside the snapshot. */
export interface SnapshotNotes {
  /** Newer snapshots, and why they were not used. */
  readonly passedOver?: string;
  /** A revision later than the snapshot's, if the store knows that it was served. */
  readonly highestRevision?: number;
}

/** The HTTP server of the restore Job. It serves the status to the reconciler and the snapshot to one gate. */
export class SnapshotServer implements AsyncDisposable {
  readonly #options: SnapshotServerOptions;
  readonly #listener: HttpListener;
  #snapshot: PlainSnapshot | undefined;
  #notes: SnapshotNotes = {};

  private constructor(options: SnapshotServerOptions) {
    const { listen, peerTlsDir, log } = options;
    this.#options = options;
    const tls = peerTlsDir === undefined ? {} : { serverTlsDir: peerTlsDir, clients: { directory: peerTlsDir } };
    this.#listener = new HttpListener({ listen, ...tls }, log, (request, response) => this.#answer(request, response));
  }

  static async listen(options: SnapshotServerOptions): Promise<SnapshotServer> {
    const server = new SnapshotServer(options);
    const { host, port } = options.listen;
    await server.#listener.listen().catch((error) => {
      throw usageError(`cannot listen on ${host}:${port} (${codeOf(error)})`, { at: 'listen' });
    });
    return server;
  }

  get port(): number {
    return this.#listener.port;
  }

  /** Begins to serve the snapshot. */
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
        return send(response, 404, 'not found; use /status or /snapshot\n');
    }
  }

  /** The reconciler cannot check this server's certificate. The HMAC proves that its own Job sent the response. */
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
    const { tokenSha256, log, onRestore } = this.#options;
    const refusal = await this.#listener.refusalOf(request, tokenSha256);
    if (refusal !== undefined) return send(response, 401, refusal);
    if (!this.#snapshot) return send(response, 503, 'the snapshot is still being verified\n');
    const clusterId = request.headers[clusterIdHeader];
    const bump = request.headers[bumpHeader];
    if (typeof clusterId === 'string' && /^[0-9a-f]{1,16}$/.test(clusterId))
      await onRestore?.(clusterId, typeof bump === 'string' && /^\d{1,16}$/.test(bump) ? Number(bump) : undefined);
    const { remoteAddress } = request.socket;
    log.info({ remoteAddress }, 'sending the snapshot');
    await sendFile(response, this.#snapshot.file).catch((error) => {
      // A client that received everything may close the connection before this side notices.
      if (!response.writableEnded)
        log.warn({ remoteAddress }, `the snapshot was not fetched completely: ${messageOf(error)}`);
    });
  }
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
